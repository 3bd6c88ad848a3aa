#include "assay/summary/summarize_case.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/record/profile.h"
#include "assay/record/summary.h"
#include "assay/stats/quantile.h"
#include "assay/summary/case_outcome.h"
#include "assay/summary/case_rows.h"
#include "assay/summary/disturbance.h"
#include "assay/summary/launch_notes.h"
#include "assay/summary/leaks.h"
#include "assay/summary/profile_breakdown.h"
#include "assay/summary/program.h"
#include "assay/summary/reproduce.h"
#include "assay/summary/scenario_notes.h"
#include "assay/summary/steady_part.h"
#include "assay/summary/summarize.h"
#include "assay/summary/timing.h"
#include "assay/summary/trace_notes.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

std::string joined_options(const Case& cell) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : cell.options.items()) {
    texts.push_back(fmt::format("{}={}", name, unquoted_text(value)));
  }
  std::ranges::move(condition_texts_of(cell), std::back_inserter(texts));
  return fmt::format("{}", fmt::join(texts, " "));
}

/// Shapes, or the sizes of the dimensions that a program leaves open: "batch=8".
std::string joined_shapes(const ModelReference& model) {
  std::vector<std::string> texts;
  texts.reserve(model.inputs.size() + model.dimensions.size());
  for (const auto& input : model.inputs) {
    texts.push_back(text_from_shape(input.shape));
  }
  for (const auto& [name, size] : model.dimensions) {
    texts.push_back(fmt::format("{}={}", name, size));
  }
  return fmt::format("{}", fmt::join(texts, " "));
}

std::string reproduce_command(const CaseRows& rows, Reproduction how) {
  if (!rows.attempts.empty()) {
    how.passes.clear();
    std::ranges::copy(rows.attempts | std::views::keys, std::back_inserter(how.passes));
  }
  return command_from_case(rows.cell, how);
}

void describe_case(const CaseRows& rows, const Reproduction& how, CaseSummary& summary) {
  const auto& cell = rows.cell;
  summary.case_key = case_key(cell);
  summary.label = label_of(cell);
  summary.model = display_name(cell.model);
  summary.recipe = cell.recipe.name;
  summary.engine = cell.engine_build;
  summary.options = joined_options(cell);
  summary.shapes = joined_shapes(cell.model);
  summary.device = cell.device;
  summary.identity = identity_of(cell);
  summary.reproduce = reproduce_command(rows, how);
  if (!rows.attempts.empty()) {
    summary.subject = rows.attempts.begin()->second.subject;
  }
}

Accuracy worst_of(const std::vector<AccuracyTable>& tables) {
  // Worst first; a case that was checked against nothing is not_checked.
  for (const auto bad : {Accuracy::kFailNondeterministic, Accuracy::kFailNumeric,
                         Accuracy::kVacuous, Accuracy::kPass}) {
    if (std::ranges::find(tables, bad, &AccuracyTable::accuracy) != tables.end()) {
      return bad;
    }
  }
  return Accuracy::kNotChecked;
}

/// NaN is worse than any number; otherwise the metric's own sense decides.
bool is_worse(const Metric& metric, double value, double known) {
  if (std::isnan(value) || std::isnan(known)) {
    return std::isnan(value);
  }
  const auto* definition = find_metric(metric.name);
  return definition != nullptr && definition->better == Better::kHigher ? value < known
                                                                        : value > known;
}

/// The worst output's number of each accuracy metric: "sqnr_db" against float32, "qdq.sqnr_db"
/// against qdq.
void add_accuracy(const std::vector<AccuracyTable>& tables, CaseSummary& summary) {
  summary.accuracy = worst_of(tables);
  summary.accuracy_tables = tables;
  std::map<std::string, Metric> worst;
  for (const auto& table : tables) {
    const auto prefix = table.against == "float32" ? "" : table.against + ".";
    for (const auto& output : table.outputs) {
      for (const auto& [name, metric] : output.metrics) {
        const auto [known, is_new] = worst.try_emplace(prefix + name, metric);
        if (!is_new &&
            is_worse(metric, double_from_metric(metric), double_from_metric(known->second))) {
          known->second = metric;
        }
      }
    }
  }
  for (const auto& [name, metric] : worst) {
    summary.metrics[name] = {.value = metric.value, .count = 1, .special = metric.special};
  }
}

/// Marks the times of an emulator as such.
void mark_emulated(const std::vector<Launch>& launches, CaseSummary& summary) {
  for (const auto& launch : launches) {
    if (const auto& load = launch.load; load && !load->emulator.empty()) {
      summary.timing = Timing::kEmulated;
      summary.notes.push_back(fmt::format(
          "{} executes this: its times are not those of the hardware and are not ranked",
          load->emulator));
      return;
    }
  }
}

