#include "assay/summary/program.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/record/artifact_role.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/record/subject.h"
#include "assay/summary/leaks.h"

namespace assay {
namespace {

Estimate exact(double value) { return {.value = value, .count = 1}; }

double sum_over(const Json& list, const char* field) {
  double total = 0;
  for (const auto& entry : list) {
    total += entry.value(field, 0.0);
  }
  return total;
}

void add_delegation(const Json& program, std::map<std::string, Estimate>& metrics) {
  const auto delegated = program.value("nodes_delegated", 0.0);
  const auto left = program.value("nodes_not_delegated", 0.0);
  if (delegated + left > 0) {
    metrics["delegated_ratio"] = exact(delegated / (delegated + left));
  }
  const Json delegates = program.value("delegates", Json::array());
  metrics["delegate_count"] = exact(sum_over(delegates, "count"));
  metrics["delegate_bytes"] =
      exact(sum_over(delegates, "processed_bytes") + sum_over(delegates, "named_data_bytes"));
}

void add_arenas(const Json& program, std::map<std::string, Estimate>& metrics) {
  double arena = 0;
  const Json methods = program.value("methods", Json::array());
  for (const auto& method : methods) {
    const Json planned = method.value("planned_arena_bytes", Json::array());
    for (const auto& bytes : planned) {
      arena += bytes.get<double>();
    }
  }
  metrics["planned_arena_bytes"] = exact(arena);
}

void add_leaks(const MemoryReport& memory, std::map<std::string, Estimate>& metrics) {
  const auto leaks = find_leaks(memory);
  for (const auto* cycle : {"load", "inference"}) {
    if (const auto* leak = find_deciding_leak(leaks, cycle)) {
      metrics[std::string("leak_bytes_per_") + cycle] = leak->bytes_per_cycle;
    }
  }
}

const MemoryStage* find_stage(const MemoryReport& memory, std::string_view name) {
  const auto found = std::ranges::find(memory.stages, name, &MemoryStage::name);
  return found == memory.stages.end() ? nullptr : &*found;
}

}  // namespace

ProgramSummary summarize_program(const Artifact& artifact) {
  ProgramSummary summary;
  double bytes = 0;
  for (const auto& file : artifact.files) {
    bytes += file.role == kNamedRole ? 0 : static_cast<double>(file.bytes);
  }
  if (!artifact.files.empty()) {  // A recipe that only lowers has no program.
    summary.metrics["program_bytes"] = exact(bytes);
  }
  const auto& manifest = artifact.manifest;
  if (!manifest.is_object()) {
    return summary;
  }
  summary.delegation =
      find_enum<Delegation>(manifest.value("delegation", "unknown")).value_or(Delegation::kUnknown);
  if (const auto program = manifest.find("program");
      program != manifest.end() && program->is_object()) {
    add_delegation(*program, summary.metrics);
    add_arenas(*program, summary.metrics);
  }
  summary.metrics["aot_ns"] = exact(sum_over(manifest.value("stages", Json::array()), "wall_ns"));
  summary.metrics["aot_peak_rss_bytes"] = exact(manifest.value("peak_rss_bytes", 0.0));
  return summary;
}

std::map<std::string, Estimate> summarize_memory(const MemoryReport& memory) {
  std::map<std::string, Estimate> metrics;
  const auto* start = find_stage(memory, "start");
  const auto* loaded = find_stage(memory, "loaded");
  const auto* steady = find_stage(memory, "steady");
  if (start == nullptr || loaded == nullptr || steady == nullptr) {
    return metrics;
  }
  metrics["peak_rss_bytes"] = exact(static_cast<double>(steady->peak_rss_bytes));
  metrics["load_pss_bytes"] = exact(static_cast<double>(loaded->pss_bytes - start->pss_bytes));
  metrics["steady_pss_bytes"] = exact(static_cast<double>(steady->pss_bytes));
  if (!steady->parts.empty()) {
    metrics["unattributed_bytes"] = exact(static_cast<double>(memory.unattributed_bytes));
  }
  if (steady->allocations) {
    metrics["malloc_peak_bytes"] = exact(static_cast<double>(steady->allocations->peak_live_bytes));
  }
  if (memory.inference_allocations && memory.inferences > 0) {
    metrics["allocations_per_inference"] =
        exact(static_cast<double>(*memory.inference_allocations) / memory.inferences);
  }
  add_leaks(memory, metrics);
  return metrics;
}

}  // namespace assay
