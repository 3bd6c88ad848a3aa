#include "assay/stats/pair_test.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/stats/quantile.h"

namespace assay::stats {
namespace {

constexpr std::size_t kWordBits = 64;
constexpr std::size_t kByteBits = 8;
constexpr std::size_t kByteValues = 256;
constexpr std::size_t kStatistics = 3;

/// Rows of one bit per pair, 1 where it is swapped; row 0 swaps none.
struct Swaps {
  std::size_t pairs = 0;
  std::size_t rows = 0;
  std::vector<std::uint64_t> bits;  ///< Rows one after the other; the first pair is the lowest bit.

  std::size_t words() const { return (pairs + kWordBits - 1) / kWordBits; }
  std::span<const std::uint64_t> row(std::size_t index) const {
    return std::span(bits).subspan(index * words(), words());
  }
};

bool is_swapped(std::span<const std::uint64_t> row, std::size_t pair) {
  return (row[pair / kWordBits] >> pair % kWordBits & 1U) != 0;
}

Swaps all_swaps(std::size_t pairs) {
  Swaps swaps{.pairs = pairs, .rows = std::size_t{1} << pairs, .bits = {}};
  swaps.bits.resize(swaps.rows);
  std::iota(swaps.bits.begin(), swaps.bits.end(), std::uint64_t{0});
  return swaps;
}

/// Takes the generator's bits as they come: a standard distribution would differ by library.
Swaps random_swaps(std::size_t pairs, const PairSwapPlan& plan) {
  Swaps swaps{.pairs = pairs, .rows = static_cast<std::size_t>(plan.draws) + 1, .bits = {}};
  const auto words = swaps.words();
  swaps.bits.resize(swaps.rows * words);
  std::mt19937_64 random(plan.seed);
  std::generate(swaps.bits.begin() + static_cast<std::ptrdiff_t>(words), swaps.bits.end(), random);
  if (const auto used = pairs % kWordBits; used != 0) {
    for (auto last = words - 1; last < swaps.bits.size(); last += words) {
      swaps.bits[last] &= (std::uint64_t{1} << used) - 1;
    }
  }
  return swaps;
}

Swaps make_swaps(std::size_t pairs, const PairSwapPlan& plan) {
  ASSAY_CHECK(pairs > 0 && plan.draws > 0 && plan.exact_up_to <= 20);
  return std::cmp_less_equal(pairs, plan.exact_up_to) ? all_swaps(pairs)
                                                      : random_swaps(pairs, plan);
}

struct Item {
  double value = 0;
  std::uint32_t pair = 0;
  std::uint8_t is_b = 0;
};

/// All 2n values in ascending order, those of b moved down by `theta`.
std::vector<Item> pool(std::span<const double> a, std::span<const double> b, double theta) {
  std::vector<Item> items;
  items.reserve(2 * a.size());
  for (std::uint32_t pair = 0; pair < a.size(); ++pair) {
    items.push_back({.value = a[pair], .pair = pair, .is_b = 0});
    items.push_back({.value = b[pair] - theta, .pair = pair, .is_b = 1});
  }
  std::ranges::sort(items, {}, &Item::value);
  return items;
}

/// Twice (midrank of b less midrank of a), by pair.
std::vector<std::int64_t> rank_differences(std::span<const Item> items) {
  std::vector<std::int64_t> differences(items.size() / 2);
  for (std::size_t first = 0; first < items.size();) {
    auto last = first + 1;
    while (last < items.size() && items[last].value == items[first].value) {
      ++last;
    }
    const auto doubled_midrank = static_cast<std::int64_t>(first + last + 1);
    for (; first < last; ++first) {
      differences[items[first].pair] += items[first].is_b != 0 ? doubled_midrank : -doubled_midrank;
    }
  }
  return differences;
}

/// Sums of the differences whose bits are set, for each value of each byte of a row.
std::vector<std::int64_t> sums_by_byte(std::span<const std::int64_t> differences) {
  std::vector<std::int64_t> sums;
  for (std::size_t first = 0; first < differences.size(); first += kByteBits) {
    const auto table = sums.size();
    sums.resize(table + kByteValues);
    const auto count = std::min(kByteBits, differences.size() - first);
    for (std::size_t value = 1; value < std::size_t{1} << count; ++value) {
      const auto lowest = static_cast<std::size_t>(std::countr_zero(value));
      sums[table + value] = sums[table + (value & (value - 1))] + differences[first + lowest];
    }
  }
  return sums;
}

/// For each row of swaps, |sum of the differences|; a swap turns a difference's sign.
std::vector<double> absolute_sums(const Swaps& swaps, std::span<const std::int64_t> differences) {
  const auto tables = sums_by_byte(differences);
  const auto total = std::accumulate(differences.begin(), differences.end(), std::int64_t{0});
  std::vector<double> sums(swaps.rows);
  for (std::size_t index = 0; index < swaps.rows; ++index) {
    const auto row = swaps.row(index);
    std::int64_t swapped = 0;
    for (std::size_t byte = 0; byte * kByteValues < tables.size(); ++byte) {
      const auto value =
          row[byte / sizeof(std::uint64_t)] >> byte % sizeof(std::uint64_t) * kByteBits &
          (kByteValues - 1);
      swapped += tables[byte * kByteValues + value];
    }
    sums[index] = static_cast<double>(std::abs(total - 2 * swapped));
  }
  return sums;
}

/// |Lower quartile of one side less that of the other|, row by row of the swaps.
class QuartileGap {
 public:
  QuartileGap(const Swaps& swaps, std::span<const Item> items)
      : swaps_(swaps),
        items_(items),
        position_(static_cast<double>(swaps.pairs - 1) * 0.25),
        below_(static_cast<std::size_t>(position_)),
        above_(std::min(below_ + 1, swaps.pairs - 1)),
        sides_{std::vector<double>(swaps.pairs), std::vector<double>(swaps.pairs)} {}

