#include "features/compare/pairs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <vector>

#include "assay/record/comparison.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/stats/looks.h"
#include "assay/stats/pair_test.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Launch launch_of(int pair, Side side, std::int64_t ns, std::int64_t major_faults = 0,
                 PairPhase phase = PairPhase::kSearch) {
  Launch launch;
  launch.place = PairPlace{.pair = pair, .side = side, .phase = phase};
  Measurement measured{.iterations = 3, .wall_ns = 3 * ns, .major_faults = major_faults};
  measured.samples = {.bind_ns = {1, 1, 1}, .execute_ns = {ns, ns, ns}, .fetch_ns = {1, 1, 1}};
  launch.measurement = measured;
  return launch;
}

TEST(Pairs, CountWhenBothSidesAreThere) {
  Pairs pairs;
  pairs.add(launch_of(0, Side::kA, 100));
  EXPECT_EQ(pairs.count(PairPhase::kSearch), 0);
  pairs.add(launch_of(0, Side::kB, 110));
  pairs.add(launch_of(0, Side::kCanary, 100));
  EXPECT_EQ(pairs.count(PairPhase::kSearch), 1);
  EXPECT_THAT(pairs.sides("steady_floor_ns", PairPhase::kSearch).b, ElementsAre(std::log(110.0)));
}

/// A launch whose program tells a number by its own name, and no times.
Launch rated_launch(int pair, Side side, double rate, Better better) {
  Launch launch;
  launch.place = PairPlace{.pair = pair, .side = side};
  launch.measurement =
      Measurement{.times = TimesTold::kNone,
                  .metrics = {{.name = "rate", .unit = "1/s", .better = better, .value = rate}}};
  return launch;
}

PairEstimate estimate_of_rates(Better better) {
  Pairs pairs;
  for (int pair = 0; pair < 10; ++pair) {
    pairs.add(rated_launch(pair, Side::kA, 100 + pair, better));
    pairs.add(rated_launch(pair, Side::kB, 150 + pair, better));
  }
  const auto estimates = estimate_all(pairs, {.metric = "program:rate"}, {});
  EXPECT_EQ(estimates.size(), 1U);
  return estimates.front();
}

TEST(Pairs, OfAProgramsOwnMetricAreFasterInItsOwnSense) {
  const auto higher = estimate_of_rates(Better::kHigher);
  EXPECT_EQ(higher.metric, "program:rate");
  EXPECT_EQ(higher.unit, "1/s");
  EXPECT_GT(higher.ratio, 0.4);
  EXPECT_EQ(higher.verdict, ComparisonVerdict::kFaster);
  EXPECT_EQ(estimate_of_rates(Better::kLower).verdict, ComparisonVerdict::kSlower);
}

/// A time and, in the other test, the rate that is its reciprocal: the same launches told
/// otherwise.
Pairs pairs_of_times(unsigned seed, double ratio, bool as_rates) {
  Pairs pairs;
  for (int pair = 0; pair < 32; ++pair) {
    const auto phase = pair < 20 ? PairPhase::kSearch : PairPhase::kConfirmation;
    for (const auto side : {Side::kA, Side::kB, Side::kCanary}) {
      seed = seed * 1103515245U + 12345U;
      const double time = (100 + seed / 65536U % 97 / 50.0) * (side == Side::kB ? ratio : 1);
      auto launch = rated_launch(pair, side, as_rates ? 1 / time : time,
                                 as_rates ? Better::kHigher : Better::kLower);
      launch.place->phase = phase;
      launch.measurement->metrics[0].unit = as_rates ? "1/s" : "ns";
      pairs.add(launch);
    }
  }
  return pairs;
}

TEST(Pairs, OfARateSayOfItWhatThoseOfItsReciprocalSay) {
  const ComparisonPlan plan{.metric = "program:rate"};
  const stats::PairSwapPlan swaps{.draws = 199, .exact_up_to = 6};
  for (const double ratio : {0.981, 0.9805, 0.995, 1.004, 1.0202, 1.03}) {
    for (unsigned seed = 1; seed < 3; ++seed) {
      const auto times = pairs_of_times(seed, ratio, false);
      const auto rates = pairs_of_times(seed, ratio, true);
      const auto time = estimate_all(times, plan, swaps).front();
      const auto rate = estimate_all(rates, plan, swaps).front();
      EXPECT_EQ(time.verdict, rate.verdict) << ratio;
      EXPECT_EQ(time.is_confirmed, rate.is_confirmed) << ratio;
      EXPECT_DOUBLE_EQ(time.p_value, rate.p_value) << ratio;
      EXPECT_NEAR((1 + time.ratio) * (1 + rate.ratio), 1, 1e-12) << ratio;
      EXPECT_EQ(estimate_canary(times, plan, swaps)->verdict,
                estimate_canary(rates, plan, swaps)->verdict);
      const auto sides = [&plan](const Pairs& pairs) {
        return pairs.sides(plan.metric, PairPhase::kSearch);
      };
      const stats::LookPlan looks{
          .pairs = {20}, .alpha = {0.025}, .gate = sides(times).gate(plan.gate_ratio)};
      const auto look_of = [&](const Pairs& pairs) {
        const auto both = sides(pairs);
        return estimate_of(plan.metric, pairs, both,
                           stats::judge_look(both.a, both.b, 0, looks, swaps));
      };
      EXPECT_EQ(look_of(times).verdict, look_of(rates).verdict) << ratio;
    }
  }
}

