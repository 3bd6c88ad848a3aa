#pragma once

#include "pool.h"

#include <cstdint>
#include <map>
#include <vector>

#include "assay/stats/looks.h"

namespace assay::validation {

/// What came of comparisons that `assay compare` would have made, its looks and its confirmation on
/// fresh pairs included, with pairs drawn from a cell.
struct Sequential {
  double gate_ratio = 0;
  std::map<stats::PairVerdict, int> verdicts;  ///< Number of trials by verdict.
  int confirmed = 0;       ///< Number confirmed among those found slower or faster.
  int rejected = 0;        ///< Found at a look of at most 40 pairs.
  int rejected_right = 0;  ///< Those of them in the direction of the effect.
  double pairs = 0;        ///< Mean, without those of the confirmation.
};

/// The test and its 95 % interval on a number of pairs that was fixed before.
struct Fixed {
  int pairs = 0;
  int rejected = 0;        ///< p <= 0.05.
  int rejected_right = 0;  ///< In the direction of the effect.
  int covered = 0;         ///< The interval holds the truth.
};

struct CellResult {
  const Cell* cell = nullptr;
  int trials = 0;
  double truth = 0;  ///< exp(ln ratio) - 1: 0, or with an effect the median over all pairs.
  double clarity =
      0;  ///< Truth in standard errors of 40 pairs, by their median absolute deviation.
  std::vector<Sequential> sequential;
  std::vector<Fixed> fixed;
};

/// Draws whole blocks with replacement. Where nothing differs, a coin swaps A and B of each block,
/// so that the truth is 0 by construction. The same seed gives the same result.
CellResult run_trials(const Cell& cell, int trials, std::uint64_t seed);

/// The answer of one comparison over a cell's pairs as they were recorded.
struct Answer {
  stats::PairVerdict verdict = stats::PairVerdict::kInconclusive;
  int pairs = 0;
  double ratio = 0;  ///< B / A - 1
  double low = 0;    ///< At the look's alpha.
  double high = 0;
};

/// Looks at 10, 20, 40, 80 pairs as far as the cell has them. At least ten pairs.
Answer judge_as_recorded(const Cell& cell, double gate_ratio, std::uint64_t seed);

}  // namespace assay::validation
