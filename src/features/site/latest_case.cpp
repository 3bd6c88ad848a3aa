#include "features/site/latest_case.h"

#include "features/site/index_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/axes.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/record/unfinished.h"

namespace assay::site {
namespace {

constexpr std::string_view kProgramQuantity = "program";
constexpr std::string_view kMemoryQuantity = "memory";
constexpr std::string_view kEnergyQuantity = "energy";
constexpr std::string_view kAccuracyQuantity = "accuracy ";
constexpr std::string_view kFloat32 = "float32";

/// Metrics that are neither times nor accuracy, by the quantity that they are measured with.
constexpr auto kQuantities = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"busy_threads", kTimesQuantity},
    {"cached_ratio", kTimesQuantity},
    {"energy_per_inference_j", kEnergyQuantity},
    {"mean_power_w", kEnergyQuantity},
    {"peak_rss_bytes", kMemoryQuantity},
    {"load_pss_bytes", kMemoryQuantity},
    {"steady_pss_bytes", kMemoryQuantity},
    {"unattributed_bytes", kMemoryQuantity},
    {"malloc_peak_bytes", kMemoryQuantity},
    {"allocations_per_inference", kMemoryQuantity},
    {"leak_bytes_per_load", kMemoryQuantity},
    {"leak_bytes_per_inference", kMemoryQuantity},
    {"instructions_per_inference", "instructions"},
    {"planned_arena_bytes", kProgramQuantity},
    {"program_bytes", kProgramQuantity},
    {"delegate_bytes", kProgramQuantity},
    {"delegate_count", kProgramQuantity},
    {"delegated_ratio", kProgramQuantity},
    {"aot_ns", kProgramQuantity},
    {"aot_peak_rss_bytes", kProgramQuantity},
});

std::string accuracy_quantity(std::string_view against) {
  return std::string(kAccuracyQuantity) + std::string(against);
}

/// The definition of a metric with or without the reference in front; null of one that has none.
const MetricDefinition* definition_in(std::string_view metric) {
  const auto* whole = find_metric(metric);
  const auto dot = metric.rfind('.');
  return whole != nullptr || dot == std::string_view::npos ? whole
                                                           : find_metric(metric.substr(dot + 1));
}

/// "qdq" of "qdq.sqnr_db".
std::string_view reference_of(std::string_view metric, const MetricDefinition& definition) {
  return metric.size() > definition.name.size()
             ? metric.substr(0, metric.size() - definition.name.size() - 1)
             : kFloat32;
}

/// The part of a summary that a quantity stands for, put into `merged`.
void take_quantity(const std::string& quantity, const CaseSummary& from, CaseSummary& merged) {
  for (const auto& [name, estimate] : from.metrics) {
    if (quantity_of_metric(name) == quantity) {
      merged.metrics[name] = estimate;
    }
  }
  for (const auto& gate : from.gates) {
    if (quantity_of_metric(gate.metric) == quantity) {
      merged.gates.push_back(gate);
    }
  }
  for (const auto& table : from.accuracy_tables) {
    if (accuracy_quantity(table.against) == quantity) {
      merged.accuracy_tables.push_back(table);
    }
  }
  if (quantity == kTimesQuantity) {
    merged.timing = from.timing;
  } else if (quantity == kProgramQuantity) {
    merged.delegation = from.delegation;
  }
}

/// The worst of all references; the table of each is of another run.
Accuracy worst_accuracy(const std::vector<AccuracyTable>& tables) {
  constexpr auto kWorstFirst =
      std::to_array({Accuracy::kFailNondeterministic, Accuracy::kFailNumeric, Accuracy::kVacuous,
                     Accuracy::kPass});
  const auto* const found = std::ranges::find_if(kWorstFirst, [&tables](Accuracy accuracy) {
    return std::ranges::find(tables, accuracy, &AccuracyTable::accuracy) != tables.end();
  });
  return found == kWorstFirst.end() ? Accuracy::kNotChecked : *found;
}

/// True if the clock saw no time pass: the case was timed, and nothing is known of its time.
bool took_no_time(const CaseSummary& summary) {
  const auto steady = summary.metrics.find("steady_ns");
  return summary.timing == Timing::kInconclusive && steady != summary.metrics.end() &&
         steady->second.value <= 0;
}

/// Judges as in a report of one run; the uncertainty of a time has its own mark.
Verdict rolled_up(const CaseSummary& summary) {
  return roll_up(summary.outcome, summary.accuracy,
                 took_no_time(summary) ? Timing::kInconclusive : Timing::kNotMeasured,
                 std::ranges::any_of(summary.gates, &GateResult::is_broken));
}

