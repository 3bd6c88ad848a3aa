#include "assay/stats/rank_scan.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <span>
#include <vector>

#include "assay/stats/ranks.h"

namespace assay::stats {
namespace {

using Values = std::vector<double>;

TEST(Ranks, ShareThoseOfEqualValues) {
  EXPECT_EQ(doubled_midranks(Values{3, 1, 3, 2}), (std::vector<std::int64_t>{7, 2, 7, 4}));
  EXPECT_TRUE(doubled_midranks({}).empty());
}

/// |W - E W| / sd W, with the variance over all orders of these ranks rather than by a formula.
double statistic_by_definition(const Values& values, std::size_t k) {
  const auto ranks = doubled_midranks(values);
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  double squares = 0;
  double sum = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const double rank = static_cast<double>(ranks[i]) / 2;
    mean += rank / n;
    squares += rank * rank / n;
    sum += i < k ? rank : 0;
  }
  const auto first = static_cast<double>(k);
  const double variance = first * (n - first) / (n - 1) * (squares - mean * mean);
  return std::abs(sum - first * mean) / std::sqrt(variance);
}

TEST(RankScan, IsTheStandardizedRankSumOfEachSplit) {
  const Values values = {1, 5, 2, 2, 9, 7, 7, 8, 3, 7};
  const auto statistics = rank_statistics(values, 2);
  EXPECT_EQ(statistics[1], 0);
  EXPECT_EQ(statistics[9], 0);
  for (std::size_t k = 2; k <= 8; ++k) {
    EXPECT_NEAR(statistics[k], statistic_by_definition(values, k), 1e-12) << k;
  }
}

TEST(RankScan, PutsTheSplitBeforeTheFirstValueOfTheNewLevel) {
  Values values(30, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(i % 5) + (i >= 12 ? 10 : 0);
  }
  EXPECT_EQ(scan_ranks(values, 5).split, 12U);
}

TEST(RankScan, HasNoSplitWithoutRoomOrDifference) {
  EXPECT_EQ(scan_ranks(Values{1, 2, 3, 4, 5, 6, 7, 8, 9}, 5).split, 0U);
  EXPECT_EQ(scan_ranks(Values(40, 3.0), 5).split, 0U);
  EXPECT_EQ(scan_ranks(std::span<const double>(), 5).split, 0U);
}

// The shares have a standard error of 0.35 and 0.16 %.
TEST(RankScan, ExceedsTheTableAsOftenAsItSays) {
  for (const std::size_t length : {10U, 11U, 37U, 100U, 200U}) {
    const auto largest = simulate_rank_scan(length, kRankScanMinSegment, 4000, 7);
    for (const double alpha : {0.05, 0.01}) {
      const auto critical = rank_scan_critical_value(length, alpha);
      const auto beyond =
          std::ranges::count_if(largest, [&](double one) { return one > critical; });
      EXPECT_LE(beyond, 4000 * alpha * 1.5) << length << " " << alpha;
      EXPECT_GE(beyond, length < 12 ? 0 : 4000 * alpha * 0.6) << length << " " << alpha;
    }
  }
}

TEST(RankScan, TurnsStatisticsIntoProbabilities) {
  for (const double alpha : {0.2, 0.05, 0.02, 0.01, 0.004, 0.001, 1e-5}) {
    EXPECT_NEAR(rank_scan_p_value(100, rank_scan_critical_value(100, alpha)) / alpha, 1, 1e-9);
  }
  EXPECT_EQ(rank_scan_p_value(100, 0), 1);
  // Five values all above five others: two of the 252 ways to divide ten.
  EXPECT_NEAR(rank_scan_p_value(10, 2.612), 2 / 252.0, 1e-12);
}

}  // namespace
}  // namespace assay::stats
