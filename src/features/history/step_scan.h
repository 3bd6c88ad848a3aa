#pragma once

#include "features/history/rule.h"

#include <cstddef>
#include <span>
#include <vector>

namespace assay::history {

/// Values on either side that a shift is computed from: more would only add slow changes.
inline constexpr std::size_t kShiftPoints = 50;

/// A change of the level of values, by indices of them.
struct FoundStep {
  std::size_t first = 0;            ///< First value of the new level.
  std::size_t plausible_first = 0;  ///< Earliest and latest split that may be the right one.
  std::size_t plausible_last = 0;
  double statistic = 0;
  double critical_value = 0;
  double autocorrelation = 0;  ///< For which the critical value was raised, else 0.
  double change = 0;           ///< From the level before; set for a series without noise.
};

/// Finds steps by rank scans (assay/stats/rank_scan.h), ascending.
///
/// Windows of rule.window values are split at the largest statistic as long as it exceeds the
/// critical value of their length, and so are their parts. A window with steps is followed by one
/// that begins at the last of them, one without by one that begins at its middle. Where the values
/// of a window, less the medians of the parts found, have a lag-1 autocorrelation r above
/// rule.least_autocorrelation, the window is scanned again with critical values times
/// sqrt((1 + r) / (1 - r)). Then each step is placed anew between its neighbors, and steps by which
/// the Hodges-Lehmann shift is below `min_effect` are taken out, the least first.
///
/// `values`: by position, no NaN, without spikes. Pure and deterministic; about
/// O(n log rule.window) where steps are rare.
std::vector<FoundStep> find_steps(std::span<const double> values, const HistoryRule& rule,
                                  double min_effect);

/// The values that speak about a step, at most half a window on either side.
struct Surroundings {
  std::span<const double> before;
  std::span<const double> after;
};
Surroundings surroundings_of(std::span<const double> values, const std::vector<FoundStep>& steps,
                             std::size_t index, std::size_t most_each);

}  // namespace assay::history
