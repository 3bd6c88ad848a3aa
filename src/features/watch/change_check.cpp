#include "features/watch/change_check.h"

#include "features/repository/repository_spec.h"
#include "features/watch/error_tolerances.h"
#include "features/watch/nominate.h"
#include "features/watch/revision_runner.h"
#include "features/watch/run_points.h"
#include "features/watch/verify.h"
#include "features/watch/watch_view.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
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

namespace assay::watch {
namespace {

constexpr std::string_view kVerifyPurpose = "verify";

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

ChangeRow row_from_comparison(const MeasuredSeries& series, const Comparison& comparison) {
  ChangeRow row{.label = series.label,
                .metric = series.metric,
                .unit = series.unit,
                .verdict = verdict_of(comparison),
                .text = comparison.text,
                .comparison = comparison.id};
  if (!comparison.metrics.empty()) {
    row.base = comparison.metrics.front().a_median;
    row.head = comparison.metrics.front().b_median;
  }
  return row;
}

bool is_exact(const SeriesPoint& one) { return one.point.low && one.point.low == one.point.high; }

/// A row where a metric that is not compared by pairs has changed by as much as matters.
std::optional<ChangeRow> row_from_point(const SeriesPoint& one, double least) {
  const auto& [series, point] = one;
  if (std::abs(point.offset) < least) {
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

const SeriesPoint* find_point(const std::vector<SeriesPoint>& points, const MeasuredSeries& like) {
  const auto found = std::ranges::find_if(points, [&like](const SeriesPoint& one) {
    return one.series.case_key == like.case_key && one.series.metric == like.metric;
  });
  return found == points.end() ? nullptr : &*found;
}

/// Compares every watched metric of the base that the head has, too; without the head's, the
/// question is open.
Status compare_pairs(const std::vector<SeriesPoint>& of_base,
                     const std::vector<SeriesPoint>& points, const BuildPair& builds,
                     const IncidentTools& tools, ChangeCheck& check) {
  for (const auto& [series, point] : of_base) {
    if (!is_watched_by_pairs(series.metric, tools.spec.policy)) {
      continue;
    }
    if (find_point(points, series) == nullptr) {
      check.rows.push_back({.label = series.label,
                            .metric = series.metric,
                            .unit = series.unit,
                            .base = point.value,
                            .head = std::numeric_limits<double>::quiet_NaN(),
                            .verdict = ChangeVerdict::kUndecided,
                            .text = "the launches of the head tell no such number"});
      continue;
    }
    auto pair = builds;
    pair.case_key = series.case_key;
    ASSAY_ASSIGN_OR_RETURN(
        const auto comparison,
        tools.runner.compare(pair, {.metric = series.metric,
                                    .gate_ratio = min_effect_of(tools.spec, series.metric)}));
    check.rows.push_back(row_from_comparison(series, comparison));
  }
  return {};
}

/// The least change that matters of a metric that is not compared by pairs; nullopt: it decides
/// nothing.
Result<std::optional<double>> least_change_of(const SeriesPoint& one, ErrorTolerances& tolerances,
                                              const WatchPolicy& policy) {
  const auto named = policy.min_effect_ratio.find(one.series.metric);
  if (named != policy.min_effect_ratio.end() && is_exact(one)) {
    return named->second;
  }
  if (is_error_of_outputs(one.series.metric)) {
    ASSAY_ASSIGN_OR_RETURN(const auto least, tolerances.least_change(one.series, one.point.run));
    return least ? std::optional(std::max(*least, kExactLeastEffect)) : std::nullopt;
  }
  return is_exact(one) ? std::optional(kExactLeastEffect) : std::nullopt;
}

Status add_changes(const std::vector<SeriesPoint>& points, const IncidentTools& tools,
                   ChangeCheck& check) {
  ErrorTolerances tolerances(tools.store);
  for (const auto& one : points) {
    ASSAY_ASSIGN_OR_RETURN(const auto least, least_change_of(one, tolerances, tools.spec.policy));
    if (!least || is_watched_by_pairs(one.series.metric, tools.spec.policy)) {
      continue;
    }
    if (auto row = row_from_point(one, *least)) {
      check.rows.push_back(*std::move(row));
    }
  }
  return {};
}

bool is_failure(const ChangeRow& row) {
  return row.metric == kFailsMetric && row.verdict == ChangeVerdict::kWorse;
}

/// A case may fail by chance: only one that fails again is worse.
Status confirm_failures(const Sitting& sitting, const IncidentTools& tools, ChangeCheck& check) {
  if (std::ranges::none_of(check.rows, is_failure)) {
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto run,
                         tools.runner.measure(sitting, kVerifyPurpose, tools.spec.policy.rounds));
  ASSAY_ASSIGN_OR_RETURN(const auto points, points_from_run(tools.store, run, sitting));
  for (auto& row : check.rows) {
    const auto again = std::ranges::find_if(points, [&row](const SeriesPoint& one) {
      return one.series.metric == kFailsMetric && one.series.label == row.label;
    });
    if (is_failure(row) && again != points.end() && again->point.offset <= 0) {
      row.verdict = ChangeVerdict::kUndecided;
      row.text = "failed, and did not fail when it was measured again";
    }
  }
  return {};
}

/// True if anything but failures could have shown a change.
bool has_answer(const ChangeCheck& check, const std::vector<SeriesPoint>& points) {
  return !check.rows.empty() || std::ranges::any_of(points, [](const SeriesPoint& one) {
    return is_exact(one) && one.series.metric != kFailsMetric;
  });
}

std::string text_of_nothing(const std::vector<SeriesPoint>& points) {
  std::set<std::string> metrics;
  for (const auto& one : points) {
    metrics.insert(one.series.metric);
  }
  return fmt::format(
      "cannot tell: no case has a number that is watched; name one under \"min_effect\"; there "
      "are: {}",
      fmt::join(metrics, ", "));
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
  ASSAY_ASSIGN_OR_RETURN(const auto of_base,
                         points_from_run(tools.store, run, {.revision = base, .build = before}));
  ASSAY_RETURN_IF_ERROR(compare_pairs(of_base, points, {.a = before, .b = after}, tools, check));
  ASSAY_RETURN_IF_ERROR(add_changes(points, tools, check));
  ASSAY_RETURN_IF_ERROR(confirm_failures(sitting, tools, check));
  check.verdict = worst_of(check.rows);
  if (!has_answer(check, points)) {
    check.verdict = ChangeVerdict::kUndecided;
    check.text = text_of_nothing(points);
  }
  return check;
}

}  // namespace assay::watch
