#include "assay/record/metric.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/json.h"
#include "assay/record/metric_source.h"

namespace assay {
namespace {

using enum MetricSource;

struct DefinitionRow {
  MetricDefinition definition;
  MetricSource source = kOther;
};

constexpr auto kRows = std::to_array<DefinitionRow>({
    {{"first_ns", 1, "ns", Better::kLower, "case", "first"}, kLaunchTimes},
    {{"steady_ns", 1, "ns", Better::kLower, "case", "steady"}, kLaunchTimes},
    {{"steady_mean_ns", 1, "ns", Better::kLower, "case", "mean"}, kLaunchTimes},
    {{"steady_floor_ns", 1, "ns", Better::kLower, "case", "floor"}, kLaunchTimes},
    {{"steady_p90_ns", 1, "ns", Better::kLower, "case", "p90"}, kLaunchTimes},
    {{"steady_p99_ns", 1, "ns", Better::kLower, "case", "p99"}, kLaunchTimes},
    {{"bind_ns", 1, "ns", Better::kLower, "case", "bind"}, kLaunchTimes},
    {{"fetch_ns", 1, "ns", Better::kLower, "case", "fetch"}, kLaunchTimes},
    {{"speedup_ratio", 1, "ratio", Better::kHigher, "case", "speed-up"}, kAllTimes},
    {{"sustained_ns", 1, "ns", Better::kLower, "case", "sustained"}, kLaunchTimes},
    {{"sustained_ratio", 1, "ratio", Better::kLower, "case", "last third / first"}, kLaunchTimes},
    {{"sustained_slope_percent_per_min", 1, "%/min", Better::kLower, "case",
      "slope of the last third"},
     kLaunchTimes},
    {{"energy_per_inference_j", 1, "J", Better::kLower, "case", "energy"}},
    {{"mean_power_w", 1, "W", Better::kLower, "case", "power"}},
    {{"steady_interval_ratio", 1, "ratio", Better::kLower, "case", "width of the interval"},
     kAllTimes},
    {{"steady_uncertainty_ratio", 1, "ratio", Better::kLower, "case", "steady may be off by"},
     kAllTimes},
    {{"load_ns", 1, "ns", Better::kLower, "case", "load"}, kLaunchTimes},
    {{"load_program_ns", 1, "ns", Better::kLower, "case", "load program"}, kLaunchTimes},
    {{"load_method_ns", 1, "ns", Better::kLower, "case", "load method"}, kLaunchTimes},
    {{"launch_overhead_ns", 1, "ns", Better::kLower, "case", "overhead"}, kLaunchTimes},
    {{"instructions_per_inference", 1, "count", Better::kLower, "case", "instructions",
      MetricScale::kRatio}},
    {{"throughput_per_s", 1, "1/s", Better::kHigher, "case", "throughput"}, kLaunchTimes},
    {{"busy_threads", 1, "count", Better::kNone, "case", "threads that computed"}},
    {{"cached_ratio", 1, "ratio", Better::kNone, "case", "files cached"}},
    {{"peak_rss_bytes", 1, "bytes", Better::kLower, "case", "memory"}},
    {{"load_pss_bytes", 1, "bytes", Better::kLower, "case", "memory of load"}},
    {{"steady_pss_bytes", 1, "bytes", Better::kLower, "case", "steady PSS"}},
    {{"planned_arena_bytes", 1, "bytes", Better::kLower, "case", "planned arena"}},
    {{"unattributed_bytes", 2, "bytes", Better::kLower, "case", "unattributed",
      MetricScale::kDifference}},
    {{"malloc_peak_bytes", 1, "bytes", Better::kLower, "case", "malloc peak"}},
    {{"allocations_per_inference", 1, "count", Better::kLower, "case", "allocations"}},
    {{"leak_bytes_per_load", 1, "bytes", Better::kLower, "case", "leak of a load",
      MetricScale::kDifference}},
    {{"leak_bytes_per_inference", 1, "bytes", Better::kLower, "case", "leak of an inference",
      MetricScale::kDifference}},
    {{"program_bytes", 1, "bytes", Better::kLower, "case", "size"}},
    {{"delegate_bytes", 1, "bytes", Better::kNone, "case", "delegate size",
      MetricScale::kDifference}},
    {{"delegate_count", 1, "count", Better::kNone, "case", "delegates"}},
    {{"delegated_ratio", 1, "ratio", Better::kHigher, "case", "delegated"}},
    {{"aot_ns", 1, "ns", Better::kLower, "case", "ahead of time"}},
    {{"aot_peak_rss_bytes", 1, "bytes", Better::kLower, "case", "ahead-of-time memory"}},
    {{"sqnr_db", 1, "dB", Better::kHigher, "output", "SQNR"}},
    {{"cosine_similarity", 1, "ratio", Better::kHigher, "output", "cosine"}},
    {{"max_abs_error", 1, "", Better::kLower, "output", "max abs"}},
    {{"mean_abs_error", 1, "", Better::kLower, "output", "mean abs"}},
    {{"max_rel_error", 1, "ratio", Better::kLower, "output", "max rel"}},
    {{"mean_rel_error", 1, "ratio", Better::kLower, "output", "mean rel"}},
    {{"relative_l2_error", 1, "ratio", Better::kLower, "output", "relative L2"}},
    {{"l2_error", 1, "", Better::kLower, "output", "L2"}},
    {{"scaled_max_error", 2, "ratio", Better::kLower, "output", "max / scale"}},
    {{"cross_entropy", 1, "nats", Better::kLower, "output", "cross-entropy"}},
    {{"kl_divergence", 1, "nats", Better::kLower, "output", "KL"}},
    {{"top1_agreement", 1, "ratio", Better::kHigher, "output", "top-1"}},
    {{"top5_agreement", 1, "ratio", Better::kHigher, "output", "top-5"}},
    {{"top1_accuracy", 1, "ratio", Better::kHigher, "output", "accuracy"}},
    {{"reference_top1_accuracy", 1, "ratio", Better::kNone, "output", "accuracy of the reference"}},
    {{"log_loss", 1, "nats", Better::kLower, "output", "log loss"}},
    {{"expected_calibration_error", 1, "ratio", Better::kLower, "output", "calibration error"}},
    {{"nan_count", 1, "count", Better::kLower, "output", "NaN"}},
    {{"inf_count", 1, "count", Better::kLower, "output", "Inf"}},
    {{"max_step_error", 1, "steps", Better::kLower, "output", "max steps"}},
    {{"mean_step_error", 1, "steps", Better::kLower, "output", "mean steps"}},
    {{"error_bound_ratio", 1, "ratio", Better::kLower, "output", "of its bound"}},
});

constexpr auto kDefinitions = [] {
  std::array<MetricDefinition, kRows.size()> definitions{};
  std::ranges::transform(kRows, definitions.begin(), &DefinitionRow::definition);
  return definitions;
}();

constexpr auto kProgramUnits =
    std::to_array<std::string_view>({"ns", "bytes", "1/s", "count", "ratio", "J", "W"});

constexpr std::size_t kMostNameBytes = 64;

constexpr std::string_view kLoadStage = "load_";
constexpr std::string_view kTimeEnd = "_ns";

/// The time of a stage of loading, "load_compile_model_ns": engines name their stages.
bool is_load_stage(std::string_view name) {
  return name.size() > kLoadStage.size() + kTimeEnd.size() && name.size() <= kMostNameBytes &&
         name.starts_with(kLoadStage) && name.ends_with(kTimeEnd) && is_program_metric_name(name);
}

/// The texts that a definition is a view of.
struct NamedStage {
  std::string name;
  std::string title;
  MetricDefinition definition;
};

/// A definition for each name that was asked for; it stays.
const MetricDefinition& load_stage(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, NamedStage, std::less<>> stages;
  const std::scoped_lock lock(mutex);
  auto found = stages.find(name);
  if (found == stages.end()) {
    found = stages.try_emplace(std::string(name)).first;
    auto& stage = found->second;
    stage.name = name;
    stage.title = name.substr(0, name.size() - kTimeEnd.size());
    std::ranges::replace(stage.title, '_', ' ');
    stage.definition = {.name = stage.name,
                        .unit = "ns",
                        .better = Better::kLower,
                        .level = "case",
                        .title = stage.title};
  }
  return found->second.definition;
}

}  // namespace

bool is_program_metric_name(std::string_view name) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  };
  return !name.empty() && name.size() <= kMostNameBytes && std::ranges::all_of(name, is_allowed);
}

