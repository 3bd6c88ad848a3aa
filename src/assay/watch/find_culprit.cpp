#include "assay/watch/find_culprit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/compare/bisection_evidence.h"
#include "assay/compare/bisection_search.h"
#include "assay/record/comparison.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"
#include "assay/record/run.h"
#include "assay/repository/repository_spec.h"
#include "assay/stats/quantile.h"
#include "assay/store/result_store.h"
#include "assay/watch/revision_runner.h"
#include "assay/watch/run_points.h"
#include "assay/watch/verify.h"
#include "assay/watch/watch_view.h"

namespace assay::watch {
namespace {

constexpr std::string_view kBisectPurpose = "bisect";
constexpr int kMostSandwiches = 3;
constexpr double kConvictingShare = 0.5;
/// ln of how much less likely suspects are after a comparison that did not find the change again.
constexpr double kAcquitted = -3.0;

/// The search for one incident.
class Search {
 public:
  Search(const WatchView& view, const Incident& incident, const IncidentTools& tools,
         const SearchPlan& plan)
      : view_(view),
        incident_(incident),
        tools_(tools),
        plan_(plan),
        candidates_(candidates_of(view, incident)),
        is_exact_(incident.attribution.value("is_exact", false)) {}

  /// Builds the ends, learns change and spread, and takes what earlier searches measured.
  Status prepare();
  /// Measures until the suspects are likely enough, the pairs have run out, or no build tells more.
  Status search();
  /// Compares the suspects with the revision before them. True: it is them.
  Result<bool> convict(Comparison& comparison);

  [[nodiscard]] bool can_search() const { return search_ != nullptr; }
  [[nodiscard]] bool has_pairs_left() const { return pairs_ < plan_.most_pairs; }
  [[nodiscard]] int pairs() const { return pairs_; }
  [[nodiscard]] Suspects suspects() const { return search_->suspects(); }
  [[nodiscard]] const Revision& candidate(std::size_t index) const { return candidates_[index]; }

 private:
  Result<std::vector<double>> measure(const RevisionBuild& build, const Revision& revision,
                                      int rounds);
  Result<std::vector<double>> offsets_from_run(const Run& run, const Sitting& sitting) const;
  [[nodiscard]] double log_ratio_of(const std::vector<double>& offsets) const;
  Result<std::vector<BisectionCommit>> weigh();
  Status observe(std::size_t index, const RevisionBuild& build);
  Status take_earlier();
  [[nodiscard]] std::optional<std::size_t> index_of(const std::string& hash) const;

