#include "features/watch/culprit_search.h"

#include "features/compare/bisection_evidence.h"
#include "features/compare/bisection_search.h"
#include "features/watch/find_culprit.h"
#include "features/watch/operator_files.h"
#include "features/watch/revision_runner.h"
#include "features/watch/run_points.h"
#include "features/watch/verify.h"
#include "features/watch/watch_view.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/comparison.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"
#include "assay/record/run.h"
#include "assay/stats/quantile.h"
#include "assay/store/result_store.h"

namespace assay::watch {
namespace {

constexpr std::string_view kBisectPurpose = "bisect";
constexpr double kConvictingShare = 0.5;
/// ln of how much less likely suspects are after a comparison that did not find the change again.
constexpr double kAcquitted = -3.0;
/// Factor of the probability of a revision that touches files of a slow operator.
constexpr double kNearOperator = 3.0;

std::string bytes_of(const RevisionBuild& build) {
  return build.output_digest.empty() ? build.revision : build.output_digest;
}

}  // namespace

/// Change from A to B on the scale of `change_`.
double CulpritSearch::change_of(const Comparison& comparison) const {
  const auto* estimate = primary_of(comparison);
  return estimate == nullptr ? 0 : offset_of(*estimate).value_or(0);
}

std::size_t CulpritSearch::index_of(const std::string& hash) const {
  return static_cast<std::size_t>(std::ranges::find(candidates_, hash, &Revision::hash) -
                                  candidates_.begin());
}

Result<std::vector<double>> CulpritSearch::offsets_from_run(const Run& run,
                                                            const Sitting& sitting) const {
  if (!is_exact_) {
    return pair_offsets(tools_.store, run, sitting, incident_.cases.front(), incident_.metric);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto points, points_from_run(tools_.store, run, sitting));
  const auto found = std::ranges::find_if(points, [&](const SeriesPoint& one) {
    return one.series.case_key == incident_.cases.front() && one.series.metric == incident_.metric;
  });
  return found == points.end() ? std::vector<double>() : std::vector{found->point.offset};
}

Result<std::vector<double>> CulpritSearch::measure(const RevisionBuild& build,
                                                   const Revision& revision, int rounds) {
  const Sitting sitting{
      .revision = revision, .build = build, .reference = good_, .incident = incident_.id};
  ASSAY_ASSIGN_OR_RETURN(const auto run,
                         tools_.runner.measure(sitting, kBisectPurpose, is_exact_ ? 1 : rounds));
  auto offsets = offsets_from_run(run, sitting);
  if (offsets) {
    note_cost(run, offsets->size());
  }
  return offsets;
}

double CulpritSearch::log_ratio_of(const std::vector<double>& offsets) const {
  if (evidence_) {
    return evidence_->log_ratio(offsets);
  }
  // If there is no noise, every answer is certain.
  const bool is_changed = stats::median(offsets) / change_ >= kConvictingShare;
  return is_changed ? std::numeric_limits<double>::infinity()
                    : -std::numeric_limits<double>::infinity();
}

Result<std::vector<BisectionCommit>> CulpritSearch::weigh(
    const std::vector<std::string>& operators) {
  std::vector<BisectionCommit> commits;
  const auto& paths = tools_.spec.paths;
  for (const auto& revision : candidates_) {
    ASSAY_ASSIGN_OR_RETURN(const auto files, tools_.runner.changed_files(revision));
    const bool matters = std::ranges::any_of(
        files, [&paths](const std::string& file) { return paths.matches(file); });
    const bool is_near = names_operator(files, operators, paths);
    commits.push_back({.weight = matters ? (is_near ? kNearOperator : 1.0) : 0.0});
  }
  const bool has_any =
      std::ranges::any_of(commits, [](const auto& commit) { return commit.weight > 0; });
  if (!has_any) {
    // Something else than the listed files made the change; then every commit may have.
    std::ranges::for_each(commits, [](auto& commit) { commit.weight = 1; });
  }
  return commits;
}

Status CulpritSearch::take_earlier() {
  ASSAY_ASSIGN_OR_RETURN(const auto runs,
                         tools_.store.list_runs({.limit = -1,
                                                 .purpose = std::string(kBisectPurpose),
                                                 .labels = {{"incident", incident_.id}},
                                                 .has_details = false}));
  for (const auto& listing : runs) {
    const auto commit = listing.run.labels.find("commit");
    const auto index =
        commit == listing.run.labels.end() ? candidates_.size() : index_of(commit->second);
    const auto reference = listing.run.labels.find("reference");
    const bool is_batch = index + 1 < candidates_.size() && reference != listing.run.labels.end() &&
                          reference->second == good_.revision;
    if (!is_batch || listing.run.finished_unix_ns == 0) {
      continue;
    }
    const auto& revision = candidates_[index];
    const auto build = view_.builds.find(revision.hash);
    if (build == view_.builds.end()) {
      continue;
    }
    const Sitting sitting{.revision = revision, .build = build->second, .reference = good_};
    ASSAY_ASSIGN_OR_RETURN(const auto offsets, offsets_from_run(listing.run, sitting));
    if (!offsets.empty()) {
      pairs_ += static_cast<int>(offsets.size());
      rule_out_equal(index, build->second);
      search_->observe(index, log_ratio_of(offsets));
    }
  }
  return {};
}

Result<std::optional<Run>> CulpritSearch::find_run(const Sitting& sitting) {
  ASSAY_ASSIGN_OR_RETURN(const auto runs,
                         tools_.store.list_runs({.limit = -1,
                                                 .purpose = std::string(kBisectPurpose),
                                                 .labels = {{"incident", incident_.id},
                                                            {"commit", sitting.revision.hash},
                                                            {"reference", good_.revision}},
                                                 .has_details = false}));
  for (const auto& listing : runs) {
    if (listing.run.finished_unix_ns != 0) {
      ASSAY_ASSIGN_OR_RETURN(const auto offsets, offsets_from_run(listing.run, sitting));
      if (offsets.size() >= least_pairs()) {
        return listing.run;
      }
    }
  }
  return std::optional<Run>();
}

Result<std::vector<double>> CulpritSearch::calibrate(const RevisionBuild& bad) {
  const Sitting sitting{.revision = candidates_.back(), .build = bad, .reference = good_};
  ASSAY_ASSIGN_OR_RETURN(const auto earlier, find_run(sitting));
  if (!earlier) {
    auto offsets = measure(bad, candidates_.back(), plan_.calibration_pairs);
    const bool is_short = offsets && offsets->size() < least_pairs();
    // A launch that crashed by chance ended the batch.
    return is_short ? measure(bad, candidates_.back(), plan_.calibration_pairs) : offsets;
  }
  auto offsets = offsets_from_run(*earlier, sitting);
  if (offsets) {
    note_cost(*earlier, offsets->size());
  }
  return offsets;
}

void CulpritSearch::note_cost(const Run& run, std::size_t pairs) {
  pairs_ += static_cast<int>(pairs);
  if (pairs > 0) {
    constexpr double kSecond = 1e9;
    pair_seconds_ = static_cast<double>(run.finished_unix_ns - run.started_unix_ns) / kSecond /
                    static_cast<double>(pairs);
  }
}

Result<std::vector<std::string>> CulpritSearch::find_slow_operators(const RevisionBuild& bad) {
  if (is_exact_ || candidates_.size() < plan_.least_for_profile) {
    return std::vector<std::string>();
  }
  ASSAY_ASSIGN_OR_RETURN(
      const auto explanation,
      tools_.runner.explain({.a = good_, .b = bad, .case_key = incident_.cases.front()}));
  // More time of an operator is less of a rate.
  const double change = is_better_when_higher(incident_) ? -change_ : change_;
  return operators_that_changed(explanation.value("operators", Json::array()), change);
}

Status CulpritSearch::prepare() {
  const auto* good = view_.find_revision(incident_.good);
  if (good == nullptr || candidates_.empty()) {
    reason_ = "its commits are no longer on the branch";
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(good_, tools_.runner.build(*good));
  ASSAY_ASSIGN_OR_RETURN(const auto bad, tools_.runner.build(candidates_.back()));
  if (good_.outcome == BuildOutcome::kFailed || bad.outcome == BuildOutcome::kFailed) {
    reason_ = "an end of its range can no longer be built";
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto offsets, calibrate(bad));
  if (offsets.size() < least_pairs()) {
    reason_ = fmt::format("the launches of both ends gave {} pairs with {}, and a search needs {}",
                          offsets.size(), incident_.metric, least_pairs());
    return {};
  }
  return begin(bad, offsets);
}

Status CulpritSearch::begin(const RevisionBuild& bad, const std::vector<double>& offsets) {
  change_ = stats::median(offsets);
  if (!is_exact_) {
    // The good end against itself would scatter as these pairs do, around 0.
    auto centered = offsets;
    std::ranges::for_each(centered, [this](double& offset) { offset -= change_; });
    evidence_ = PairEvidence::calibrate(centered, offsets);
  }
  if (change_ == 0) {
    reason_ = "the ends no longer differ";
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto operators, find_slow_operators(bad));
  ASSAY_ASSIGN_OR_RETURN(const auto commits, weigh(operators));
  search_ = std::make_unique<BisectionSearch>(commits);
  places_ = {{bytes_of(good_), -1}};
  rule_out_equal(candidates_.size() - 1, bad);
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (view_.has_failed(candidates_[i].hash)) {
      skip(i);
    }
  }
  return take_earlier();
}

void CulpritSearch::skip(std::size_t index) {
  search_->skip(index);
  skipped_.insert(index);
}

SearchForecast CulpritSearch::forecast() const {
  SearchForecast forecast{.revisions = candidates_.size(), .pair_seconds = pair_seconds_};
  const double halvings = std::ceil(std::log2(static_cast<double>(candidates_.size())));
  forecast.pairs = halvings;
  forecast.most_pairs = halvings;
  if (evidence_) {
    const auto budget = forecast_bisection(
        candidates_.size(), *evidence_,
        {.ends = 0, .batch = plan_.batch, .enough = plan_.enough, .most_pairs = plan_.most_pairs},
        /*seed=*/1);
    forecast.pairs = budget.expected_pairs;
    forecast.most_pairs = budget.likely_most;
  }
  // Those of the ends took as long as others will.
  const double build_seconds = good_.seconds;
  forecast.seconds = forecast.pairs * pair_seconds_ + halvings * build_seconds;
  return forecast;
}

bool CulpritSearch::rule_out_equal(std::size_t index, const RevisionBuild& build) {
  const auto place = static_cast<std::ptrdiff_t>(index);
  const bool is_first_time = observed_.insert(index).second;
  const auto [known, is_new] = places_.try_emplace(bytes_of(build), place);
  if (!is_first_time || is_new || known->second == place) {
    return false;
  }
  const auto [before, after] = std::minmax(known->second, place);
  search_->observe_suspects(
      {.first = static_cast<std::size_t>(before + 1), .last = static_cast<std::size_t>(after)},
      -std::numeric_limits<double>::infinity());
  return true;
}

Status CulpritSearch::observe(std::size_t index, const RevisionBuild& build) {
  if (rule_out_equal(index, build)) {
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto offsets, measure(build, candidates_[index], plan_.batch));
  if (offsets.empty()) {
    skip(index);
    return {};
  }
  search_->observe(index, log_ratio_of(offsets));
  return {};
}

Status CulpritSearch::search() {
  while (has_pairs_left()) {
    const auto next = search_->next(plan_.enough);
    if (!next) {
      break;
    }
    ASSAY_ASSIGN_OR_RETURN(const auto build, tools_.runner.build(candidates_[*next]));
    if (build.outcome == BuildOutcome::kFailed) {
      skip(*next);
      continue;
    }
    ASSAY_RETURN_IF_ERROR(observe(*next, build));
  }
  return {};
}

/// One launch is certain: the change of the suspects is their offset from the revision before.
Result<Conviction> CulpritSearch::convict_exactly(const RevisionBuild& before,
                                                  const Revision& revision,
                                                  const RevisionBuild& build) {
  const Sitting sitting{
      .revision = revision, .build = build, .reference = before, .incident = incident_.id};
  ASSAY_ASSIGN_OR_RETURN(const auto run, tools_.runner.measure(sitting, kBisectPurpose, 1));
  ASSAY_ASSIGN_OR_RETURN(const auto offsets, offsets_from_run(run, sitting));
  if (offsets.empty()) {
    return Conviction{.is_convicted = true};  // No launch tells more.
  }
  return Conviction{.is_convicted = offsets.front() * change_ > 0, .change = offsets.front()};
}

Result<Conviction> CulpritSearch::convict() {
  const auto suspects = search_->suspects();
  const auto& before =
      suspects.first == 0 ? *view_.find_revision(incident_.good) : candidates_[suspects.first - 1];
  ASSAY_ASSIGN_OR_RETURN(const auto a, tools_.runner.build(before));
  ASSAY_ASSIGN_OR_RETURN(const auto b, tools_.runner.build(candidates_[suspects.last]));
  if (a.outcome == BuildOutcome::kFailed || b.outcome == BuildOutcome::kFailed) {
    return Conviction{.is_convicted = true};  // No build tells more.
  }
  if (is_exact_) {
    return convict_exactly(a, candidates_[suspects.last], b);
  }
  const int attempt = ++attempts_[{suspects.first, suspects.last}];
  // A smaller change than that of the ends convicts, too: of a part.
  const double matters = min_effect_of(tools_.spec, incident_.metric);
  const double least = has_log_offsets(incident_)
                           ? std::min(kConvictingShare * std::abs(std::expm1(change_)), matters)
                           : matters;
  ASSAY_ASSIGN_OR_RETURN(const auto comparison,
                         tools_.runner.compare({.a = a,
                                                .b = b,
                                                .case_key = incident_.cases.front(),
                                                .incident = incident_.id,
                                                .attempt = fmt::format("suspects {}", attempt)},
                                               {.metric = incident_.metric, .gate_ratio = least}));
  Conviction conviction{.change = change_of(comparison), .comparison = comparison.id};
  // By the sign of the change: a metric that is better when it is higher calls more of it faster.
  const auto* estimate = primary_of(comparison);
  conviction.is_convicted =
      shows_change(comparison) && estimate != nullptr && estimate->ratio * change_ > 0;
  if (!conviction.is_convicted) {
    search_->observe_suspects(suspects, kAcquitted);
  }
  return conviction;
}

std::optional<Incident> CulpritSearch::part(const BisectionRange& range) const {
  auto last = range.last;
  while (last > range.first && skipped_.contains(last)) {
    --last;
  }
  const auto before = range.first == 0 ? std::optional<std::size_t>() : range.first - 1;
  if (skipped_.contains(last) || (before && skipped_.contains(*before))) {
    return std::nullopt;
  }
  auto incident = incident_;
  incident.culprit.clear();
  incident.good = before ? candidates_[*before].hash : incident_.good;
  incident.bad = candidates_[last].hash;
  return incident;
}

}  // namespace assay::watch
