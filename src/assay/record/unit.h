#pragma once

#include <span>
#include <string_view>

#include "assay/record/metric.h"

namespace assay {

/// A unit in which numbers are written: its unit inside of Assay, and how numbers in it compare.
struct Unit {
  std::string_view name;           ///< "ms"
  std::string_view kept;           ///< The unit of metrics that stands for it: "ns".
  double factor = 1;               ///< As many of `kept` make one of it: 1e6.
  Better better = Better::kLower;  ///< The better direction, unless a metric says.
  MetricScale scale = MetricScale::kRatio;
};

std::span<const Unit> units();

/// Null for a unit that is not known.
const Unit* find_unit(std::string_view name);

}  // namespace assay