std::span<const std::string_view> program_metric_units() { return kProgramUnits; }

MetricDefinition definition_of(std::string_view name, const Estimate& estimate) {
  if (const auto* known = find_metric(name)) {
    return *known;
  }
  const auto title = name.starts_with(kProgramPrefix) ? name.substr(kProgramPrefix.size()) : name;
  return {.name = name,
          .unit = estimate.unit,
          .better = estimate.better,
          .level = "case",
          .title = title};
}

std::span<const MetricDefinition> metric_definitions() { return kDefinitions; }

const MetricDefinition* find_metric(std::string_view name) {
  const auto* found = std::ranges::find(kDefinitions, name, &MetricDefinition::name);
  if (found != kDefinitions.end()) {
    return found;
  }
  return is_load_stage(name) ? &load_stage(name) : nullptr;
}

MetricSource source_of(const MetricDefinition& definition) {
  if (definition.name.starts_with(kProgramPrefix)) {
    return kLaunchTimes;
  }
  const auto row = std::ranges::find(kRows, definition.name,
                                     [](const DefinitionRow& one) { return one.definition.name; });
  if (row == kRows.end()) {
    return is_load_stage(definition.name) ? kLaunchTimes : kOther;
  }
  return row->source;
}

bool is_time_of_launches(const MetricDefinition& definition) {
  return source_of(definition) != kOther;
}

