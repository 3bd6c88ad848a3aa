#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/stats/pair_test.h"

namespace assay::stats {

/// When a comparison is looked at, and what counts. Each look spends its share of the false alarms,
/// so looking early costs nothing that was not planned; looking oftener does.
struct LookPlan {
  std::vector<int> pairs = {10, 20, 40, 80};                 ///< Ascending.
  std::vector<double> alpha = {0.002, 0.008, 0.015, 0.025};  ///< By look; their sum bounds the
                                                             ///< false alarms of the whole.
  double gate = 0.02;  ///< Least effect that matters, as ln ratio; above 0.
};

/// Verdict on b compared with a.
enum class PairVerdict : std::uint8_t {
  kSlower,
  kFaster,
  kChangedLess,   ///< There is a change, and it is smaller than what matters.
  kEquivalent,    ///< A change of twice what matters is excluded in both directions.
  kInconclusive,  ///< Cannot tell from these pairs.
};

}  // namespace assay::stats

namespace assay {

template <>
inline constexpr auto kEnumNames<stats::PairVerdict> = std::to_array<EnumName<stats::PairVerdict>>({
    {stats::PairVerdict::kSlower, "slower"},
    {stats::PairVerdict::kFaster, "faster"},
    {stats::PairVerdict::kChangedLess, "changed_less"},
    {stats::PairVerdict::kEquivalent, "equivalent"},
    {stats::PairVerdict::kInconclusive, "inconclusive"},
});

}  // namespace assay

namespace assay::stats {

struct LookResult {
  PairVerdict verdict = PairVerdict::kInconclusive;
  Shift shift;            ///< With confidence 1 - alpha.
  double p_value = 1;     ///< Probability of such values without a difference.
  int pairs = 0;          ///< Judged.
  double alpha = 0;       ///< Error rate of this look.
  bool is_final = false;  ///< Decided, or no look is left: more pairs are not asked for.
  int pairs_needed = 0;   ///< Forecast of the pairs in all for an answer; 0 when decided.
};

/// Judges the first plan.pairs[look] pairs at level alpha = plan.alpha[look], with delta = 2 *
/// gate:
///
///   slower, faster   p <= alpha and |estimate| >= gate
///   changed less     p <= alpha, |estimate| < gate and the interval within +-delta
///   equivalent       |estimate| < gate, and shifts of +delta and -delta both rejected at alpha
///   inconclusive     otherwise; final at the last look only
///
/// The first that holds. `pairs_needed` lets the interval's arms shrink with sqrt(pairs) around the
/// same estimate until they exclude 0 (estimate at or above the gate) or +-delta (below); where
/// they are infinite, it is the next look, or twice the pairs at the last one. It errs high, since
/// later looks have more alpha, and can exceed the plan, which then cannot answer.
///
/// `a`, `b`: log times by pair, in the order they were measured, at least plan.pairs[look] each;
/// see pair_swap_p_value. `look` from 0, below plan.pairs.size() == plan.alpha.size(). Pure; the
/// cost of one pair_shift and three tests.
///
/// Source: two tests for equivalence: Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987), here each
/// two-sided at alpha, so stricter; alpha spent over planned looks: Lan, DeMets, Biometrika 70
/// (1983), here as a plain Bonferroni split, which needs no assumption on how the looks depend.
LookResult judge_look(std::span<const double> a, std::span<const double> b, std::size_t look,
                      const LookPlan& plan, const PairSwapPlan& swaps);

/// Rule by which a change that the looks found must be confirmed.
struct ConfirmationPlan {
  int pairs = 20;
  double alpha = 0.01;  ///< One-sided: the sign is known.
  double gate = 0.02;   ///< Equals the gate of the looks.
};

struct Confirmation {
  LookResult look;  ///< Result at twice alpha, two-sided, with half the gate.
  bool is_confirmed = false;
};

/// Whether a change is there again on pairs that did not help to find it: p <= 2 alpha, the same
/// sign, and at least half of the change.
///
/// `found`: the looks' estimate, a ln ratio. `a`, `b`, cost and purity as judge_look.
Confirmation judge_confirmation(std::span<const double> a, std::span<const double> b, double found,
                                const ConfirmationPlan& plan, const PairSwapPlan& swaps);

}  // namespace assay::stats
