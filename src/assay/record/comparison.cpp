#include "assay/record/comparison.h"

#include "assay/base/json.h"

namespace assay {

ASSAY_DEFINE_JSON(PairPlace, comparison, block, pair, side, cpus)
ASSAY_DEFINE_JSON(PairEstimate, metric, pairs, ratio, low, high, confidence, p_value, alpha,
                  verdict, a_median, b_median)
ASSAY_DEFINE_JSON(Comparison, id, run, design, a_case, b_case, a_label, b_label, seed, gate_ratio,
                  verdict, text, is_confirmed, pairs_needed, pairs_disturbed, replaced_pairs, looks,
                  metrics, confirmation, canary, wall_ns)

}  // namespace assay
