#include "features/watch/run_points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/evaluate/evaluate.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/launch.h"
#include "assay/record/measured_series.h"
#include "assay/record/metric.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/record/unfinished.h"
#include "assay/stats/order_statistics.h"
#include "assay/stats/quantile.h"
#include "assay/store/result_store.h"
#include "assay/summary/reduction.h"
#include "assay/summary/summarize.h"

namespace assay::watch {
namespace {

constexpr std::size_t kLeastPairsOfInterval = 6;
constexpr auto kExactMetrics = std::to_array<std::string_view>(
    {"program_bytes", "delegate_bytes", "planned_arena_bytes", "delegated_ratio"});

/// Results of one build for one case.
struct BuildRow {
  const CaseSummary* summary = nullptr;
  bool is_evaluated = false;
  std::map<int, ReducedLaunch> launches;  ///< Completed ones of the timing pass, by their number.
  std::map<std::string, std::string, std::less<>> program_units;  ///< By "program:NAME".

  void add(const Launch& launch) {
    launches.insert_or_assign(launch.index, reduce_launch(launch));
    if (launch.measurement) {
      for (const auto& metric : launch.measurement->metrics) {
        program_units[std::string(kProgramPrefix) + metric.name] = metric.unit;
      }
    }
  }
};

using RowKey = std::pair<std::string, std::string>;  ///< Case key, engine build.

Status add_launches(ResultStore& store, const Run& run, std::map<RowKey, BuildRow>& rows) {
  ASSAY_ASSIGN_OR_RETURN(const auto attempts, store.attempts_of_run(run.id));
  for (const auto& attempt : attempts) {
    if (attempt.subject.empty()) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const auto subject, store.get_subject(attempt.subject));
    const auto row = rows.find({attempt.case_key, subject.engine_build});
    if (row == rows.end()) {
      continue;
    }
    row->second.is_evaluated |=
        attempt.pass == Pass::kEvaluate && attempt.outcome == Outcome::kCompleted;
    if (attempt.pass != Pass::kTiming) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const auto launches, store.launches_of_attempt(attempt.id));
    for (const auto& launch : launches) {
      if (launch.outcome == Outcome::kCompleted) {
        row->second.add(launch);
      }
    }
  }
  return {};
}

/// A value of the subject with its offset.
struct Measured {
  double value = 0;
  double offset = 0;
  std::optional<double> low;
  std::optional<double> high;
};

double offset_between(const MeasuredSeries& series, double value, std::optional<double> reference) {
  if (has_log_offsets(series)) {
    return std::log(value) - (reference ? std::log(*reference) : 0);
  }
  return value - reference.value_or(0);
}

/// Orders by the number of the launch.
std::map<int, double> values_of(const BuildRow& row, const std::string& metric) {
  std::map<int, double> values;
  for (const auto& [index, launch] : row.launches) {
    if (const auto found = launch.find(metric); found != launch.end()) {
      values.emplace(index, found->second);
    }
  }
  return values;
}

/// One for each pair of launches; without a reference for each launch.
std::vector<double> offsets_of_pairs(const MeasuredSeries& series, const BuildRow& subject,
                                     const BuildRow* reference) {
  const auto values = values_of(subject, series.metric);
  const auto others =
      reference == nullptr ? std::map<int, double>() : values_of(*reference, series.metric);
  std::vector<double> offsets;
  for (const auto& [index, value] : values) {
    const auto other = others.find(index);
    if (reference != nullptr && other == others.end()) {
      continue;
    }
    const auto offset = offset_between(
        series, value, other == others.end() ? std::nullopt : std::optional(other->second));
    if (std::isfinite(offset)) {
      offsets.push_back(offset);
    }
  }
  return offsets;
}