void add_timing(const CaseRows& rows, bool has_series, CaseSummary& summary) {
  const auto found = rows.launches.find(Pass::kTiming);
  if (has_lost_launches(rows, Pass::kTiming)) {
    summary.timing = Timing::kInconclusive;
    summary.notes.emplace_back("the launches of the timing pass are not in the store");
  }
  if (found == rows.launches.end()) {
    return;
  }
  auto timing = summarize_timing(found->second);
  if (!found->second.empty()) {
    summary.timing = timing.timing;
  }
  summary.metrics.merge(timing.metrics);
  mark_emulated(found->second, summary);
  std::ranges::move(timing.notes, std::back_inserter(summary.notes));
  std::ranges::move(notes_of_scenario(rows.cell, found->second), std::back_inserter(summary.notes));
  std::ranges::move(notes_of_traces(found->second), std::back_inserter(summary.notes));
  for (const auto& launch : found->second) {
    if (launch.load && summary.effective_options.is_null()) {
      summary.effective_options = launch.load->effective_options;
      std::ranges::copy(launch.load->notes, std::back_inserter(summary.notes));
    }
    const bool has_times = launch.measurement && launch.measurement->times != TimesTold::kNone;
    if (has_times && has_series) {
      const auto& measurement = *launch.measurement;
      const auto part = find_steady_part(measurement);
      const auto steady = has_its_samples(measurement)
                              ? steady_values(part, measurement.samples.execute_ns)
                              : std::vector<double>();
      summary.launches.push_back({.launch = launch.id,
                                  .index = launch.index,
                                  .warmup_iterations = static_cast<int>(part.first),
                                  .warmup = part.finding,
                                  .first = measurement.first,
                                  .execute_ns = measurement.samples.execute_ns,
                                  .median_ns = steady.empty() ? 0 : stats::median(steady),
                                  .stopped_by = measurement.stopped_by,
                                  .before = launch.before,
                                  .after = launch.after,
                                  .disturbances = find_disturbances(launch),
                                  .traces = launch.traces});
    }
  }
}

void add_profile(const CaseRows& rows, bool has_spans, CaseSummary& summary) {
  if (const auto profile = rows.launches.find(Pass::kProfile); profile != rows.launches.end()) {
    for (const auto& launch : profile->second) {
      summary.profile = launch.profile;
    }
  }
  if (summary.profile && !has_spans) {
    summary.profile->spans.clear();
    summary.profile->inferences.clear();
  }
  summary.instructions = rows.instructions;
  if (rows.instructions && rows.instructions->unavailable.empty()) {
    summary.metrics["instructions_per_inference"] = {
        .value = rows.instructions->instructions_per_inference, .count = 1};
  }
}

void add_observations(const CaseRows& rows, CaseSummary& summary) {
  if (const auto memory = rows.launches.find(Pass::kMemory); memory != rows.launches.end()) {
    for (const auto& launch : memory->second) {
      if (launch.memory) {
        summary.memory = launch.memory;
        summary.metrics.merge(summarize_memory(*launch.memory));
        summary.leaks = find_leaks(*launch.memory);
        std::ranges::move(notes_of_leaks(summary.leaks), std::back_inserter(summary.notes));
      }
    }
  }
}

void add_notes_of_processes(const CaseRows& rows, CaseSummary& summary) {
  std::vector<Launch> launches;
  for (const auto& [pass, of_pass] : rows.launches) {
    std::ranges::copy(of_pass, std::back_inserter(launches));
  }
  std::ranges::move(notes_from_processes(launches), std::back_inserter(summary.notes));
}

}  // namespace

CaseSummary summarize_case(const CaseRows& rows, const Reproduction& how,
                           const SummaryOptions& options) {
  CaseSummary summary;
  describe_case(rows, how, summary);
  decide_outcome(rows, summary);
  if (rows.artifact) {
    auto program = summarize_program(*rows.artifact);
    summary.delegation = program.delegation;
    summary.metrics.merge(program.metrics);
    summary.manifest = rows.artifact->manifest;
  }
  add_timing(rows, options.has_launch_series, summary);
  add_observations(rows, summary);
  add_profile(rows, options.has_spans, summary);
  add_notes_of_processes(rows, summary);
  add_accuracy(rows.tables, summary);
  std::ranges::copy(rows.notes, std::back_inserter(summary.notes));
  summary.attribution = rows.attribution;
  if (summary.profile) {
    summary.breakdown = break_down_profile(summary);
  }
  return summary;
}

}  // namespace assay
