#include "features/watch/verify.h"

#include "features/compare/verdict.h"
#include "features/repository/repository_spec.h"
#include "features/watch/alarms.h"
#include "features/watch/changed_metrics.h"
#include "features/watch/incident_by_hand.h"
#include "features/watch/revision_runner.h"
#include "features/watch/watch_text.h"
#include "features/watch/watch_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <expected>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/comparison.h"
#include "assay/record/incident.h"
#include "assay/record/measured_series.h"
#include "assay/record/metric.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"

namespace assay::watch {
namespace {

constexpr std::size_t kMostFiles = 20;
/// Comparisons of one pair until one decides.
constexpr int kMostComparisons = 3;
/// Unit of a number that falls as time grows.
constexpr std::string_view kRateUnit = "1/s";

Result<Incident> stored_as(Incident incident, IncidentState state, const Incident& known,
                           const IncidentTools& tools) {
  incident.state = state;
  incident.changed_unix_ns = std::max(incident.changed_unix_ns, tools.now_unix_ns());
  return store_outcome(tools.store, known, std::move(incident));
}

Result<Incident> undecided(Incident incident, std::string note, const Incident& known,
                           const IncidentTools& tools) {
  incident.note = std::move(note);
  return stored_as(std::move(incident), IncidentState::kUndecided, known, tools);
}

bool is_log_estimate(const PairEstimate& estimate) {
  const auto* definition = find_metric(estimate.metric);
  return assay::has_log_offsets(
      {.metric = estimate.metric,
       .unit = definition == nullptr ? estimate.unit : std::string(definition->unit)});
}

IncidentState state_after(const Comparison& comparison) {
  if (comparison.verdict == ComparisonVerdict::kInconclusive) {
    return IncidentState::kUndecided;
  }
  return shows_change(comparison) ? IncidentState::kConfirmed : IncidentState::kRejected;
}

/// Pairs know the direction better than the history that nominated the change. A metric that is
/// better when it is higher calls more of it faster.
void note_direction(const Comparison& comparison, Incident& incident) {
  const bool was_worse = incident.attribution.value("is_worse", true);
  const bool is_worse = comparison.verdict == ComparisonVerdict::kSlower;
  if (shows_change(comparison) && is_worse != was_worse) {
    incident.attribution["is_worse"] = is_worse;
    incident.attribution["nominated_is_worse"] = was_worse;
  }
}

/// The change that the history suggested gives way to what the pairs showed, where they tell one.
void note_change(const Comparison& comparison, Incident& incident) {
  const auto* estimate = primary_of(comparison);
  if (estimate == nullptr || !shows_change(comparison)) {
    return;
  }
  const auto change = offset_of(*estimate);
  if (!change) {
    return;
  }
  auto changes = changed_metrics(incident);
  const auto compared = std::ranges::find_if(changes, [&](const ChangedMetric& one) {
    return one.case_key == incident.cases.front() && one.metric == incident.metric;
  });
  if (compared != changes.end()) {
    compared->change = *change;
  }
  const auto more = changes.size() - 1;
  put_changed_metrics(changes, incident);
  incident.attribution["change"] = *change;
  incident.attribution["title"] =
      fmt::format("{} {} {}{}", incident.attribution.value("label", ""), incident.metric,
                  text_of_change(*change, is_log_estimate(*estimate)),
                  more == 0 ? "" : fmt::format(" and {} more", more));
}

void note_effect(const Comparison& comparison, Incident& incident) {
  const auto* estimate = primary_of(comparison);
  if (estimate == nullptr) {
    return;
  }
  incident.attribution["effect"] = {
      {"ratio", estimate->ratio}, {"low", estimate->low},   {"high", estimate->high},
      {"scale", estimate->scale}, {"base", estimate->base}, {"confidence", estimate->confidence},
      {"pairs", estimate->pairs}};
  if (!estimate->unit.empty()) {
    incident.attribution["unit"] = estimate->unit;
  }
}

/// Makes the share of each operator one of the difference that pairs of launches showed: that of
/// the profiles has the noise of all operators. Without pairs it stays, as where these tell no
/// ratio.
void add_shares(Incident& incident) {
  auto& attribution = incident.attribution;
  if (!attribution.contains("operators") || !attribution.contains("effect") ||
      !is_relative(estimate_from_effect(attribution.at("effect")))) {
    return;
  }
  const double ratio = attribution.at("effect").value("ratio", 0.0);
  const bool is_rate = attribution.value("unit", "") == kRateUnit;
  const double difference_ns =
      (is_rate ? 1 / (1 + ratio) - 1 : ratio) * attribution.value("inference_ns", 0.0);
  for (auto& row : attribution.at("operators")) {
    if (difference_ns != 0) {
      row["share"] = row.value("change_ns", 0.0) / difference_ns;
    }
  }
}

/// Counts are repeatable where times are not. An inference takes about fifty times as long under
/// callgrind, and a long one is not counted.
Status add_instructions(const BuildPair& pair, const IncidentTools& tools, Incident& incident) {
  constexpr double kLongestNs = 200e6;
  if (!tools.spec.policy.counts_instructions) {
    return {};
  }
  if (incident.attribution.value("inference_ns", 0.0) > kLongestNs) {
    incident.attribution["instructions"] = {
        {"unavailable",
         "an inference takes too long under callgrind; assay profile --callgrind "
         "counts it"}};
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(incident.attribution["instructions"],
                         tools.runner.count_instructions(pair));
  return {};
}

/// A number that the program prints is a time if its unit is one, or a rate over time.
bool is_about_time(const Incident& incident) {
  constexpr auto kUnits = std::to_array<std::string_view>({"s", "ms", "us", "ns", kRateUnit});
  return incident.metric.ends_with("_ns") ||
         std::ranges::find(kUnits, incident.attribution.value("unit", "")) != kUnits.end();
}

/// Shows the difference of two builds again; empty where no one command does.
std::string compare_command(const BuildPair& pair, const RepositorySpec& spec) {
  if (!spec.measured.is_null()) {
    const Json& model = spec.measured.at("models").front();
    return fmt::format("assay compare {} --engine {},{}", model.at("ref").get<std::string>(),
                       pair.a.reference(), pair.b.reference());
  }
  if (noun_of_revisions(spec) != "commit") {
    return "";
  }
  return fmt::format("assay watch {} --base {} --head {}", spec.origin, short_hash(pair.a.revision),
                     short_hash(pair.b.revision));
}

}  // namespace

const PairEstimate* primary_of(const Comparison& comparison) {
  if (comparison.confirmation) {
    return &*comparison.confirmation;
  }
  return comparison.metrics.empty() ? nullptr : &comparison.metrics.front();
}

bool shows_change(const Comparison& comparison) {
  return comparison.is_confirmed && is_change(comparison.verdict);
}

bool has_log_offsets(const Incident& incident) {
  return is_log_estimate(PairEstimate{.metric = incident.metric,
                                      .unit = incident.attribution.value("unit", std::string())});
}

bool is_better_when_higher(const Incident& incident) {
  const bool has_fallen = incident.attribution.value("change", 0.0) < 0;
  return incident.attribution.value("is_worse", true) == has_fallen;
}

std::optional<double> offset_of(const PairEstimate& estimate) {
  const auto scale = is_log_estimate(estimate) ? MetricScale::kRatio : MetricScale::kDifference;
  return assay::offset_of(estimate, estimate.ratio, scale);
}

double min_effect_of(const RepositorySpec& spec, const std::string& metric) {
  const auto found = spec.policy.min_effect_ratio.find(metric);
  return found == spec.policy.min_effect_ratio.end() ? kDefaultEffect : found->second;
}

Result<RevisionBuild> get_build(const WatchView& view, const Revision& revision,
                                RevisionRunner& runner) {
  const auto found = view.builds.find(revision.hash);
  if (found != view.builds.end() && found->second.outcome == BuildOutcome::kFailed) {
    return found->second;
  }
  return runner.build(revision);  // Its files may have left the cache.
}

std::vector<Revision> candidates_of(const WatchView& view, const Incident& incident) {
  const auto range = view.range_of(incident);
  std::vector<Revision> candidates;
  for (const auto& revision : view.revisions) {
    if (range && range->last_before < revision.position &&
        revision.position <= range->first_after) {
      candidates.push_back(revision);
    }
  }
  return candidates;
}

Result<Comparison> compare_until_decided(BuildPair ends, const IncidentTools& tools,
                                         Incident& incident) {
  const ComparisonPlan plan{.metric = incident.metric,
                            .gate_ratio = min_effect_of(tools.spec, incident.metric)};
  const std::string name = ends.attempt;
  Comparison comparison;
  for (int i = 1; i <= kMostComparisons; ++i) {
    ends.attempt = fmt::format("{} {}", name, i);
    ASSAY_ASSIGN_OR_RETURN(comparison, tools.runner.compare(ends, plan));
    incident.comparisons.push_back(comparison.id);
    if (comparison.verdict != ComparisonVerdict::kInconclusive) {
      break;
    }
  }
  return comparison;
}

Status explain_culprit(const WatchView& view, Incident& incident, const IncidentTools& tools) {
  const auto* culprit = view.find_revision(incident.culprit);
  const auto* parent = culprit == nullptr ? nullptr : view.find_parent(*culprit);
  if (parent == nullptr) {
    return {};
  }
  incident.attribution["subject"] = culprit->subject;
  incident.attribution["author"] = culprit->author;
  ASSAY_ASSIGN_OR_RETURN(auto files, tools.runner.changed_files(*culprit));
  files.resize(std::min(files.size(), kMostFiles));
  incident.attribution["files"] = files;
  ASSAY_ASSIGN_OR_RETURN(const auto before, get_build(view, *parent, tools.runner));
  ASSAY_ASSIGN_OR_RETURN(const auto after, get_build(view, *culprit, tools.runner));
  if (before.outcome == BuildOutcome::kFailed || after.outcome == BuildOutcome::kFailed) {
    return {};
  }
  const BuildPair pair{.a = before, .b = after, .case_key = incident.cases.front()};
  if (const auto command = compare_command(pair, tools.spec); !command.empty()) {
    incident.attribution["command"] = command;
  }
  if (!is_about_time(incident)) {
    return {};  // A profile is about times, and a build that fails has none.
  }
  ASSAY_ASSIGN_OR_RETURN(const auto explanation, tools.runner.explain(pair));
  if (explanation.is_object()) {
    incident.attribution.update(explanation);
    add_shares(incident);
    return add_instructions(pair, tools, incident);
  }
  return {};
}

Result<Incident> verify_incident(const WatchView& view, Incident incident,
                                 const IncidentTools& tools) {
  const auto* good = view.find_revision(incident.good);
  const auto* bad = view.find_revision(incident.bad);
  if (good == nullptr || bad == nullptr) {
    const auto known = incident;
    incident.note = "its commits are no longer on the branch";
    return stored_as(std::move(incident), IncidentState::kRejected, known, tools);
  }
  if (incident.state == IncidentState::kNominated) {
    ASSAY_ASSIGN_OR_RETURN(incident,
                           stored_as(incident, IncidentState::kVerifying, incident, tools));
  }
  if (is_closed(incident.state)) {
    return incident;  // Somebody has accepted it.
  }
  const auto known = incident;
  ASSAY_ASSIGN_OR_RETURN(const auto before, get_build(view, *good, tools.runner));
  ASSAY_ASSIGN_OR_RETURN(const auto after, get_build(view, *bad, tools.runner));
  if (before.outcome == BuildOutcome::kFailed || after.outcome == BuildOutcome::kFailed) {
    return undecided(std::move(incident), "an end of its range can no longer be built", known,
                     tools);
  }
  const auto comparison = compare_until_decided({.a = before,
                                                 .b = after,
                                                 .case_key = incident.cases.front(),
                                                 .incident = incident.id,
                                                 .attempt = "ends"},
                                                tools, incident);
  if (!comparison) {
    return comparison.error().code == ErrorCode::kUnsupported
               ? undecided(std::move(incident), comparison.error().message, known, tools)
               : std::unexpected(comparison.error());
  }
  incident.attribution["answer"] = comparison->text;
  note_effect(*comparison, incident);
  note_direction(*comparison, incident);
  note_change(*comparison, incident);
  const auto state = state_after(*comparison);
  const auto candidates = candidates_of(view, incident);
  if (state == IncidentState::kConfirmed && candidates.size() == 1) {
    incident.culprit = candidates.front().hash;
    ASSAY_RETURN_IF_ERROR(explain_culprit(view, incident, tools));
  }
  return stored_as(std::move(incident), state, known, tools);
}

}  // namespace assay::watch