/// nullopt: the launches of one of the builds do not have the metric.
std::optional<Measured> measure_pairs(const MeasuredSeries& series, const BuildRow& subject,
                                      const BuildRow* reference) {
  std::vector<double> values;
  std::ranges::copy(values_of(subject, series.metric) | std::views::values,
                    std::back_inserter(values));
  const auto offsets = offsets_of_pairs(series, subject, reference);
  if (offsets.empty()) {
    return {};
  }
  Measured measured{.value = stats::median(values), .offset = stats::median(offsets)};
  if (offsets.size() >= kLeastPairsOfInterval) {
    const auto interval = stats::median_interval(offsets);
    measured.low = interval.low;
    measured.high = interval.high;
  }
  return measured;
}

/// True if the outputs were the same in each execution, as far as it was looked at.
bool has_equal_outputs(const BuildRow* row) {
  return row == nullptr ||
         std::ranges::none_of(row->summary->accuracy_tables, differs_between_executions);
}

bool is_exact(const MeasuredSeries& series, const BuildRow& subject, const BuildRow* reference) {
  if (is_error_of_outputs(series.metric)) {
    return has_equal_outputs(&subject) && has_equal_outputs(reference);
  }
  return series.metric == kFailsMetric ||
         std::ranges::find(kExactMetrics, series.metric) != kExactMetrics.end();
}

/// Against the outputs of another build; nullopt: it was compared with none.
std::optional<double> output_difference(const CaseSummary& summary) {
  for (const auto& [name, estimate] : summary.metrics) {
    if (name.starts_with("engine:") && name.ends_with(".max_abs_error")) {
      return estimate.special.empty() ? std::optional(estimate.value) : std::nullopt;
    }
  }
  return {};
}

std::optional<double> estimate_of(const CaseSummary& summary, const std::string& metric) {
  if (metric == kFailsMetric) {
    const bool fails = summary.verdict == Verdict::kFail || summary.verdict == Verdict::kSkipped;
    return fails ? 1.0 : 0.0;
  }
  if (metric == kOutputsMetric) {
    return output_difference(summary);
  }
  const auto found = summary.metrics.find(metric);
  if (found == summary.metrics.end() || !found->second.special.empty()) {
    return {};
  }
  return found->second.value;
}

std::optional<Measured> measure_estimates(const MeasuredSeries& series, const BuildRow& subject,
                                          const BuildRow* reference) {
  auto value = estimate_of(*subject.summary, series.metric);
  if (series.metric == kOutputsMetric && reference == nullptr && subject.is_evaluated) {
    value = 0;  // A build does not differ from itself.
  }
  auto other =
      reference == nullptr ? std::nullopt : estimate_of(*reference->summary, series.metric);
  if (series.metric == kOutputsMetric) {
    other = reference == nullptr ? std::nullopt : std::optional(0.0);
  }
  if (!value || (reference != nullptr && !other)) {
    return {};
  }
  Measured measured{.value = *value, .offset = offset_between(series, *value, other)};
  if (is_exact(series, subject, reference)) {
    measured.low = measured.offset;
    measured.high = measured.offset;
  }
  return measured;
}

/// A metric by which a build can be better or worse, with its definition: Assay's, or the
/// program's own. nullopt for any other.
std::optional<MeasuredSeries> series_of_metric(const MeasuredSeries& base, const std::string& name,
                                               const Estimate& estimate) {
  auto series = base;
  series.metric = name;
  if (name.starts_with(kProgramPrefix)) {
    series.unit = estimate.unit;
    series.better = estimate.better;
    return series.better == Better::kNone ? std::nullopt : std::optional(series);
  }
  // Metrics of references and outputs have their names in front.
  const auto* definition = find_metric(name.substr(name.rfind('.') + 1));
  if (definition == nullptr || definition->better == Better::kNone) {
    return {};
  }
  series.metric_version = definition->version;
  series.unit = definition->unit;
  series.better = definition->better;
  return series;
}

