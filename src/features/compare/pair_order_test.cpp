#include "features/compare/pair_order.h"

#include <algorithm>
#include <cstddef>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "assay/record/comparison.h"

namespace assay {
namespace {

using testing::AnyOf;
using testing::ElementsAre;

std::string sides_of(const std::vector<PairStep>& order) {
  std::string sides;
  for (const auto& step : order) {
    sides += step.side == Side::kA ? 'A' : step.side == Side::kB ? 'B' : 'c';
  }
  return sides;
}

TEST(BlockOrder, IsAbbaOrBaabByAFairCoin) {
  int abba = 0;
  for (int block = 0; block < 1000; ++block) {
    const auto sides = sides_of(block_order(7, block, false));
    ASSERT_THAT(sides, AnyOf("ABBA", "BAAB"));
    abba += sides == "ABBA" ? 1 : 0;
  }
  // A fair coin leaves 420 to 580 of 1000 once in some two million seeds.
  EXPECT_GT(abba, 420);
  EXPECT_LT(abba, 580);
}

TEST(BlockOrder, PutsTheLaunchesOfAPairSideBySideAndTheCanaryBesideAnA) {
  for (int block = 0; block < 200; ++block) {
    const auto order = block_order(1, block, true);
    ASSERT_THAT(sides_of(order), AnyOf("cABBA", "ABBAc", "BAcAB"));
    const auto canary = std::ranges::find(order, Side::kCanary, &PairStep::side) - order.begin();
    const auto is_its_a = [&](std::ptrdiff_t at) {
      return at >= 0 && at < std::ssize(order) &&
             order[static_cast<std::size_t>(at)].side == Side::kA &&
             order[static_cast<std::size_t>(at)].pair ==
                 order[static_cast<std::size_t>(canary)].pair;
    };
    EXPECT_TRUE(is_its_a(canary - 1) || is_its_a(canary + 1)) << sides_of(order);
    for (const auto& step : order) {
      EXPECT_EQ(step.pair / 2, block);
    }
  }
}

TEST(BlockOrder, IsTheSeedsAlone) {
  std::string one;
  std::string again;
  std::string other;
  for (int block = 0; block < 64; ++block) {
    one += sides_of(block_order(3, block, true));
    again += sides_of(block_order(3, block, true));
    other += sides_of(block_order(4, block, true));
  }
  EXPECT_EQ(one, again);
  EXPECT_NE(one, other);
}

}  // namespace
}  // namespace assay