TEST(Pairs, OfANeutralMetricAreNeitherFasterNorSlower) {
  EXPECT_EQ(estimate_of_rates(Better::kNone).verdict, ComparisonVerdict::kChanged);
}

TEST(Pairs, AreLogarithmsOnlyWhereEveryValueIsAboveZero) {
  Pairs pairs;
  for (int pair = 0; pair < 3; ++pair) {
    pairs.add(rated_launch(pair, Side::kA, 4, Better::kLower));
    pairs.add(rated_launch(pair, Side::kB, pair, Better::kLower));
  }
  const auto sides = pairs.sides("program:rate", PairPhase::kSearch);
  EXPECT_EQ(sides.scale, MetricScale::kDifference);
  EXPECT_THAT(sides.b, ElementsAre(0, 0.25, 0.5));
  EXPECT_EQ(sides.without, 0);
  EXPECT_TRUE(sides.is_relative);
  EXPECT_DOUBLE_EQ(*sides.ratio_of(sides.differences().back()), -0.5);
}

TEST(Pairs, LeaveOutWhatWasReplaced) {
  Pairs pairs;
  for (int pair = 0; pair < 3; ++pair) {
    pairs.add(launch_of(pair, Side::kA, 100 + pair));
    pairs.add(launch_of(pair, Side::kB, 200 + pair));
  }
  pairs.replace(1);
  EXPECT_EQ(pairs.count(PairPhase::kSearch), 2);
  EXPECT_THAT(pairs.sides("steady_floor_ns", PairPhase::kSearch).a,
              ElementsAre(std::log(100.0), std::log(102.0)));
  EXPECT_THAT(pairs.replaced(), ElementsAre(1));
}

TEST(Pairs, AreDisturbedByEitherSideButNotByTheCanary) {
  Pairs pairs;
  pairs.add(launch_of(0, Side::kA, 100));
  pairs.add(launch_of(0, Side::kB, 100, /*major_faults=*/3));
  pairs.add(launch_of(1, Side::kA, 100));
  pairs.add(launch_of(1, Side::kCanary, 100, /*major_faults=*/3));
  EXPECT_TRUE(pairs.is_disturbed(0));
  EXPECT_FALSE(pairs.is_disturbed(1));
  EXPECT_EQ(pairs.count_disturbed(), 1);
  EXPECT_THAT(pairs.replaced(), IsEmpty()) << "what to do about it is the comparison's business";
}

/// Pairs all of which are disturbed, replaced as a comparison does after each block of two.
void add_disturbed_blocks(Pairs& pairs, int first, int blocks, PairPhase phase) {
  for (int pair = first; pair < first + 2 * blocks; pair += 2) {
    for (const int one : {pair, pair + 1}) {
      pairs.add(launch_of(one, Side::kA, 100, /*major_faults=*/3, phase));
      pairs.add(launch_of(one, Side::kB, 100, /*major_faults=*/0, phase));
    }
    std::ranges::for_each(pairs.find_replaceable(phase), [&](int one) { pairs.replace(one); });
  }
}

TEST(Pairs, AreReplacedUpToAFifthOfThoseSoFar) {
  Pairs pairs;
  add_disturbed_blocks(pairs, 0, 2, PairPhase::kSearch);
  EXPECT_EQ(pairs.count(PairPhase::kSearch), 4) << "one of four would be a quarter";
  add_disturbed_blocks(pairs, 4, 1, PairPhase::kSearch);
  EXPECT_THAT(pairs.replaced(), ElementsAre(0)) << "a pair of an earlier block";
  add_disturbed_blocks(pairs, 6, 17, PairPhase::kSearch);
  EXPECT_EQ(pairs.count(PairPhase::kSearch), 32) << "of 40 pairs on a machine that is always busy";
}

