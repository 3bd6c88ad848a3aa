#include "assay/stats/rank_scan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/stats/rank_scan_table.h"
#include "assay/stats/ranks.h"

namespace assay::stats {
namespace {

/// 1 - sum (t^3 - t) / (n^3 - n) over groups of t equal values, by their doubled midranks.
double tie_correction(std::span<const std::int64_t> ranks) {
  std::vector<std::int64_t> sorted(ranks.begin(), ranks.end());
  std::ranges::sort(sorted);
  const auto cube_less = [](double t) { return t * t * t - t; };
  double ties = 0;
  for (std::size_t first = 0; first < sorted.size();) {
    std::size_t end = first + 1;
    while (end < sorted.size() && sorted[end] == sorted[first]) {
      ++end;
    }
    ties += cube_less(static_cast<double>(end - first));
    first = end;
  }
  return 1 - ties / cube_less(static_cast<double>(sorted.size()));
}

bool has_ties(std::span<const std::int64_t> ranks) {
  // Distinct values have the doubled ranks 2, 4, …, 2n; the sum of squares is largest for them.
  const auto n = static_cast<std::int64_t>(ranks.size());
  const auto squares =
      std::transform_reduce(ranks.begin(), ranks.end(), std::int64_t{0}, std::plus<>(),
                            [](std::int64_t rank) { return rank * rank; });
  return 3 * squares != 2 * n * (n + 1) * (2 * n + 1);
}

/// sd of the doubled rank sum of k of n values is this times sqrt(k (n - k)).
double scale_of_sums(std::size_t n, double correction) {
  return std::sqrt(static_cast<double>(n + 1) / 3 * correction);
}

/// That all values of one part lie above all of the other, for parts of half the length: no
/// statistic is rarer.
double least_p_value(std::size_t length) {
  const std::size_t part = length / 2;
  const auto half = static_cast<double>(part);
  const auto n = static_cast<double>(length);
  return 2 * std::exp(std::lgamma(half + 1) + std::lgamma(n - half + 1) - std::lgamma(n + 1));
}

struct TablePoint {
  double alpha = 0;
  double square = 0;
};

std::array<TablePoint, kScanAlphas.size()> tabulated(std::size_t length) {
  ASSAY_CHECK(length >= kRankScanLeast && length <= kRankScanMost);
  const auto& row = kScanTable[length - kRankScanLeast];
  std::array<TablePoint, kScanAlphas.size()> points{};
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i] = {.alpha = std::log(kScanAlphas[i]),
                 .square = static_cast<double>(row[i]) * static_cast<double>(row[i])};
  }
  return points;
}

}  // namespace

std::vector<double> rank_statistics(std::span<const double> values, std::size_t min_segment) {
  const std::size_t n = values.size();
  std::vector<double> statistics(n, 0.0);
  const auto least = std::max<std::size_t>(min_segment, 1);
  if (n < 2 * least) {
    return statistics;
  }
  const auto ranks = doubled_midranks(values);
  const double correction = has_ties(ranks) ? tie_correction(ranks) : 1;
  if (correction <= 0) {
    return statistics;
  }
  const double scale = scale_of_sums(n, correction);
  std::int64_t excess = 0;  // The doubled rank sum less its mean.
  for (std::size_t k = 1; k + least <= n; ++k) {
    excess += ranks[k - 1] - static_cast<std::int64_t>(n + 1);
    if (k >= least) {
      statistics[k] = std::abs(static_cast<double>(excess)) /
                      (scale * std::sqrt(static_cast<double>(k * (n - k))));
    }
  }
  return statistics;
}

RankScan scan_ranks(std::span<const double> values, std::size_t min_segment) {
  const auto statistics = rank_statistics(values, min_segment);
  const auto best = std::ranges::max_element(statistics);
  if (best == statistics.end() || *best <= 0) {
    return {};
  }
  return {.split = static_cast<std::size_t>(best - statistics.begin()), .statistic = *best};
}

std::vector<double> simulate_rank_scan(std::size_t length, std::size_t min_segment,
                                       std::size_t permutations, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> factors(length + 1, 0.0);
  const double scale = scale_of_sums(length, 1);
  for (std::size_t k = min_segment; k + min_segment <= length; ++k) {
    factors[k] = 1 / (scale * std::sqrt(static_cast<double>(k * (length - k))));
  }
  std::vector<std::int64_t> ranks(length);
  std::iota(ranks.begin(), ranks.end(), std::int64_t{1});
  std::vector<double> largest(permutations);
  for (double& most : largest) {
    for (std::size_t i = length; i > 1; --i) {
      std::swap(ranks[i - 1], ranks[random() % i]);
    }
    std::int64_t excess = 0;
    most = 0;
    for (std::size_t k = 1; k <= length; ++k) {
      excess += 2 * ranks[k - 1] - static_cast<std::int64_t>(length + 1);
      most = std::max(most, std::abs(static_cast<double>(excess)) * factors[k]);
    }
  }
  std::ranges::sort(largest);
  return largest;
}

double rank_scan_critical_value(std::size_t length, double alpha) {
  ASSAY_CHECK(alpha > 0 && alpha < 1);
  const auto points = tabulated(length);
  const double wanted = std::log(alpha);
  const std::size_t left = wanted > points[1].alpha ? 0 : 1;
  const auto& [from, from_square] = points[left];
  const auto& [to, to_square] = points[left + 1];
  const double square = std::lerp(from_square, to_square, (wanted - from) / (to - from));
  return std::sqrt(std::max(square, 0.0));
}

double rank_scan_p_value(std::size_t length, double statistic) {
  const auto points = tabulated(length);
  const double square = statistic * statistic;
  const std::size_t left = square < points[1].square ? 0 : 1;
  const auto& [from, from_square] = points[left];
  const auto& [to, to_square] = points[left + 1];
  const double share = (square - from_square) / (to_square - from_square);
  return std::clamp(std::exp(std::lerp(from, to, share)), std::max(least_p_value(length), 1e-9),
                    1.0);
}

}  // namespace assay::stats
