#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"

namespace assay {

/// A device of a fleet that was lost, or whose worker gave no sign of life, while it executed a
/// job: an attachment of the run.
struct LostExecution {
  std::string job;  ///< JobExecution::job
  int n = 0;
  std::string label;   ///< The job's label.
  std::string device;  ///< Empty: the executor does not know it.
  std::string why;
  std::vector<std::string> cases;  ///< Keys of the job's cases.
  std::int64_t lost_unix_ns = 0;   ///< On the clock of the driver.
};

inline constexpr std::string_view kLostExecutionKind = "lost_execution";

ASSAY_DECLARE_JSON(LostExecution);

}  // namespace assay
