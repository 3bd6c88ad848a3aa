#include "assay/record/metric_scale.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <optional>

#include "assay/record/comparison.h"
#include "assay/record/metric.h"
#include "assay/record/unit.h"

namespace assay {
namespace {

using enum MetricScale;

TEST(MetricScale, IsTheRatioOfTimesSizesRatesEnergyAndPower) {
  for (const auto* unit : {"ns", "bytes", "1/s", "J", "W"}) {
    EXPECT_EQ(scale_of("program:x", unit), kRatio) << unit;
  }
  EXPECT_EQ(scale_of("throughput_per_s", "1/s"), kRatio);
  EXPECT_EQ(scale_of("instructions_per_inference", "count"), kRatio);
}

TEST(MetricScale, IsTheDifferenceOfCountsRatiosAndDecibels) {
  for (const auto* unit : {"count", "ratio", "dB", "", "furlongs"}) {
    EXPECT_EQ(scale_of("program:x", unit), kDifference) << unit;
  }
  EXPECT_EQ(scale_of("qdq.sqnr_db", "dB"), kDifference);
  EXPECT_EQ(scale_of("leak_bytes_per_load", "bytes"), kDifference);
}

TEST(MetricScale, OfAProgramsMetricIsNotThatOfAMetricWithItsName) {
  EXPECT_EQ(scale_of("program:net.leak_bytes_per_load", "bytes"), kRatio);
}

TEST(MetricScale, IsKnownForTheUnitOfEveryMetric) {
  for (const auto& definition : metric_definitions()) {
    EXPECT_TRUE(definition.unit.empty() || find_unit(definition.unit) != nullptr)
        << definition.name;
  }
}

TEST(Units, AreKeptInUnitsOfFactorOneAndTheirOwnScale) {
  for (const auto& unit : units()) {
    const auto* kept = find_unit(unit.kept);
    ASSERT_NE(kept, nullptr) << unit.name;
    EXPECT_EQ(kept->factor, 1) << unit.name;
    EXPECT_EQ(kept->scale, unit.scale) << unit.name;
    EXPECT_EQ(kept->better, unit.better) << unit.name;
  }
}

TEST(OffsetBetween, TurnsItsSignWithTheReciprocal) {
  const auto time = offset_between(kRatio, 12, 10);
  const auto rate = offset_between(kRatio, 1.0 / 12, 1.0 / 10);
  ASSERT_TRUE(time && rate);
  EXPECT_NEAR(*time, -*rate, 1e-15);
  EXPECT_EQ(direction_of_change(Better::kLower, *time), 1);
  EXPECT_EQ(direction_of_change(Better::kHigher, *rate), 1);
  EXPECT_NEAR(change_from_offset(kRatio, *time), 0.2, 1e-12);
}

TEST(OffsetBetween, HasNoRatioOfZeroAndTheDifferenceOfAnyFiniteNumbers) {
  EXPECT_EQ(offset_between(kRatio, 0, 5), std::nullopt);
  EXPECT_EQ(offset_between(kRatio, 5, 0), std::nullopt);
  EXPECT_EQ(offset_between(kRatio, -2, -1), std::nullopt);
  EXPECT_EQ(offset_between(kRatio, NAN, 1), std::nullopt);
  EXPECT_EQ(offset_between(kDifference, 0, 5), -5);
  EXPECT_EQ(offset_between(kDifference, HUGE_VAL, 5), std::nullopt);
}

TEST(OffsetOfAnEstimate, IsOfTheScaleThatIsAskedFor) {
  const PairEstimate times{.ratio = 0.25, .a_median = 8};
  EXPECT_DOUBLE_EQ(*offset_of(times, times.ratio, kRatio), std::log(1.25));
  EXPECT_DOUBLE_EQ(*offset_of(times, times.ratio, kDifference), 2);
  const PairEstimate counts{.ratio = -0.5, .scale = kDifference, .base = 10};
  EXPECT_DOUBLE_EQ(*offset_of(counts, counts.ratio, kDifference), -5);
  EXPECT_DOUBLE_EQ(*offset_of(counts, counts.ratio, kRatio), std::log(0.5));
  const PairEstimate from_zero{.ratio = 5, .scale = kDifference};
  EXPECT_EQ(offset_of(from_zero, from_zero.ratio, kDifference), 5);
  EXPECT_EQ(offset_of(from_zero, from_zero.ratio, kRatio), std::nullopt);
}

TEST(DirectionOfChange, IsNoneWithoutAChangeOrADirection) {
  EXPECT_EQ(direction_of_change(Better::kNone, 1), 0);
  EXPECT_EQ(direction_of_change(Better::kHigher, 0), 0);
  EXPECT_EQ(direction_of_change(Better::kLower, NAN), 0);
  EXPECT_EQ(direction_of_change(Better::kHigher, 1), -1);
}

}  // namespace
}  // namespace assay
