#include "assay/stats/looks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/base/result.h"
#include "assay/stats/pair_test.h"

namespace assay::stats {
namespace {

/// True if a shift of b by `theta` is excluded.
bool is_rejected(std::span<const double> a, std::span<const double> b, double theta, double alpha,
                 const PairSwapPlan& swaps) {
  std::vector<double> moved(b.begin(), b.end());
  std::ranges::for_each(moved, [theta](double& value) { value -= theta; });
  return pair_swap_p_value(a, moved, swaps) <= alpha;
}

PairVerdict judge(std::span<const double> a, std::span<const double> b, const LookResult& look,
                  double gate, const PairSwapPlan& swaps) {
  const auto& shift = look.shift;
  const double delta = 2 * gate;
  const bool has_changed = look.p_value <= look.alpha;
  if (std::abs(shift.estimate) >= gate) {
    return !has_changed         ? PairVerdict::kInconclusive
           : shift.estimate > 0 ? PairVerdict::kSlower
                                : PairVerdict::kFaster;
  }
  if (has_changed && -delta <= shift.low && shift.high <= delta) {
    return PairVerdict::kChangedLess;
  }
  return is_rejected(a, b, delta, look.alpha, swaps) && is_rejected(a, b, -delta, look.alpha, swaps)
             ? PairVerdict::kEquivalent
             : PairVerdict::kInconclusive;
}

/// How many times longer the interval's arms are than an answer allows.
double excess(const Shift& shift, double gate) {
  const double up = shift.high - shift.estimate;
  const double down = shift.estimate - shift.low;
  if (std::abs(shift.estimate) >= gate) {
    return (shift.estimate > 0 ? down : up) / std::abs(shift.estimate);
  }
  return std::max(up / (2 * gate - shift.estimate), down / (2 * gate + shift.estimate));
}

int forecast(const LookResult& judged, std::size_t look, const LookPlan& plan) {
  constexpr double kMost = 1e6;
  const double ratio = excess(judged.shift, plan.gate);
  if (std::isinf(ratio)) {
    return look + 1 < plan.pairs.size() ? plan.pairs[look + 1] : 2 * judged.pairs;
  }
  const double needed = std::ceil(judged.pairs * ratio * ratio);
  return std::max(judged.pairs + 1, static_cast<int>(std::min(needed, kMost)));
}

}  // namespace

LookResult judge_look(std::span<const double> a, std::span<const double> b, std::size_t look,
                      const LookPlan& plan, const PairSwapPlan& swaps) {
  ASSAY_CHECK(look < plan.pairs.size() && plan.pairs.size() == plan.alpha.size() && plan.gate > 0);
  ASSAY_CHECK(plan.pairs[look] > 0 && a.size() == b.size());
  const auto pairs = static_cast<std::size_t>(plan.pairs[look]);
  ASSAY_CHECK(pairs <= a.size());
  a = a.first(pairs);
  b = b.first(pairs);
  LookResult result{.pairs = plan.pairs[look], .alpha = plan.alpha[look]};
  result.shift = pair_shift(a, b, result.alpha, swaps);
  result.p_value = pair_swap_p_value(a, b, swaps);
  result.verdict = judge(a, b, result, plan.gate, swaps);
  const bool is_decided = result.verdict != PairVerdict::kInconclusive;
  result.is_final = is_decided || look + 1 == plan.pairs.size();
  result.pairs_needed = is_decided ? 0 : forecast(result, look, plan);
  return result;
}

Confirmation judge_confirmation(std::span<const double> a, std::span<const double> b, double found,
                                const ConfirmationPlan& plan, const PairSwapPlan& swaps) {
  const LookPlan once{.pairs = {plan.pairs}, .alpha = {2 * plan.alpha}, .gate = plan.gate / 2};
  const auto again = judge_look(a, b, 0, once, swaps);
  const double estimate = again.shift.estimate;
  return {.look = again,
          .is_confirmed = again.p_value <= again.alpha && estimate * found > 0 &&
                          std::abs(estimate) >= std::abs(found) / 2};
}

}  // namespace assay::stats
