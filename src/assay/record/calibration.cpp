#include "assay/record/calibration.h"

#include "assay/base/json.h"

namespace assay {

ASSAY_DEFINE_JSON(Detectable, budget_ns, pairs, ratio)
ASSAY_DEFINE_JSON(Calibration, run, unix_ns, program, metric, pairs, pairs_disturbed, pair_ns,
                  difference_ratio, p_value, null_inference_ns, launch_overhead_ns, detectable)

}  // namespace assay
