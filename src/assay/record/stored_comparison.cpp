#include "assay/record/stored_comparison.h"

#include "assay/base/json.h"

namespace assay {

ASSAY_DEFINE_JSON(StoredChange, label, a_launches, b_launches, a_median, b_median, ratio, scale,
                  base, low, high, confidence, p_value, is_nominated)
ASSAY_DEFINE_JSON(StoredComparison, a_run, b_run, metric, unit, better, changes, only_in_a,
                  only_in_b, notes)

}  // namespace assay
