#include "assay/watch/change_check.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/comparison.h"
#include "assay/record/measured_series.h"
#include "assay/record/metric.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"
#include "assay/watch/revision_runner.h"
#include "assay/watch/run_points.h"
#include "assay/watch/verify.h"
#include "assay/watch/watch_view.h"

namespace assay::watch {
namespace {

constexpr std::string_view kVerifyPurpose = "verify";
constexpr std::string_view kTime = "steady_floor_ns";

ChangeVerdict verdict_of(const Comparison& comparison) {
  switch (comparison.verdict) {
    case ComparisonVerdict::kSlower:
      return ChangeVerdict::kWorse;
    case ComparisonVerdict::kFaster:
      return ChangeVerdict::kBetter;
    case ComparisonVerdict::kInconclusive:
      return ChangeVerdict::kUndecided;
    default:
      return ChangeVerdict::kSame;
  }
}

ChangeRow row_from_comparison(const std::string& label, const Comparison& comparison) {
  ChangeRow row{.label = label,
                .metric = comparison.plan.metric,
                .unit = "ns",
                .verdict = verdict_of(comparison),
                .text = comparison.text,
                .comparison = comparison.id};
  if (!comparison.metrics.empty()) {
    row.base = comparison.metrics.front().a_median;
    row.head = comparison.metrics.front().b_median;
  }
  return row;
}

/// A row where a metric that repeats exactly has changed.
std::optional<ChangeRow> row_from_point(const SeriesPoint& one) {
  const auto& [series, point] = one;
  if (!point.low || point.low != point.high || point.offset == 0) {
    return {};
  }
  const bool is_worse = (series.better == Better::kHigher) == (point.offset < 0);
  const double base =
      has_log_offsets(series) ? point.value / std::exp(point.offset) : point.value - point.offset;
  return ChangeRow{.label = series.label,
                   .metric = series.metric,
                   .unit = series.unit,
                   .base = base,
                   .head = point.value,
                   .verdict = is_worse ? ChangeVerdict::kWorse : ChangeVerdict::kBetter,
                   .text = fmt::format("{:.6g} before, {:.6g} now", base, point.value)};
}

ChangeVerdict worst_of(const std::vector<ChangeRow>& rows) {
  for (const auto verdict :
       {ChangeVerdict::kWorse, ChangeVerdict::kUndecided, ChangeVerdict::kBetter}) {
    if (std::ranges::find(rows, verdict, &ChangeRow::verdict) != rows.end()) {
      return verdict;
    }
  }
  return ChangeVerdict::kSame;
}

Status compare_times(const std::vector<SeriesPoint>& points, const RevisionBuild& base,
                     const RevisionBuild& head, const IncidentTools& tools, ChangeCheck& check) {
  const auto effect = tools.spec.policy.min_effect_ratio.find(std::string(kTime));
  const ComparisonPlan plan{.gate_ratio = effect == tools.spec.policy.min_effect_ratio.end()
                                              ? kDefaultEffect
                                              : effect->second};
  for (const auto& [series, point] : points) {
    if (series.metric == kTime) {
      ASSAY_ASSIGN_OR_RETURN(
          const auto comparison,
          tools.runner.compare({.a = base, .b = head, .case_key = series.case_key}, plan));
      check.rows.push_back(row_from_comparison(series.label, comparison));
    }
  }
  return {};
}

}  // namespace

Result<ChangeCheck> check_change(const Revision& base, const Revision& head,
                                 const IncidentTools& tools) {
  ChangeCheck check{.base = base, .head = head, .text = {}, .rows = {}};
  ASSAY_ASSIGN_OR_RETURN(const auto before, tools.runner.build(base));
  if (before.outcome == BuildOutcome::kFailed) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("the base {} does not build: {}; its log: {}", short_hash(base.hash),
                            before.reason, before.log));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto after, tools.runner.build(head));
  if (after.outcome == BuildOutcome::kFailed) {
    check.verdict = ChangeVerdict::kWorse;
    check.text = fmt::format("the head does not build: {}; its log: {}", after.reason, after.log);
    return check;
  }
  if (before.output_digest == after.output_digest) {
    check.text = "both builds have the same bytes, so nothing was measured";
    return check;
  }
  const Sitting sitting{.revision = head, .build = after, .reference = before};
  ASSAY_ASSIGN_OR_RETURN(const auto run,
                         tools.runner.measure(sitting, kVerifyPurpose, tools.spec.policy.rounds));
  ASSAY_ASSIGN_OR_RETURN(const auto points, points_from_run(tools.store, run, sitting));
  ASSAY_RETURN_IF_ERROR(compare_times(points, before, after, tools, check));
  for (const auto& one : points) {
    if (auto row = row_from_point(one)) {
      check.rows.push_back(*std::move(row));
    }
  }
  check.verdict = worst_of(check.rows);
  return check;
}

}  // namespace assay::watch
