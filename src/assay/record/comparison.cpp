#include "assay/record/comparison.h"

#include "assay/base/json.h"

namespace assay {

ASSAY_DEFINE_JSON(PairPlace, comparison, block, pair, side, cpus, phase, pairing)
ASSAY_DEFINE_JSON(ComparisonPlan, metric, gate_ratio, looks, alpha, confirmation_pairs,
                  confirmation_alpha, budget_ns, has_canary, is_pinned, adapts_iterations,
                  tries_duet)
ASSAY_DEFINE_JSON(PairingPilot, pairs, interleaved_sigma, duet_sigma, interleaved_pair_ns,
                  duet_pair_ns)
ASSAY_DEFINE_JSON(PairEstimate, metric, pairs, ratio, low, high, confidence, p_value, alpha,
                  verdict, is_confirmed, a_median, b_median)
ASSAY_DEFINE_JSON(Comparison, id, run, design, a_case, b_case, a_label, b_label, seed, plan,
                  pairing, pilot, iterations, verdict, text, is_confirmed, pairs_needed,
                  pairs_disturbed, replaced_pairs, launches, launches_unsteady, looks, metrics,
                  confirmation, canary, wall_ns)

}  // namespace assay
