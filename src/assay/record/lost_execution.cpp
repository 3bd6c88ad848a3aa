#include "assay/record/lost_execution.h"

#include <nlohmann/json.hpp>

#include "assay/base/json.h"

namespace assay {

ASSAY_DEFINE_JSON(LostExecution, job, n, label, device, why, cases, lost_unix_ns)

}  // namespace assay