  const WatchView& view_;
  const Incident& incident_;
  const IncidentTools& tools_;
  const SearchPlan& plan_;
  std::vector<Revision> candidates_;
  RevisionBuild good_;
  bool is_exact_;
  double change_ = 0;                         ///< Offset of the bad end from the good one.
  std::optional<PairEvidence> evidence_;      ///< Model of the noise; empty: there is none.
  std::unique_ptr<BisectionSearch> search_;   ///< Null until the ends are known to differ.
  std::map<std::string, double> log_ratios_;  ///< By digest of outputs: equal bytes are one.
  std::set<std::size_t> observed_;
  int pairs_ = 0;
};

std::optional<std::size_t> Search::index_of(const std::string& hash) const {
  const auto found = std::ranges::find(candidates_, hash, &Revision::hash);
  return found == candidates_.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(found - candidates_.begin()));
}

Result<std::vector<double>> Search::offsets_from_run(const Run& run, const Sitting& sitting) const {
  if (!is_exact_) {
    return pair_offsets(tools_.store, run, sitting, incident_.cases.front(), incident_.metric);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto points, points_from_run(tools_.store, run, sitting));
  const auto found = std::ranges::find_if(points, [&](const SeriesPoint& one) {
    return one.series.case_key == incident_.cases.front() && one.series.metric == incident_.metric;
  });
  return found == points.end() ? std::vector<double>() : std::vector{found->point.offset};
}

Result<std::vector<double>> Search::measure(const RevisionBuild& build, const Revision& revision,
                                            int rounds) {
  const Sitting sitting{
      .revision = revision, .build = build, .reference = good_, .incident = incident_.id};
  ASSAY_ASSIGN_OR_RETURN(const auto run,
                         tools_.runner.measure(sitting, kBisectPurpose, is_exact_ ? 1 : rounds));
  auto offsets = offsets_from_run(run, sitting);
  if (offsets) {
    pairs_ += static_cast<int>(offsets->size());
  }
  return offsets;
}

double Search::log_ratio_of(const std::vector<double>& offsets) const {
  if (evidence_) {
    return evidence_->log_ratio(offsets);
  }
  // Without noise every answer is certain.
  const bool is_changed = stats::median(offsets) / change_ >= kConvictingShare;
  return is_changed ? std::numeric_limits<double>::infinity()
                    : -std::numeric_limits<double>::infinity();
}

Result<std::vector<BisectionCommit>> Search::weigh() {
  std::vector<BisectionCommit> commits;
  const auto& paths = tools_.spec.paths;
  for (const auto& revision : candidates_) {
    ASSAY_ASSIGN_OR_RETURN(const auto files, tools_.runner.changed_files(revision));
    const bool matters = std::ranges::any_of(
        files, [&paths](const std::string& file) { return paths.matches(file); });
    commits.push_back({.weight = matters ? 1.0 : 0.0});
  }
  const bool has_any =
      std::ranges::any_of(commits, [](const auto& commit) { return commit.weight > 0; });
  if (!has_any) {
    // Something else than the listed files made the change; then every commit may have.
    std::ranges::for_each(commits, [](auto& commit) { commit.weight = 1; });
  }
  return commits;
}

Status Search::take_earlier() {
  ASSAY_ASSIGN_OR_RETURN(const auto runs,
                         tools_.store.list_runs({.limit = -1,
                                                 .purpose = std::string(kBisectPurpose),
                                                 .labels = {{"incident", incident_.id}}}));
  for (const auto& listing : runs) {
    const auto commit = listing.run.labels.find("commit");
    const auto index = commit == listing.run.labels.end() ? std::nullopt : index_of(commit->second);
    const bool is_batch = index.has_value() && index.value() + 1 < candidates_.size();
    if (!is_batch || listing.run.finished_unix_ns == 0) {
      continue;
    }
    const auto& revision = candidates_[index.value()];
    const auto build = view_.builds.find(revision.hash);
    if (build == view_.builds.end()) {
      continue;
    }
    const Sitting sitting{.revision = revision, .build = build->second, .reference = good_};
    ASSAY_ASSIGN_OR_RETURN(const auto offsets, offsets_from_run(listing.run, sitting));
    if (!offsets.empty()) {
      pairs_ += static_cast<int>(offsets.size());
      search_->observe(index.value(), log_ratio_of(offsets));
    }
  }
  return {};
}

Status Search::prepare() {
  const auto* good = view_.find_revision(incident_.good);
  ASSAY_ASSIGN_OR_RETURN(good_, tools_.runner.build(*good));
  ASSAY_ASSIGN_OR_RETURN(const auto bad, tools_.runner.build(candidates_.back()));
  ASSAY_ASSIGN_OR_RETURN(const auto offsets,
                         measure(bad, candidates_.back(), plan_.calibration_pairs));
  if (offsets.empty()) {
    return {};
  }
  change_ = stats::median(offsets);
  if (!is_exact_) {
    // The good end against itself would scatter as these pairs do, around 0.
    auto centered = offsets;
    std::ranges::for_each(centered, [this](double& offset) { offset -= change_; });
    evidence_ = PairEvidence::calibrate(centered, offsets);
  }
  if (change_ == 0) {
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto commits, weigh());
  search_ = std::make_unique<BisectionSearch>(commits);
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (view_.has_failed(candidates_[i].hash)) {
      search_->skip(i);
    }
  }
  return take_earlier();
}

