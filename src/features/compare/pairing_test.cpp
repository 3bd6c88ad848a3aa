#include "features/compare/pairing.h"

#include "features/compare/pair_runner.h"

#include <gtest/gtest.h>

#include "assay/record/comparison.h"

namespace assay {
namespace {

TEST(Pairing, IsDuetOnlyWhereThatAnswersSooner) {
  PairingPilot pilot{.pairs = 10,
                     .interleaved_sigma = 0.01,
                     .duet_sigma = 0.008,
                     .interleaved_pair_ns = 100,
                     .duet_pair_ns = 60};
  EXPECT_EQ(better_pairing(pilot), Pairing::kDuet);
  // Half the time a pair, and twice the spread: four times the pairs.
  pilot.duet_pair_ns = 50;
  pilot.duet_sigma = 0.02;
  EXPECT_EQ(better_pairing(pilot), Pairing::kInterleaved);
}

TEST(Pairing, StaysInterleavedWhereBothAreAlike) {
  EXPECT_EQ(better_pairing({.pairs = 10}), Pairing::kInterleaved);
}

TEST(Duet, NeedsCoresForBothSides) {
  EXPECT_TRUE(has_cores_for_duet(1, 2));
  EXPECT_FALSE(has_cores_for_duet(2, 2));
  EXPECT_FALSE(has_cores_for_duet(0, 8)) << "how many threads a side has is not known";
}

}  // namespace
}  // namespace assay
