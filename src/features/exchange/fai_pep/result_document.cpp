#include "features/exchange/fai_pep/result_document.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/shell.h"
#include "assay/record/metric.h"
#include "assay/record/profile.h"
#include "assay/record/summary.h"
#include "assay/stats/quantile.h"

namespace assay::fai_pep {
namespace {

constexpr double kNsPerUs = 1e3;
constexpr const char* kWholeLatency = "NET latency";

constexpr auto kPercentiles = std::to_array<std::pair<const char*, double>>(
    {{"p0", 0}, {"p10", 0.1}, {"p50", 0.5}, {"p90", 0.9}, {"p100", 1}});

/// Steady times of all launches, in us.
std::vector<double> steady_us(const CaseSummary& cell) {
  std::vector<double> values;
  for (const auto& launch : cell.launches) {
    const auto& times = launch.execute_ns;
    const auto first =
        std::min(static_cast<std::size_t>(std::max(0, launch.warmup_iterations)), times.size());
    for (std::size_t i = first; i < times.size(); ++i) {
      values.push_back(static_cast<double>(times[i]) / kNsPerUs);
    }
  }
  return values;
}

/// The spread of all values around their mean, as that format has it: n in the denominator.
double deviation_of(const std::vector<double>& values, double mean) {
  double sum = 0;
  for (const double value : values) {
    sum += (value - mean) * (value - mean);
  }
  return std::sqrt(sum / static_cast<double>(values.size()));
}

Json statistics_of(const std::vector<double>& values) {
  Json summary = Json::object();
  for (const auto& [name, share] : kPercentiles) {
    summary[name] = stats::quantile(values, share);
  }
  const double mean = stats::mean(values);
  summary["mean"] = mean;
  summary["stdev"] = deviation_of(values, mean);
  summary["MAD"] = stats::median_absolute_deviation(values);
  summary["cv"] = mean == 0 ? Json() : Json(summary["stdev"].get<double>() / mean);
  return summary;
}

/// Each percentile against its mirror image in the control, all else against the same.
Json difference_of(const Json& treatment, const Json& control) {
  Json difference = Json::object();
  for (const auto& [name, value] : treatment.items()) {
    auto other = name;
    if (name.starts_with('p')) {
      other = fmt::format("p{}", 100 - std::stoi(name.substr(1)));
    }
    if (value.is_number() && control.value(other, Json()).is_number()) {
      difference[name] = value.get<double>() - control[other].get<double>();
    }
  }
  return difference;
}

Json latency_of(const CaseSummary& cell, const CaseSummary* control) {
  const auto values = steady_us(cell);
  Json entry = {
      {"type", "NET"},    {"metric", "latency"},       {"unit", "us"},
      {"values", values}, {"num_runs", values.size()}, {"summary", statistics_of(values)}};
  if (control != nullptr && !steady_us(*control).empty()) {
    entry["control_values"] = steady_us(*control);
    entry["control_summary"] = statistics_of(steady_us(*control));
    entry["diff_summary"] = difference_of(entry["summary"], entry["control_summary"]);
  }
  return entry;
}

/// A number that the program prints once a launch.
Json entry_of_metric(std::string_view name, const Estimate& estimate) {
  const bool is_time = estimate.unit == "ns";
  const double scale = is_time ? kNsPerUs : 1;
  Json summary = {{"p50", estimate.value / scale}};
  if (estimate.low && estimate.high) {
    summary["low"] = *estimate.low / scale;
    summary["high"] = *estimate.high / scale;
  }
  return {{"type", "NET"},
          {"metric", name},
          {"unit", is_time ? "us" : estimate.unit},
          {"num_runs", estimate.count},
          {"summary", summary}};
}

void add_operators(const ProfileBreakdown& breakdown, Json& data) {
  for (const auto& part : breakdown.parts) {
    if (part.kind == "operator" || part.kind == "delegate") {
      data[part.name + " latency"] = {
          {"type", part.name},
          {"metric", "latency"},
          {"unit", "us"},
          {"num_runs", breakdown.iterations},
          {"summary", {{"mean", part.mean_ns / kNsPerUs}, {"p0", part.min_ns / kNsPerUs}}}};
    }
  }
}

Json data_of(const CaseSummary& cell, const CaseSummary* control) {
  Json data = Json::object();
  if (cell.timing != Timing::kEmulated && !steady_us(cell).empty()) {
    data[kWholeLatency] = latency_of(cell, control);
  }
  for (const auto& [name, estimate] : cell.metrics) {
    if (name.starts_with(kProgramPrefix) && estimate.special.empty()) {
      const auto own = name.substr(kProgramPrefix.size());
      const bool is_latency = own == "net_latency" && !data.contains(kWholeLatency);
      const std::string metric = is_latency ? "latency" : own;
      data["NET " + metric] = entry_of_metric(metric, estimate);
    }
  }
  if (cell.breakdown) {
    add_operators(*cell.breakdown, data);
  }
  return data;
}

/// FORMAT/NAME/IDENTIFIER.command.json, where an import wrote the program of the case.
std::optional<std::filesystem::path> program_path(const RunSummary& summary,
                                                  const CaseSummary& cell) {
  const auto models =
      summary.run.spec.is_object() ? summary.run.spec.value("models", Json()) : Json();
  for (const auto& model : models.is_array() ? models : Json::array()) {
    auto ref = model.is_string() ? model.get<std::string>() : std::string();
    if (ref.ends_with(cell.model + ".json")) {
      return ref;
    }
  }
  return std::nullopt;
}

Json meta_of(const RunSummary& summary, const CaseSummary& cell) {
  const auto& run = summary.run;
  Json meta = {{"time", static_cast<double>(run.started_unix_ns) / 1e9},
               {"framework", cell.engine.substr(0, cell.engine.find('@'))},
               {"platform", summary.environment.cpu_model},
               {"platform_hash", summary.environment.id},
               {"command", run.argv},
               {"command_str", shell_command(run.argv)},
               {"net_name", cell.model},
               {"metric", "delay"},
               {"identifier", cell.label},
               {"run_type", "benchmark"}};
  if (const auto path = program_path(summary, cell)) {
    meta["framework"] = path->parent_path().parent_path().filename().string();
    meta["net_name"] = path->parent_path().filename().string();
    meta["identifier"] = path->stem().stem().string();
  }
  if (const auto at = cell.engine.find('@'); at != std::string::npos) {
    meta["commit"] = cell.engine.substr(at + 1);
  }
  if (const auto user = run.labels.find("user"); user != run.labels.end()) {
    meta["user_identifier"] = user->second;
  }
  return meta;
}

/// A of the comparison whose B the case is; null if there is none. One case on two builds of its
/// engine has one key for both sides, and A is the first in the run.
const CaseSummary* find_control(const RunSummary& summary, const CaseSummary& cell) {
  for (const auto& [comparison, pairs] : summary.comparisons) {
    const auto is_control = [&](const CaseSummary& other) {
      return other.case_key == comparison.a_case && other.device == cell.device;
    };
    if (comparison.b_case == cell.case_key) {
      const auto found = std::ranges::find_if(summary.cases, is_control);
      return found == summary.cases.end() || &*found == &cell ? nullptr : &*found;
    }
  }
  return nullptr;
}

}  // namespace

Json results_from_summary(const RunSummary& summary) {
  Json results = Json::array();
  for (const auto& cell : summary.cases) {
    auto data = data_of(cell, find_control(summary, cell));
    if (!data.empty()) {
      results.push_back({{"meta", meta_of(summary, cell)}, {"data", std::move(data)}});
    }
  }
  return results;
}

}  // namespace assay::fai_pep