  /// Walks the common order and deals each value to its side, until both have what the quartile
  /// needs.
  double of_row(std::size_t index) {
    const auto row = swaps_.row(index);
    std::array<std::size_t, 2> dealt{};
    for (auto item = items_.begin(); std::min(dealt[0], dealt[1]) <= above_; ++item) {
      const std::size_t side = item->is_b ^ static_cast<std::uint8_t>(is_swapped(row, item->pair));
      sides_[side][dealt[side]++] = item->value;
    }
    return std::abs(quartile(sides_[1]) - quartile(sides_[0]));
  }

 private:
  double quartile(const std::vector<double>& side) const {
    return std::lerp(side[below_], side[above_], position_ - static_cast<double>(below_));
  }

  const Swaps& swaps_;
  std::span<const Item> items_;
  double position_;
  std::size_t below_;
  std::size_t above_;
  std::array<std::vector<double>, 2> sides_;
};

std::size_t count_from(std::span<const double> values, double least) {
  return static_cast<std::size_t>(
      std::ranges::count_if(values, [least](double value) { return value >= least; }));
}

/// The least value that at most `most` of the values reach.
double critical_value(std::vector<double> values, std::size_t most) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(most) - 1;
  std::ranges::nth_element(values, at, std::ranges::greater());
  const double value = *at;
  return count_from(values, value) <= most
             ? value
             : std::nextafter(value, std::numeric_limits<double>::infinity());
}

/// Share of the rows whose least p is no greater than that of row 0. A row's p by one statistic is
/// the share of rows that reach its value, so the comparison is one with a critical value each.
double min_p(std::span<const std::vector<double>> statistics) {
  const auto rows = statistics.front().size();
  auto fewest = rows;
  for (const auto& values : statistics) {
    fewest = std::min(fewest, count_from(values, values.front()));
  }
  std::vector<std::uint8_t> is_extreme(rows);
  for (const auto& values : statistics) {
    const double critical = critical_value(values, fewest);
    for (std::size_t row = 0; row < rows; ++row) {
      is_extreme[row] |= static_cast<std::uint8_t>(values[row] >= critical);
    }
  }
  return static_cast<double>(std::ranges::count(is_extreme, 1)) / static_cast<double>(rows);
}

/// The statistics of one shift by row of the swaps, those that cost little first.
class ShiftTest {
 public:
  ShiftTest(std::span<const double> a, std::span<const double> b, double theta, const Swaps& swaps)
      : items_(pool(a, b, theta)), gap_(swaps, items_), rows_(swaps.rows) {
    const auto ranks = rank_differences(items_);
    std::vector<std::int64_t> signs(ranks.size());
    std::ranges::transform(ranks, signs.begin(), [](std::int64_t difference) {
      return static_cast<std::int64_t>(difference > 0) - static_cast<std::int64_t>(difference < 0);
    });
    statistics_[0] = absolute_sums(swaps, ranks);
    statistics_[1] = absolute_sums(swaps, signs);
  }

  double p_value() {
    add_gaps([](std::size_t /*extreme*/) { return false; });
    return min_p(statistics_);
  }

  /// Equals p_value() <= alpha, which lies between the least p of one statistic and as many
  /// times that as there are statistics: what that decides is not computed any further.
  bool is_rejected(double alpha) {
    const auto is_rare = [&](std::size_t extreme) {
      return static_cast<double>(extreme) / static_cast<double>(rows_) <= alpha;
    };
    const auto fewest = std::min(count_from(statistics_[0], statistics_[0].front()),
                                 count_from(statistics_[1], statistics_[1].front()));
    if (is_rare(kStatistics * fewest)) {
      return true;
    }
    const bool may_stop = !is_rare(fewest);
    const bool is_kept =
        add_gaps([&](std::size_t extreme) { return may_stop && !is_rare(extreme); });
    return !is_kept && min_p(statistics_) <= alpha;
  }

