#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/enum_names.h"  // IWYU pragma: keep: JSON of optional values
#include "assay/base/json.h"
#include "assay/record/metric.h"

namespace assay {

/// One case that two runs have measured. Ratios are B / A - 1, and of differences as
/// PairEstimate has them.
struct StoredChange {
  std::string label;
  int a_launches = 0;
  int b_launches = 0;
  double a_median = 0;  ///< In the metric's unit, over the launches.
  double b_median = 0;
  double ratio = 0;
  MetricScale scale = MetricScale::kRatio;  ///< How the sides were compared with each other.
  double base = 0;            ///< Differences are shares of it; 0: they are in the unit.
  std::optional<double> low;  ///< Absent: too few launches to bound it.
  std::optional<double> high;
  double confidence = 0;
  double p_value = 1;
  bool is_nominated = false;  ///< Worth a comparison in pairs.
};

/// Two runs of the past, case by case. Their launches were not interleaved, so what differs may be
/// the hour and not the program: this nominates, and never decides.
struct StoredComparison {
  std::string a_run;
  std::string b_run;
  std::string metric;
  std::string unit;
  Better better = Better::kLower;
  std::vector<StoredChange> changes;  ///< The largest changes first.
  int only_in_a = 0;                  ///< Cases that were measured in one of them only.
  int only_in_b = 0;
  std::vector<std::string> notes;  ///< Another environment, and the like.
};

ASSAY_DECLARE_JSON(StoredChange);
ASSAY_DECLARE_JSON(StoredComparison);

}  // namespace assay
