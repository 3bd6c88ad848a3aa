#include "assay/record/metric_scale.h"

#include <cmath>
#include <optional>
#include <string_view>

#include "assay/record/metric.h"
#include "assay/record/unit.h"

namespace assay {

MetricScale scale_of(const MetricDefinition& definition) {
  if (definition.scale) {
    return *definition.scale;
  }
  const auto* unit = find_unit(definition.unit);
  return unit == nullptr ? MetricScale::kDifference : unit->scale;
}

MetricScale scale_of(std::string_view metric, std::string_view unit) {
  const auto* known = metric.starts_with(kProgramPrefix)
                          ? nullptr
                          : find_metric(metric.substr(metric.rfind('.') + 1));
  return scale_of(known == nullptr ? MetricDefinition{.name = metric, .unit = unit} : *known);
}

std::optional<double> offset_between(MetricScale scale, double value, double reference) {
  const bool is_ratio = scale == MetricScale::kRatio;
  const double offset =
      is_ratio ? std::log(value) - std::log(reference) : value - reference;  // No overflow.
  const bool has_ratio = value > 0 && reference > 0;
  return std::isfinite(offset) && (has_ratio || !is_ratio) ? std::optional(offset) : std::nullopt;
}

double change_from_offset(MetricScale scale, double offset) {
  return scale == MetricScale::kRatio ? std::expm1(offset) : offset;
}

int direction_of_change(Better better, double change) {
  if (better == Better::kNone || !(std::abs(change) > 0)) {
    return 0;
  }
  return (change > 0) == (better == Better::kLower) ? 1 : -1;
}

}  // namespace assay
