#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::stats {

/// Where a series most likely changes its level once, judged by ranks alone: neither the noise's
/// distribution nor its scale matters, as long as the order of values without a change is random.

/// |W - E W| / sd W of the rank sum W of the first k values, by k; 0 if a part would have fewer
/// than `min_segment` values, and everywhere if all values are equal. Midranks; sd with the
/// correction for ties. `values`: no NaN. Pure; O(n log n).
/// Source: Pettitt, A Non-parametric Approach to the Change-point Problem, Appl. Stat. 28 (1979),
/// here each split on a scale of its own, so that the ends are not at a disadvantage.
std::vector<double> rank_statistics(std::span<const double> values, std::size_t min_segment);

struct RankScan {
  std::size_t split = 0;  ///< Index of the first value after the change; 0 if there is no split.
  double statistic = 0;   ///< The largest of rank_statistics.
};

/// Same preconditions and cost.
RankScan scan_ranks(std::span<const double> values, std::size_t min_segment);

/// The largest statistics of `permutations` random orders of `length` distinct values, ascending:
/// the scan's distribution without a change. Same seed, same result everywhere.
/// O(permutations * length).
std::vector<double> simulate_rank_scan(std::size_t length, std::size_t min_segment,
                                       std::size_t permutations, std::uint64_t seed);

/// Shortest and longest series of the table below, and the least part that it was made for.
inline constexpr std::size_t kRankScanLeast = 10;
inline constexpr std::size_t kRankScanMost = 200;
inline constexpr std::size_t kRankScanMinSegment = 5;

/// The statistic that a scan without any change exceeds with probability `alpha`, from a generated
/// table (studies/history/table_main.cpp: 100,000 permutations for each length). The squares of the
/// tabulated values at 5 %, 1 % and 0.1 % are interpolated, and beyond them extrapolated, over
/// ln alpha. `length` from kRankScanLeast to kRankScanMost, `alpha` in (0, 1). O(1).
double rank_scan_critical_value(std::size_t length, double alpha);

/// The inverse: the probability of at least this statistic without a change, from that of two parts
/// that lie wholly apart, or 1e-9, to 1.
double rank_scan_p_value(std::size_t length, double statistic);

}  // namespace assay::stats