 private:
  /// Until `should_stop` of the rows that reach the first one's gap; whether it did.
  template <class ShouldStop>
  bool add_gaps(const ShouldStop& should_stop) {
    auto& gaps = statistics_[2];
    gaps.resize(rows_);
    std::size_t extreme = 0;
    for (std::size_t row = 0; row < rows_; ++row) {
      gaps[row] = gap_.of_row(row);
      extreme += gaps[row] >= gaps.front() ? 1 : 0;
      if (should_stop(extreme)) {
        return true;
      }
    }
    return false;
  }

  std::vector<Item> items_;
  QuartileGap gap_;
  std::size_t rows_;
  std::array<std::vector<double>, kStatistics> statistics_;
};

/// Distances from the estimate at which to look for the interval's end, ascending: the 1st, 2nd,
/// 4th, … pair difference on this side, the last, and where the sides lie wholly apart.
std::vector<double> scan_points(std::vector<double> distances, double apart) {
  std::erase_if(distances, [](double distance) { return distance <= 0; });
  std::ranges::sort(distances);
  std::vector<double> points;
  for (std::size_t rank = 1; rank < distances.size(); rank *= 2) {
    points.push_back(distances[rank - 1]);
  }
  if (!distances.empty()) {
    points.push_back(distances.back());
  }
  points.push_back(std::max(1.01 * apart, 1e-6));
  return points;
}

/// How far the interval reaches on one side, by a test of distances from the estimate.
double reach(std::span<const double> points, const std::function<bool(double)>& is_rejected) {
  constexpr double kRelativeTolerance = 1e-3;
  constexpr double kTolerance = 1e-8;
  auto outer = points.size();
  while (outer > 0 && is_rejected(points[outer - 1])) {
    --outer;
  }
  if (outer == points.size()) {
    return std::numeric_limits<double>::infinity();
  }
  double kept = outer == 0 ? 0 : points[outer - 1];
  double rejected = points[outer];
  while (rejected - kept > std::max(kTolerance, kRelativeTolerance * rejected)) {
    const double middle = std::midpoint(kept, rejected);
    (is_rejected(middle) ? rejected : kept) = middle;
  }
  return rejected;
}

/// The reach upwards (`direction` 1) or downwards (-1) from the estimate.
double reach_of_shift(std::span<const double> a, std::span<const double> b, double estimate,
                      double direction, const std::function<bool(double)>& is_rejected) {
  std::vector<double> distances(a.size());
  std::ranges::transform(b, a, distances.begin(), [=](double late, double early) {
    return direction * (late - early - estimate);
  });
  const auto [least_a, most_a] = std::ranges::minmax(a);
  const auto [least_b, most_b] = std::ranges::minmax(b);
  const double apart = direction > 0 ? most_b - least_a - estimate : estimate - least_b + most_a;
  return reach(scan_points(std::move(distances), apart),
               [&](double distance) { return is_rejected(estimate + direction * distance); });
}

}  // namespace

double pair_swap_p_value(std::span<const double> a, std::span<const double> b,
                         const PairSwapPlan& plan) {
  ASSAY_CHECK(!a.empty() && a.size() == b.size());
  return ShiftTest(a, b, 0, make_swaps(a.size(), plan)).p_value();
}

bool is_shift_rejected(std::span<const double> a, std::span<const double> b, double theta,
                       double alpha, const PairSwapPlan& plan) {
  ASSAY_CHECK(!a.empty() && a.size() == b.size() && alpha > 0 && alpha < 1);
  return ShiftTest(a, b, theta, make_swaps(a.size(), plan)).is_rejected(alpha);
}

Shift pair_shift(std::span<const double> a, std::span<const double> b, double alpha,
                 const PairSwapPlan& plan) {
  ASSAY_CHECK(!a.empty() && a.size() == b.size() && alpha > 0 && alpha < 1);
  const auto swaps = make_swaps(a.size(), plan);
  const auto is_rejected = [&](double theta) {
    return ShiftTest(a, b, theta, swaps).is_rejected(alpha);
  };
  std::vector<double> differences(a.size());
  std::ranges::transform(b, a, differences.begin(), std::minus());
  const double estimate = median(differences);
  return {.estimate = estimate,
          .low = estimate - reach_of_shift(a, b, estimate, -1, is_rejected),
          .high = estimate + reach_of_shift(a, b, estimate, 1, is_rejected),
          .confidence = 1 - alpha};
}

}  // namespace assay::stats
