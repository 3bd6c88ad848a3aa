#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/axes.h"
#include "assay/record/conformance.h"

namespace assay {

/// Result of one candidate, judged alone.
struct ReduceFinding {
  ConformVerdict verdict = ConformVerdict::kNotRun;
  Stage stage = Stage::kNone;
  std::string reason_code;
  std::string text;
  Delegation delegation = Delegation::kUnknown;
  std::vector<std::string> operators_left;  ///< Names of those that were not delegated.
  /// Its time by that of another recipe, where the check asks for it and both have one.
  std::optional<double> time_ratio;
};

/// True for a correct result, including a vacuous one.
bool is_right(const ReduceFinding& finding);

/// The verdict and what stands behind it, in a line.
std::string text_of_finding(const ReduceFinding& finding);

ASSAY_DECLARE_JSON(ReduceFinding);

}  // namespace assay
