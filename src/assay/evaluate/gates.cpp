#include "assay/evaluate/gates.h"

#include <cmath>
#include <fmt/format.h>
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
#include "assay/record/metric.h"
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

Result<GateResult> check_gate(std::string_view metric, std::string_view bound,
                              const std::map<std::string, Estimate>& metrics) {
  ASSAY_ASSIGN_OR_RETURN(const auto* definition, metric_of_gate(metric));
  auto parsed = bound_from_text(bound, definition->unit);
  if (!parsed) {
    return fail_with_context(std::move(parsed).error(), fmt::format("require: {}", metric));
  }
  GateResult result{.metric = std::string(metric), .bound = std::string(bound)};
  const auto* estimate = find_estimate(metric, metrics);
  if (estimate == nullptr) {
    result.text = fmt::format("{} not measured, required {}", metric, bound);
    return result;
  }
  const double value = double_from_metric({.value = estimate->value, .special = estimate->special});
  result.is_met = parsed->is_met_by(value);
  result.text = fmt::format("{} {}, required {}", metric, text_of_value(*definition, value), bound);
  return result;
}

Result<std::vector<GateResult>> check_gates(const Json& require,
                                            const std::map<std::string, Estimate>& metrics) {
  std::vector<GateResult> results;
  for (const auto& [metric, bound] : require.items()) {
    if (!bound.is_string()) {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("require: the bound of '{}' must be text such as \">=0.99\"", metric));
    }
    ASSAY_ASSIGN_OR_RETURN(auto result,
                           check_gate(metric, bound.get_ref<const std::string&>(), metrics));
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace assay
