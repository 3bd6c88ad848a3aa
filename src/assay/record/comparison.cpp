#include "assay/record/comparison.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "assay/base/json.h"
#include "assay/record/metric.h"

namespace assay {

ASSAY_DEFINE_JSON(PairPlace, comparison, block, pair, side, cpus, phase, pairing)
ASSAY_DEFINE_JSON(ComparisonPlan, metric, gate_ratio, looks, alpha, confirmation_pairs,
                  confirmation_alpha, budget_ns, has_canary, is_pinned, adapts_iterations,
                  tries_duet)
ASSAY_DEFINE_JSON(PairingPilot, pairs, interleaved_sigma, duet_sigma, interleaved_pair_ns,
                  duet_pair_ns)
// Some fields are those of a program's own metric or of differences alone, and absent from others.
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
  if (estimate.scale != MetricScale::kRatio) {
    j["scale"] = estimate.scale;
    j["base"] = estimate.base;
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
              .better = j.value("better", none.better),
              .scale = j.value("scale", none.scale),
              .base = j.value("base", none.base)};
}

bool is_relative(const PairEstimate& estimate) {
  return estimate.scale == MetricScale::kRatio || estimate.base > 0;
}

std::optional<double> offset_of(const PairEstimate& estimate, double ratio, MetricScale scale) {
  if (scale == MetricScale::kRatio) {
    return is_relative(estimate) && ratio > -1 ? std::optional(std::log1p(ratio)) : std::nullopt;
  }
  const double base = estimate.scale == MetricScale::kRatio ? estimate.a_median : estimate.base;
  return is_relative(estimate) ? ratio * base : ratio;
}

ASSAY_DEFINE_JSON(Comparison, id, run, worker, design, a_case, b_case, a_label, b_label, seed, plan,
                  pairing, pilot, iterations, verdict, text, is_confirmed, pairs_needed,
                  pairs_disturbed, replaced_pairs, pairs_without, launches, launches_unsteady,
                  looks, metrics, confirmation, canary, wall_ns)

}  // namespace assay
