#include "assay/stats/rank_sum.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "assay/base/result.h"
#include "assay/stats/quantile.h"
#include "assay/stats/ranks.h"

namespace assay::stats {
namespace {

/// How many ways there are to choose `count` of the ranks, by their sum; as shares of all ways.
std::vector<double> distribution_of_sums(const std::vector<std::int64_t>& ranks,
                                         std::size_t count) {
  const auto total =
      static_cast<std::size_t>(std::accumulate(ranks.begin(), ranks.end(), std::int64_t{0}));
  std::vector<std::vector<double>> ways(count + 1, std::vector<double>(total + 1, 0.0));
  ways[0][0] = 1;
  for (const auto rank : ranks) {
    const auto step = static_cast<std::size_t>(rank);
    for (std::size_t chosen = count; chosen-- > 0;) {
      for (std::size_t sum = 0; sum + step <= total; ++sum) {
        ways[chosen + 1][sum + step] += ways[chosen][sum];
      }
    }
  }
  auto& sums = ways[count];
  const double all = std::accumulate(sums.begin(), sums.end(), 0.0);
  std::ranges::for_each(sums, [all](double& share) { share /= all; });
  return sums;
}

/// P(U = u) for u from 0 to `most`, U being the number of pairs in which a value of a sample of n
/// lies below one of a sample of m, all distinct and of one distribution: the coefficients of the
/// Gaussian binomial (n + m over m), divided by their sum.
std::vector<double> shares_of_u(std::size_t n, std::size_t m, std::size_t most) {
  std::vector<double> shares(most + 1, 0.0);
  shares[0] = 1;
  double all = 1;
  for (std::size_t i = 1; i <= m; ++i) {
    for (std::size_t u = most; u >= n + i; --u) {
      shares[u] -= shares[u - (n + i)];
    }
    for (std::size_t u = i; u <= most; ++u) {
      shares[u] += shares[u - i];
    }
    all *= static_cast<double>(n + i) / static_cast<double>(i);
  }
  std::ranges::for_each(shares, [all](double& share) { share /= all; });
  return shares;
}

double p_value_of(const std::vector<double>& shares, double mean, std::int64_t seen) {
  const double distance = std::abs(static_cast<double>(seen) - mean);
  double p = 0;
  for (std::size_t sum = 0; sum < shares.size(); ++sum) {
    if (std::abs(static_cast<double>(sum) - mean) >= distance) {
      p += shares[sum];
    }
  }
  return std::min(p, 1.0);
}

}  // namespace

double rank_sum_p_value(std::span<const double> a, std::span<const double> b) {
  ASSAY_CHECK(!a.empty() && !b.empty());
  std::vector<double> values(b.begin(), b.end());
  values.insert(values.end(), a.begin(), a.end());
  const auto ranks = doubled_midranks(values);
  const auto last = ranks.begin() + static_cast<std::ptrdiff_t>(b.size());
  const auto seen = std::accumulate(ranks.begin(), last, std::int64_t{0});
  const double mean = static_cast<double>(b.size()) * static_cast<double>(values.size() + 1);
  return p_value_of(distribution_of_sums(ranks, b.size()), mean, seen);
}

UnpairedShift unpaired_shift(std::span<const double> a, std::span<const double> b, double alpha) {
  ASSAY_CHECK(!a.empty() && !b.empty() && alpha > 0 && alpha < 1);
  std::vector<double> differences;
  for (const double y : b) {
    for (const double x : a) {
      differences.push_back(y - x);
    }
  }
  std::ranges::sort(differences);
  const auto half = differences.size() / 2;
  const auto shares = shares_of_u(a.size(), b.size(), half);
  // The most differences that can be left out at each end: P(U < cut) <= alpha / 2.
  std::size_t cut = 0;
  double below = 0;
  while (cut < half && below + shares[cut] <= alpha / 2) {
    below += shares[cut];
    ++cut;
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  UnpairedShift shift{.estimate = quantile_of_sorted(differences, 0.5),
                      .low = -kInfinity,
                      .high = kInfinity,
                      .confidence = 1};
  if (cut > 0) {
    shift.low = differences[cut - 1];
    shift.high = differences[differences.size() - cut];
    shift.confidence = 1 - 2 * below;
  }
  return shift;
}

}  // namespace assay::stats
