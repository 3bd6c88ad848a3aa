#include "assay/evaluate/gates.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/base/units.h"
#include "assay/record/axes.h"
#include "assay/record/metric.h"
#include "assay/record/metric_scale.h"
#include "assay/record/metric_source.h"
#include "assay/record/summary.h"
#include "assay/spec/bound.h"
#include "assay/spec/reference_kind.h"

namespace assay {
namespace {

/// Accuracy against float32 stands under the bare name too.
const Estimate* find_estimate(std::string_view name,
                              const std::map<std::string, Estimate>& metrics) {
  auto found = metrics.find(std::string(name));
  constexpr std::string_view kFloat32 = "float32.";
  if (found == metrics.end() && name.starts_with(kFloat32)) {
    found = metrics.find(std::string(name.substr(kFloat32.size())));
  }
  return found == metrics.end() ? nullptr : &found->second;
}

/// Memory is not, steady_pss_bytes included: an unsteady clock says nothing of it.
bool is_of_steady_state(const MetricDefinition& definition) {
  return is_time_of_launches(definition) &&
         (definition.name.starts_with("steady_") || definition.name == "throughput_per_s" ||
          definition.name == "speedup_ratio");
}

/// How far two values lie apart on the metric's scale: a time and the rate that is its reciprocal
/// are alike.
double distance_between(const MetricDefinition& definition, double value, double other) {
  return std::abs(
      offset_between(scale_of(definition), value, other).value_or(std::abs(value - other)));
}

/// "--launches 24 may decide": how many launches in all bring the interval off the bound where it
/// narrows with the square root of their number around the same estimate.
std::string launches_to_decide(const MetricDefinition& definition, const Estimate& estimate,
                               const Bound& bound) {
  constexpr int kMostLaunches = 1000;
  const double distance = distance_between(definition, bound.value, estimate.value);
  const auto end = bound.value > estimate.value ? estimate.high : estimate.low;
  const double arm = distance_between(definition, end.value_or(estimate.value), estimate.value);
  const double needed = distance > 0 ? estimate.count * (arm / distance) * (arm / distance)
                                     : std::numeric_limits<double>::infinity();
  if (needed >= kMostLaunches) {
    return "the value is so near the bound that more launches will hardly decide";
  }
  return fmt::format("--launches {} may decide",
                     std::max(estimate.count + 1, static_cast<int>(std::ceil(needed))));
}

/// Why a bound is neither met nor broken, and what would decide; empty if it is one of them.
std::string doubt_of(const MetricDefinition& definition, const Estimate& estimate,
                     const Bound& bound, Timing timing) {
  if (timing == Timing::kEmulated && is_time_of_launches(definition)) {
    return "an emulator's time is not that of the hardware";
  }
  const bool is_met = estimate.special.empty() && bound.is_met_by(estimate.value);
  if (estimate.low && estimate.high) {
    const bool is_low_met = bound.is_met_by(*estimate.low);
    if (is_low_met != bound.is_met_by(*estimate.high) || is_low_met != is_met) {
      return fmt::format("the bound lies within its interval [{}, {}]; {}",
                         text_of_value(definition, *estimate.low),
                         text_of_value(definition, *estimate.high),
                         launches_to_decide(definition, estimate, bound));
    }
  } else if (is_met && source_of(definition) == MetricSource::kLaunchTimes) {
    return "one launch has no interval; --launches 3 gives one";
  }
  return is_met && timing == Timing::kUnsteady && is_of_steady_state(definition)
             ? "the timing is unsteady; more --iterations or a quieter machine may help"
             : "";
}

/// True if two texts have the same number and unit: "20.0 MB" is "20 MB".
bool reads_alike(std::string_view a, std::string_view b) {
  double a_value = 0;
  double b_value = 0;
  const auto* const a_unit = std::from_chars(a.data(), a.data() + a.size(), a_value).ptr;
  const auto* const b_unit = std::from_chars(b.data(), b.data() + b.size(), b_value).ptr;
  return a_value == b_value && std::string_view(a_unit, a.data() + a.size()) ==
                                   std::string_view(b_unit, b.data() + b.size());
}

/// Like text_of_value(), with all digits where it reads like the bound: one that misses
/// its bound never reads as the bound itself.
std::string text_beside(const MetricDefinition& definition, double value, double bound) {
  auto text = text_of_value(definition, value);
  if (value == bound || !std::isfinite(value) ||
      !reads_alike(text, text_of_value(definition, bound))) {
    return text;
  }
  const bool has_unit = !definition.unit.empty() && definition.unit != "ratio";
  return has_unit ? fmt::format("{} {}", value, definition.unit) : fmt::format("{}", value);
}

}  // namespace

Result<const MetricDefinition*> metric_of_gate(std::string_view name) {
  if (const auto* definition = find_metric(without_reference_kind(name))) {
    return definition;
  }
  std::vector<std::string> known;
  for (const auto& definition : metric_definitions()) {
    known.emplace_back(definition.name);
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("require: unknown metric '{}'{}", name, suggestion_for(name, known)));
}

std::string text_of_value(const MetricDefinition& definition, double value) {
  if (!std::isfinite(value)) {
    return fmt::format("{}", value);
  }
  if (definition.unit == "ns") {
    return text_from_duration_ns(value);
  }
  if (definition.unit == "bytes") {
    return text_from_bytes(value);
  }
  const bool has_visible_unit =
      !definition.unit.empty() && definition.unit != "ratio" && definition.unit != "count";
  return has_visible_unit ? fmt::format("{:.4g} {}", value, definition.unit)
                          : fmt::format("{:.4g}", value);
}

bool has_metric_of_gate(std::string_view metric, const std::map<std::string, Estimate>& metrics) {
  return find_estimate(metric, metrics) != nullptr;
}

Result<GateResult> check_gate(std::string_view metric, std::string_view bound,
                              const std::map<std::string, Estimate>& metrics, Timing timing) {
  GateResult result{.metric = std::string(metric), .bound = std::string(bound)};
  const auto* estimate = find_estimate(metric, metrics);
  const bool is_of_program = metric.starts_with(kProgramPrefix);
  if (!is_of_program) {
    ASSAY_RETURN_IF_ERROR(metric_of_gate(metric));
  }
  if (estimate == nullptr && is_of_program) {
    result.text = fmt::format("{} not measured, required {}", metric, bound);
    return result;
  }
  const auto definition =
      is_of_program ? definition_of(metric, *estimate) : **metric_of_gate(metric);
  auto parsed = bound_from_text(bound, definition.unit);
  if (!parsed && is_of_program) {
    result.text = fmt::format("{} is in {}: {}", metric, definition.unit, parsed.error().message);
    return result;
  }
  if (!parsed) {
    return fail_with_context(std::move(parsed).error(), fmt::format("require: {}", metric));
  }
  if (estimate == nullptr) {
    result.text = fmt::format("{} not measured, required {}", metric, bound);
    return result;
  }
  const double value = double_from_metric({.value = estimate->value, .special = estimate->special});
  const auto doubt = doubt_of(definition, *estimate, *parsed, timing);
  result.is_undecided = !doubt.empty();
  result.is_met = doubt.empty() && parsed->is_met_by(value);
  result.text =
      fmt::format("{} {}, required {}{}{}", metric, text_beside(definition, value, parsed->value),
                  bound, doubt.empty() ? "" : ": ", doubt);
  return result;
}

Result<std::vector<GateResult>> check_gates(const Json& require,
                                            const std::map<std::string, Estimate>& metrics,
                                            Timing timing) {
  std::vector<GateResult> results;
  for (const auto& [metric, bound] : require.items()) {
    if (!bound.is_string()) {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("require: the bound of '{}' must be text such as \">=0.99\"", metric));
    }
    ASSAY_ASSIGN_OR_RETURN(
        auto result, check_gate(metric, bound.get_ref<const std::string&>(), metrics, timing));
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace assay
