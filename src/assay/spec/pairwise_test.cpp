#include "assay/spec/pairwise.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace assay {
namespace {

using Pairs = std::set<std::tuple<std::size_t, int, std::size_t, int>>;

Pairs pairs_of(const std::vector<Coordinates>& cells) {
  Pairs pairs;
  for (const auto& cell : cells) {
    for (std::size_t a = 0; a < cell.size(); ++a) {
      for (std::size_t b = a + 1; b < cell.size(); ++b) {
        pairs.emplace(a, cell[a], b, cell[b]);
      }
    }
  }
  return pairs;
}

std::vector<Coordinates> product(const std::vector<int>& sizes) {
  std::vector<Coordinates> cells = {{}};
  for (const int size : sizes) {
    std::vector<Coordinates> wider;
    for (const auto& cell : cells) {
      for (int value = 0; value < size; ++value) {
        wider.push_back(cell);
        wider.back().push_back(value);
      }
    }
    cells = std::move(wider);
  }
  return cells;
}

std::vector<Coordinates> picked(const std::vector<Coordinates>& cells) {
  std::vector<Coordinates> chosen;
  for (const auto index : pick_pairwise(cells)) {
    chosen.push_back(cells[index]);
  }
  return chosen;
}

TEST(Pairwise, CoversEveryPairWithFewCells) {
  const auto cells = product({3, 3, 3, 3});
  const auto chosen = picked(cells);
  EXPECT_EQ(pairs_of(chosen), pairs_of(cells));
  EXPECT_LE(chosen.size(), 15U) << "9 is the least, 81 all";
}

TEST(Pairwise, CoversEveryPairThatHolesLeave) {
  std::mt19937_64 generator(1);
  for (int round = 0; round < 40; ++round) {
    std::vector<int> sizes;
    for (std::uint64_t axis = 0; axis < 2 + generator() % 4; ++axis) {
      sizes.push_back(1 + static_cast<int>(generator() % 4));
    }
    auto cells = product(sizes);
    std::erase_if(cells, [&](const Coordinates&) { return generator() % 3 == 0; });
    const auto chosen = picked(cells);
    EXPECT_EQ(pairs_of(chosen), pairs_of(cells));
    EXPECT_LE(chosen.size(), cells.size());
  }
}

TEST(Pairwise, IsDeterministicAndAscending) {
  const auto cells = product({4, 3, 2});
  const auto first = pick_pairwise(cells);
  EXPECT_EQ(first, pick_pairwise(cells));
  EXPECT_TRUE(std::is_sorted(first.begin(), first.end()));
}

TEST(Pairwise, TakesNothingOfNothing) { EXPECT_TRUE(pick_pairwise({}).empty()); }

}  // namespace
}  // namespace assay
