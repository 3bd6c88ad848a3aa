#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::history {

/// Limits from which on a series has changed. The defaults are those that docs/results/history.md
/// measured.
struct HistoryRule {
  double min_effect = 0.01;     ///< Least change that matters, of an offset (ln ratio: 1 %).
  double alpha = 0.01;          ///< False alarms of one scan without a change.
  std::size_t min_segment = 5;  ///< Points that a level has at least.
  std::size_t window = 200;     ///< Points that are scanned together, at most 200.
  double spike_sigmas = 4;      ///< Deviation of a point that is set aside.
  double least_autocorrelation = 0.15;  ///< Below it, values count as independent.
  double plausible_share = 0.9;  ///< Splits with this much of the largest statistic may be right.
  double confidence = 0.95;      ///< Coverage of the interval of a shift.
  double nomination_confidence = 0.99;  ///< Coverage of the prediction interval of the newest.
  std::size_t drift_points = 10;
  std::int64_t silent_commits = 20;
  std::int64_t silent_days = 14;
};

}  // namespace assay::history