/// Every metric of the row by which a build can be better or worse.
std::vector<MeasuredSeries> series_of_row(const CaseSummary& summary, const std::string& label,
                                          const Sitting& sitting) {
  const MeasuredSeries base{.repository = sitting.build.repository,
                            .environment = sitting.build.environment,
                            .case_key = summary.case_key,
                            .label = label};
  auto fails = base;
  fails.metric = kFailsMetric;
  fails.unit = "count";
  auto outputs = base;
  outputs.metric = kOutputsMetric;
  std::vector<MeasuredSeries> all = {fails, outputs};
  for (const auto& [name, estimate] : summary.metrics) {
    if (name.starts_with("engine:")) {
      continue;  // Its name has the reference's commit; kOutputsMetric stands for it.
    }
    if (auto series = series_of_metric(base, name, estimate)) {
      all.push_back(*std::move(series));
    }
  }
  return all;
}

}  // namespace

bool is_error_of_outputs(std::string_view metric) {
  // Metrics of references and outputs have their names in front.
  const auto* definition = find_metric(metric.substr(metric.rfind('.') + 1));
  return metric == kOutputsMetric || (definition != nullptr && definition->level == "output");
}

Result<std::vector<double>> pair_offsets(ResultStore& store, const Run& run, const Sitting& sitting,
                                         const std::string& case_key, const std::string& metric) {
  if (!sitting.reference) {
    return std::vector<double>();
  }
  std::map<RowKey, BuildRow> rows;
  auto& subject = rows[{case_key, sitting.build.reference()}];
  auto& reference = rows[{case_key, sitting.reference->reference()}];
  ASSAY_RETURN_IF_ERROR(add_launches(store, run, rows));
  const auto* definition = find_metric(metric);
  const auto program_unit = subject.program_units.find(metric);
  MeasuredSeries series{.metric = metric};
  if (program_unit != subject.program_units.end()) {
    series.unit = program_unit->second;
  } else if (definition != nullptr) {
    series.unit = definition->unit;
  }
  return offsets_of_pairs(series, subject, &reference);
}

Result<std::vector<SeriesPoint>> points_from_run(ResultStore& store, const Run& run,
                                                 const Sitting& sitting) {
  ASSAY_ASSIGN_OR_RETURN(const auto summary,
                         summarize_run(store, run, {.has_launch_series = false}));
  std::map<RowKey, BuildRow> rows;
  for (const auto& row : summary.cases) {
    rows[{row.case_key, row.engine}].summary = &row;
  }
  ASSAY_RETURN_IF_ERROR(add_launches(store, run, rows));
  ASSAY_ASSIGN_OR_RETURN(const auto cases, store.cases_of_run(run.id));
  std::map<std::string, std::string> labels;  // Without the build, which differs from run to run.
  for (const auto& one : cases) {
    labels.emplace(case_key(one), label_of(one));
  }
  const auto reference_revision = sitting.reference ? sitting.reference->revision : std::string();
  std::vector<SeriesPoint> points;
  for (const auto& [key, row] : rows) {
    const auto other =
        sitting.reference ? rows.find({key.first, sitting.reference->reference()}) : rows.end();
    const auto* reference = other == rows.end() ? nullptr : &other->second;
    // Beside another build, a case that cannot run says that it fails, and nothing more.
    const bool is_skipped = row.summary->verdict == Verdict::kSkipped &&
                            (reference == nullptr || reference->summary == nullptr);
    if (key.second != sitting.build.reference() || is_skipped || is_unfinished(*row.summary)) {
      continue;
    }
    for (auto& series : series_of_row(*row.summary, labels[key.first], sitting)) {
      auto measured = measure_pairs(series, row, reference);
      if (!measured) {
        measured = measure_estimates(series, row, reference);
      }
      if (!measured || !std::isfinite(measured->offset)) {
        continue;
      }
      points.push_back({.series = series,
                        .point = {.series = series.key(),
                                  .revision = sitting.revision.hash,
                                  .position = sitting.revision.position,
                                  .run = run.id,
                                  .machine = run.environment,
                                  .reference = reference == nullptr ? "" : reference_revision,
                                  .value = measured->value,
                                  .offset = measured->offset,
                                  .low = measured->low,
                                  .high = measured->high,
                                  .measured_unix_ns = run.started_unix_ns}});
    }
  }
  return points;
}

}  // namespace assay::watch