Metric make_metric(std::string_view name, double value, std::string scope) {
  const auto* definition = find_metric(name);
  Metric metric{.name = std::string(name),
                .version = definition == nullptr ? 1 : definition->version,
                .value = std::isfinite(value) ? value : 0,
                .special = {},
                .scope = std::move(scope)};
  if (std::isnan(value)) {
    metric.special = "nan";
  } else if (std::isinf(value)) {
    metric.special = value > 0 ? "inf" : "-inf";
  }
  return metric;
}

double double_from_metric(const Metric& metric) {
  using Limits = std::numeric_limits<double>;
  if (metric.special == "nan") {
    return Limits::quiet_NaN();
  }
  if (metric.special.empty()) {
    return metric.value;
  }
  return metric.special == "inf" ? Limits::infinity() : -Limits::infinity();
}

void to_json(nlohmann::json& j, const MetricDefinition& definition) {
  j = {{"name", definition.name},     {"version", definition.version}, {"unit", definition.unit},
       {"better", definition.better}, {"level", definition.level},     {"title", definition.title}};
}

ASSAY_DEFINE_JSON(Metric, name, version, value, special, scope)
ASSAY_DEFINE_JSON(ProgramMetric, name, unit, better, value)

// Two fields are those of a program's own metric alone, and absent from all others. JSON has
// neither NaN nor infinities: they get their mark, whoever computed them.
void to_json(Json& j, const Estimate& estimate) {
  const auto marked = estimate.special.empty() ? make_metric({}, estimate.value)
                                               : Metric{.value = 0, .special = estimate.special};
  j = {{"value", marked.value},   {"low", estimate.low},
       {"high", estimate.high},   {"confidence", estimate.confidence},
       {"count", estimate.count}, {"special", marked.special}};
  if (!estimate.unit.empty()) {
    j["unit"] = estimate.unit;
    j["better"] = estimate.better;
  }
}

void from_json(const Json& j, Estimate& estimate) {
  const Estimate none;
  estimate = {.value = j.value("value", none.value),
              .low = j.value("low", none.low),
              .high = j.value("high", none.high),
              .confidence = j.value("confidence", none.confidence),
              .count = j.value("count", none.count),
              .special = j.value("special", none.special),
              .unit = j.value("unit", none.unit),
              .better = j.value("better", none.better)};
}

}  // namespace assay