TEST(Pairs, AreReplacedInEachPhaseByItsOwnNumber) {
  Pairs pairs;
  add_disturbed_blocks(pairs, 0, 5, PairPhase::kSearch);
  EXPECT_THAT(pairs.replaced(), ElementsAre(0, 1));
  add_disturbed_blocks(pairs, 10, 2, PairPhase::kConfirmation);
  EXPECT_EQ(pairs.count(PairPhase::kConfirmation), 4);
  add_disturbed_blocks(pairs, 14, 1, PairPhase::kConfirmation);
  EXPECT_THAT(pairs.replaced(), ElementsAre(0, 1, 10));
  EXPECT_THAT(pairs.find_replaceable(PairPhase::kSearch), IsEmpty());
}

/// `count` pairs of a phase, numbered from `first`; B takes `ratio` times A's time, all of A
/// differ.
void add_pairs(Pairs& pairs, int first, int count, double ratio, PairPhase phase) {
  for (int pair = first; pair < first + count; ++pair) {
    const std::int64_t a = 1'000'000 + 10 * pair;
    pairs.add(launch_of(pair, Side::kA, a, 0, phase));
    pairs.add(launch_of(pair, Side::kB, static_cast<std::int64_t>(static_cast<double>(a) * ratio),
                        0, phase));
  }
}

const PairEstimate& floor_of(const std::vector<PairEstimate>& metrics) { return metrics.front(); }

TEST(Pairs, KeepTheirPhasesApart) {
  Pairs pairs;
  add_pairs(pairs, 0, 4, 1.0, PairPhase::kSearch);
  add_pairs(pairs, 4, 2, 1.0, PairPhase::kConfirmation);
  EXPECT_EQ(pairs.count(PairPhase::kSearch), 4);
  EXPECT_EQ(pairs.count(PairPhase::kConfirmation), 2);
  EXPECT_EQ(pairs.all_sides("steady_floor_ns").a.size(), 6U);
  EXPECT_EQ(pairs.launches(), 12);
}

TEST(Metrics, ThatChangedInTheSearchMustChangeAgain) {
  const ComparisonPlan plan;
  Pairs again;
  add_pairs(again, 0, 10, 1.1, PairPhase::kSearch);
  add_pairs(again, 10, 12, 1.1, PairPhase::kConfirmation);
  const auto confirmed = estimate_all(again, plan, {});
  EXPECT_EQ(floor_of(confirmed).is_confirmed, true);
  EXPECT_EQ(floor_of(confirmed).verdict, ComparisonVerdict::kSlower);

  Pairs gone;
  add_pairs(gone, 0, 10, 1.1, PairPhase::kSearch);
  for (int pair = 10; pair < 22; pair += 2) {
    add_pairs(gone, pair, 1, 1.01, PairPhase::kConfirmation);
    add_pairs(gone, pair + 1, 1, 0.99, PairPhase::kConfirmation);
  }
  const auto unconfirmed = estimate_all(gone, plan, {});
  EXPECT_EQ(floor_of(unconfirmed).is_confirmed, false);
  EXPECT_NE(floor_of(unconfirmed).verdict, ComparisonVerdict::kSlower);
}

TEST(Metrics, OfASearchAloneAreNotAskedToChangeAgain) {
  Pairs pairs;
  add_pairs(pairs, 0, 10, 1.1, PairPhase::kSearch);
  const auto metrics = estimate_all(pairs, {}, {});
  EXPECT_EQ(floor_of(metrics).is_confirmed, std::nullopt);
  EXPECT_EQ(floor_of(metrics).verdict, ComparisonVerdict::kSlower);
}

TEST(Contradiction, IsHalvesThatSayTheOpposite) {
  Pairs pairs;
  add_pairs(pairs, 0, 10, 1.05, PairPhase::kSearch);
  EXPECT_EQ(find_contradiction(pairs, {}, {}, {}), "");
  add_pairs(pairs, 10, 10, 0.95, PairPhase::kSearch);
  EXPECT_EQ(find_contradiction(pairs, {}, {}, {}),
            "the first half of the pairs says +5.0 %, the second -5.0 %");
}

TEST(Contradiction, IsAFloorThatGoesDownUnderAMedianThatGoesUp) {
  const std::vector<PairEstimate> metrics = {
      {.metric = "steady_floor_ns", .ratio = -0.04, .verdict = ComparisonVerdict::kFaster},
      {.metric = "steady_ns", .ratio = 0.06, .verdict = ComparisonVerdict::kSlower}};
  EXPECT_EQ(find_contradiction({}, metrics, {}, {}),
            "the floor changed by -4.0 %, the median by +6.0 %");
}

}  // namespace
}  // namespace assay
