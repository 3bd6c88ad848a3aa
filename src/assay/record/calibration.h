#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"

namespace assay {

/// The smallest difference that shows when pairs are launched for so long.
struct Detectable {
  std::int64_t budget_ns = 0;
  int pairs = 0;
  double ratio = 0;  ///< 0.02: 2 %; negative: too few pairs to show any.
};

/// Smallest differences that a machine can detect, from a program compared with its own copy on one
/// day.
struct Calibration {
  std::string run;
  std::int64_t unix_ns = 0;
  std::string program;
  std::string metric;
  int pairs = 0;
  int pairs_disturbed = 0;
  std::int64_t pair_ns = 0;     ///< Wall time of a pair of launches.
  double difference_ratio = 0;  ///< Measured difference of the copy; the true one is 0.
  double p_value = 1;
  std::int64_t null_inference_ns = 0;  ///< bind, execute and fetch of a program that does nothing.
  std::int64_t launch_overhead_ns = 0;
  std::vector<Detectable> detectable;
};

/// Kind of the attachment that holds a machine's calibration; a run uses the newest earlier one.
inline constexpr const char* kCalibrationKind = "calibration";

ASSAY_DECLARE_JSON(Detectable);
ASSAY_DECLARE_JSON(Calibration);

}  // namespace assay
