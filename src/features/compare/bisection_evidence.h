#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "assay/stats/looks.h"
#include "assay/stats/pair_test.h"

namespace assay {

/// Weighs whether pairs of a commit look like the bad end or like the good one.
///
/// A model of ln(time of a commit / time of the good end): Student's t with four degrees of freedom
/// around 0 or around the change, with the spread of the pairs that compared the ends. Single wild
/// pairs count little. Pairs of a batch share what disturbs the machine, so their evidence is
/// multiplied by `tempering`.
struct PairEvidence {
  double change = 0;  ///< ln ratio of the bad end to the good one.
  double scale = 0;   ///< Scale parameter of the t distribution.
  double tempering = 0.5;

  /// Fewer pairs of either kind tell nothing of the spread.
  static constexpr std::size_t kLeastPairs = 5;

  /// From pairs of the good end with its copy and of the bad end with the good one. Nothing where
  /// there are fewer than kLeastPairs, or where the spread or the change is 0.
  [[nodiscard]] static std::optional<PairEvidence> calibrate(std::span<const double> good,
                                                             std::span<const double> bad);

  /// ln of how much more likely the pairs are with the change than without; each pair an ln ratio.
  [[nodiscard]] double log_ratio(std::span<const double> pairs) const;
};

/// Rules by which a search spends its pairs.
struct BisectionPlan {
  int ends = 40;         ///< Pairs that verify the ends, and as many of the good end with its copy.
  int batch = 5;         ///< Pairs of a commit at a time.
  double enough = 0.95;  ///< Probability at which the suspects are confirmed.
  int least_sandwich = 20;  ///< Pairs of the culprit with the commit before it: as many as show
  int most_sandwich = 80;   ///< the change, between these.
  int most_pairs = 1000;
};

/// Pairs of a sandwich: so many that the change is three standard errors of their median, within
/// the bounds of the plan.
int sandwich_pairs(const PairEvidence& evidence, const BisectionPlan& plan);

/// The number of pairs that a search will take, computed before it begins.
struct BisectionBudget {
  double expected_pairs = 0;  ///< Mean, with those of the ends and of the sandwich.
  double likely_most = 0;     ///< Nine of ten searches take fewer.
  double share_exact = 0;     ///< Share of searches whose first suspects are right.
};

/// Simulates `searches` searches among `commits` with the evidence's own noise. Same seed, same
/// result. O(searches * commits * batches): some ten milliseconds for 256 commits.
BisectionBudget forecast_bisection(std::size_t commits, const PairEvidence& evidence,
                                   const BisectionPlan& plan, std::uint64_t seed,
                                   int searches = 100);

/// The answer of the sandwich: fresh pairs of the culprit and the commit before it.
enum class SandwichVerdict : std::uint8_t {
  kConvicted,  ///< The change is there again, at least half of it.
  kPart,       ///< A smaller change that matters is there: the culprit of a part, others remain.
  kAcquitted,  ///< Nothing that matters is there.
};

struct Sandwich {
  SandwichVerdict verdict = SandwichVerdict::kAcquitted;
  stats::LookResult look;
  double remainder = 0;  ///< Part of the change, ln ratio, that the culprit leaves.
};

/// Judges fresh pairs, as many of one as of the other, or else they acquit; `parent`, `culprit`:
/// log times by pair; `change`: that was searched for, a
/// ln ratio; `gate`: the least that matters. The same sign, p <= 0.02 two-sided, and half of the
/// change convict; the same sign and p with a smaller change of at least `gate` convict of a part.
Sandwich judge_sandwich(std::span<const double> parent, std::span<const double> culprit,
                        double change, double gate, const stats::PairSwapPlan& swaps);

/// Commits [first, last] after a good end; another culprit may be among them.
struct BisectionRange {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// The ranges on both sides of convicted suspects, where a remainder of at least `gate` is searched
/// for: each with ends of its own, which are verified first. Empty where nothing remains.
std::vector<BisectionRange> remaining_ranges(std::size_t commits, std::size_t first,
                                             std::size_t last, double remainder, double gate);

}  // namespace assay
