#include "assay/report/shift_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <string>
#include <string_view>

#include "assay/record/comparison.h"
#include "assay/record/metric.h"
#include "assay/record/metric_scale.h"
#include "assay/record/stored_comparison.h"
#include "assay/report/format.h"

namespace assay::report {

Shift shift_of(const PairEstimate& estimate) {
  const auto definition =
      definition_of(estimate.metric, {.unit = estimate.unit, .better = estimate.better});
  return {.is_share = is_relative(estimate),
          .value = estimate.ratio,
          .low = estimate.low,
          .high = estimate.high,
          .unit = std::string(definition.unit)};
}

Shift shift_of(const StoredChange& change, std::string_view unit) {
  return {.is_share = change.scale == MetricScale::kRatio || change.base > 0,
          .value = change.ratio,
          .low = change.low,
          .high = change.high,
          .unit = std::string(unit)};
}

std::string unit_of_shifts(std::span<const Shift> shifts) {
  const bool has_share = std::ranges::any_of(shifts, &Shift::is_share);
  const bool is_of_time = std::ranges::all_of(
      shifts, [](const Shift& shift) { return !shift.is_share || shift.unit == "ns"; });
  return !has_share ? "" : is_of_time ? "% time" : "%";
}

std::string text_of_shift(const Shift& shift) {
  if (shift.is_share) {
    return text_from_change(shift.value);
  }
  return fmt::format("{}{}{}{}", shift.value > 0 ? "+" : "", text_from_number(shift.value),
                     shift.unit.empty() ? "" : " ", shift.unit);
}

std::string full_text_of_shift(const Shift& shift) {
  const auto unit = unit_of_shifts({&shift, 1});
  return text_of_shift(shift) + (unit.empty() ? "" : " " + unit);
}

std::string text_of_bounds(const Shift& shift) {
  if (shift.is_share || !shift.low || !shift.high) {
    return text_from_changes(shift.low, shift.high);
  }
  return fmt::format("[{}, {}]", text_from_number(*shift.low), text_from_number(*shift.high));
}

}  // namespace assay::report
