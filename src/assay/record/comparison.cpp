#include "assay/record/comparison.h"

#include <nlohmann/json.hpp>

#include "assay/base/json.h"

namespace assay {

ASSAY_DEFINE_JSON(PairPlace, comparison, block, pair, side, cpus, phase, pairing)
ASSAY_DEFINE_JSON(ComparisonPlan, metric, gate_ratio, looks, alpha, confirmation_pairs,
                  confirmation_alpha, budget_ns, has_canary, is_pinned, adapts_iterations,
                  tries_duet)
ASSAY_DEFINE_JSON(PairingPilot, pairs, interleaved_sigma, duet_sigma, interleaved_pair_ns,
                  duet_pair_ns)
// Two fields are those of a program's own metric alone, and absent from all others.
void to_json(Json& j, const PairEstimate& estimate) {
  j = {{"metric", estimate.metric},     {"pairs", estimate.pairs},
       {"ratio", estimate.ratio},       {"low", estimate.low},
       {"high", estimate.high},         {"confidence", estimate.confidence},
       {"p_value", estimate.p_value},   {"alpha", estimate.alpha},
       {"verdict", estimate.verdict},   {"is_confirmed", estimate.is_confirmed},
       {"a_median", estimate.a_median}, {"b_median", estimate.b_median}};
  if (!estimate.unit.empty()) {
    j["unit"] = estimate.unit;
    j["better"] = estimate.better;
  }
}

void from_json(const Json& j, PairEstimate& estimate) {
  const PairEstimate none;
  estimate = {.metric = j.value("metric", none.metric),
              .pairs = j.value("pairs", none.pairs),
              .ratio = j.value("ratio", none.ratio),
              .low = j.value("low", none.low),
              .high = j.value("high", none.high),
              .confidence = j.value("confidence", none.confidence),
              .p_value = j.value("p_value", none.p_value),
              .alpha = j.value("alpha", none.alpha),
              .verdict = j.value("verdict", none.verdict),
              .is_confirmed = j.value("is_confirmed", none.is_confirmed),
              .a_median = j.value("a_median", none.a_median),
              .b_median = j.value("b_median", none.b_median),
              .unit = j.value("unit", none.unit),
              .better = j.value("better", none.better)};
}

ASSAY_DEFINE_JSON(Comparison, id, run, worker, design, a_case, b_case, a_label, b_label, seed, plan,
                  pairing, pilot, iterations, verdict, text, is_confirmed, pairs_needed,
                  pairs_disturbed, replaced_pairs, launches, launches_unsteady, looks, metrics,
                  confirmation, canary, wall_ns)

}  // namespace assay