Status Search::observe(std::size_t index, const RevisionBuild& build) {
  const auto& bytes = build.output_digest.empty() ? candidates_[index].hash : build.output_digest;
  const auto known = log_ratios_.find(bytes);
  const bool is_first_time = observed_.insert(index).second;
  if (known != log_ratios_.end() && is_first_time) {
    search_->observe(index, known->second);
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto offsets, measure(build, candidates_[index], plan_.batch));
  if (offsets.empty()) {
    search_->skip(index);
    return {};
  }
  const double log_ratio = log_ratio_of(offsets);
  log_ratios_[bytes] += log_ratio;
  search_->observe(index, log_ratio);
  return {};
}

Status Search::search() {
  while (has_pairs_left()) {
    const auto next = search_->next(plan_.enough);
    if (!next) {
      break;
    }
    ASSAY_ASSIGN_OR_RETURN(const auto build, tools_.runner.build(candidates_[*next]));
    if (build.outcome == BuildOutcome::kFailed) {
      search_->skip(*next);
      continue;
    }
    ASSAY_RETURN_IF_ERROR(observe(*next, build));
  }
  return {};
}

Result<bool> Search::convict(Comparison& comparison) {
  if (is_exact_) {
    return true;  // Every answer was certain.
  }
  const auto suspects = search_->suspects();
  const auto& before =
      suspects.first == 0 ? *view_.find_revision(incident_.good) : candidates_[suspects.first - 1];
  ASSAY_ASSIGN_OR_RETURN(const auto a, tools_.runner.build(before));
  ASSAY_ASSIGN_OR_RETURN(const auto b, tools_.runner.build(candidates_[suspects.last]));
  if (a.outcome == BuildOutcome::kFailed || b.outcome == BuildOutcome::kFailed) {
    return true;  // No build tells more.
  }
  ASSAY_ASSIGN_OR_RETURN(
      comparison,
      tools_.runner.compare({.a = a, .b = b, .case_key = incident_.cases.front()},
                            {.metric = incident_.metric,
                             .gate_ratio = kConvictingShare * std::abs(std::expm1(change_))}));
  const bool is_slower = change_ > 0;
  const auto wanted = is_slower ? ComparisonVerdict::kSlower : ComparisonVerdict::kFaster;
  const bool is_convicted = comparison.verdict == wanted && comparison.is_confirmed;
  if (!is_convicted) {
    search_->observe_suspects(suspects, kAcquitted);
  }
  return is_convicted;
}

void note_suspects(const Search& search, bool is_convicted, Incident& incident) {
  const auto suspects = search.suspects();
  Json names = Json::array();
  for (auto i = suspects.first; i <= suspects.last; ++i) {
    names.push_back(search.candidate(i).hash);
  }
  incident.attribution["search"] = {{"pairs", search.pairs()},
                                    {"probability", suspects.probability},
                                    {"suspects", names},
                                    {"is_convicted", is_convicted}};
  if (is_convicted && suspects.first == suspects.last) {
    incident.culprit = search.candidate(suspects.first).hash;
  }
}

}  // namespace

Result<Incident> find_culprit(const WatchView& view, Incident incident, const IncidentTools& tools,
                              const SearchPlan& plan) {
  const Incident about = incident;
  Search search(view, about, tools, plan);
  ASSAY_RETURN_IF_ERROR(search.prepare());
  if (!search.can_search()) {
    incident.attribution["search"] = {{"reason", "the ends no longer differ"}};
  }
  for (int i = 0; search.can_search() && i < kMostSandwiches; ++i) {
    ASSAY_RETURN_IF_ERROR(search.search());
    Comparison comparison;
    ASSAY_ASSIGN_OR_RETURN(const bool is_convicted, search.convict(comparison));
    if (!comparison.id.empty()) {
      incident.comparisons.push_back(comparison.id);
    }
    note_suspects(search, is_convicted, incident);
    if (is_convicted || !search.has_pairs_left()) {
      break;
    }
  }
  if (!incident.culprit.empty()) {
    ASSAY_RETURN_IF_ERROR(explain_culprit(view, incident, tools));
  }
  incident.changed_unix_ns = std::max(incident.changed_unix_ns, tools.now_unix_ns());
  ASSAY_RETURN_IF_ERROR(tools.store.update_incident(incident));
  return incident;
}

}  // namespace assay::watch