/// A case that the newest result leaves open, or a gate that cannot be decided, is no pass.
Verdict merged_verdict(const CaseSummary& newest, const CaseSummary& merged) {
  const auto verdict = rolled_up(merged);
  const bool is_open =
      is_unfinished(merged) ||
      (newest.verdict == Verdict::kInconclusive && rolled_up(newest) == Verdict::kPass) ||
      std::ranges::any_of(merged.gates, &GateResult::is_undecided);
  return verdict != Verdict::kFail && is_open ? Verdict::kInconclusive : verdict;
}

bool has_accuracy(const std::map<std::string, const CaseRow*>& rows) {
  return std::ranges::any_of(
      rows, [](const auto& entry) { return entry.first.starts_with(kAccuracyQuantity); });
}

CaseSummary merged_summary(const std::map<std::string, const CaseRow*>& rows) {
  const auto& newest = rows.at(std::string(kResultQuantity))->summary;
  auto merged = newest;
  merged.metrics.clear();
  merged.accuracy_tables.clear();
  std::erase_if(merged.gates, [&rows](const GateResult& gate) {
    return rows.contains(quantity_of_metric(gate.metric));
  });
  for (const auto& [quantity, row] : rows) {
    take_quantity(quantity, row->summary, merged);
  }
  if (has_accuracy(rows)) {
    merged.accuracy = worst_accuracy(merged.accuracy_tables);
  }
  merged.verdict = merged_verdict(newest, merged);
  return merged;
}

}  // namespace

std::string quantity_of_metric(const std::string& metric) {
  if (metric.starts_with(kProgramPrefix)) {
    return std::string(kTimesQuantity);
  }
  const auto* definition = definition_in(metric);
  if (definition == nullptr) {
    return metric;
  }
  if (definition->level == "output") {
    return accuracy_quantity(reference_of(metric, *definition));
  }
  if (is_time_of_launches(*definition)) {
    return std::string(kTimesQuantity);
  }
  const auto* const known = std::ranges::find(kQuantities, definition->name,
                                              [](const auto& entry) { return entry.first; });
  return known == kQuantities.end() ? metric : std::string(known->second);
}

std::vector<Quantity> quantities_of(const CaseSummary& summary) {
  std::set<std::string> names;
  for (const auto& [name, estimate] : summary.metrics) {
    names.insert(quantity_of_metric(name));
  }
  for (const auto& table : summary.accuracy_tables) {
    names.insert(accuracy_quantity(table.against));
  }
  const bool is_whole = summary.outcome == Outcome::kCompleted ||
                        (is_refusal(summary.outcome) && !is_unfinished(summary));
  std::vector<Quantity> quantities = {
      {std::string(kResultQuantity), summary.outcome != Outcome::kSkipped}};
  for (const auto& name : names) {
    // A pass other than that for timing tells what it measured at its end.
    const bool is_of_launches = name == kTimesQuantity || name == kEnergyQuantity;
    quantities.push_back({name, is_whole || !is_of_launches});
  }
  return quantities;
}

std::string quantity_mark(const Quantity& quantity) {
  return "\n" + quantity.name + (quantity.is_sound ? "+\n" : "-\n");
}

std::string quantities_text(const CaseSummary& summary) {
  std::string all;
  for (const auto& quantity : quantities_of(summary)) {
    all += quantity_mark(quantity);
  }
  return all;
}

ValueSource LatestCase::source_of_quantity(std::string_view quantity) const {
  const auto found = sources.find(std::string(quantity));
  return found == sources.end() ? ValueSource{row.run, row.started_unix_ns, row.summary.outcome}
                                : found->second;
}

ValueSource LatestCase::source_of(const std::string& metric) const {
  return source_of_quantity(quantity_of_metric(metric));
}

LatestCase latest_from_rows(const std::map<std::string, const CaseRow*>& rows) {
  const auto* const newest = std::ranges::max_element(rows, {}, [](const auto& entry) {
                               return entry.second->started_unix_ns;
                             })->second;
  LatestCase latest{.row = *newest, .sources = {}};
  const bool is_of_one_run =
      std::ranges::all_of(rows, [&](const auto& entry) { return entry.second == newest; });
  if (!is_of_one_run) {
    latest.row.summary = merged_summary(rows);
  }
  for (const auto& [name, row] : rows) {
    latest.sources[name] = {row->run, row->started_unix_ns, row->summary.outcome};
  }
  return latest;
}

ASSAY_DEFINE_JSON(ValueSource, run, started_unix_ns, outcome)

void to_json(Json& json, const LatestCase& latest) {
  json = latest.row;
  json["sources"] = latest.sources;
}

}  // namespace assay::site
