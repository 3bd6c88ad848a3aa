#include "features/history/analysis.h"

#include "features/history/epochs.h"
#include "features/history/rule.h"
#include "features/history/segment.h"
#include "features/history/series.h"
#include "features/history/testing/sample_series.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

#include "assay/record/metric.h"

namespace assay::history {
namespace {

SeriesAnalysis analyzed(const Series& series) {
  const auto& last = series.points.back();
  return analyze_series(series, {}, {.position = last.position, .unix_ns = last.unix_ns});
}

TEST(AnalyzeSeries, FindsAStepWithItsShiftAndCommits) {
  auto offsets = sample_offsets(120, 1);
  add_step(offsets, 70, 0.05);
  const auto analysis = analyzed(sample_series(offsets));
  ASSERT_EQ(analysis.steps.size(), 1U);
  const auto& step = analysis.steps.front();
  EXPECT_EQ(step.point, 70U);
  EXPECT_LE(step.last_before, 69U);
  EXPECT_GE(step.first_after, 70U);
  EXPECT_LT(step.shift.low, 0.05);
  EXPECT_GT(step.shift.high, 0.05);
  EXPECT_GE(step.shift.confidence, 0.95);
  EXPECT_LT(step.p_value, 1e-4);
  EXPECT_TRUE(step.is_firm);
  EXPECT_FALSE(step.is_gradual);
  ASSERT_EQ(analysis.segments.size(), 2U);
  EXPECT_EQ(analysis.segments[0].end, 70U);
  EXPECT_EQ(analysis.segments[1].cause, SegmentCause::kStep);
  EXPECT_NEAR(analysis.noise, 0.01, 0.004);
}

TEST(AnalyzeSeries, FindsAStepToALevelWithoutNoise) {
  auto offsets = sample_offsets(30, 6);
  offsets.insert(offsets.end(), 30, 0.5);
  const auto analysis = analyzed(sample_series(offsets));
  ASSERT_EQ(analysis.steps.size(), 1U);
  EXPECT_EQ(analysis.steps.front().point, 30U);
  EXPECT_TRUE(analysis.outliers.empty());
}

TEST(AnalyzeSeries, LeavesSmallStepsAndSpikesAlone) {
  auto offsets = sample_offsets(150, 2);
  add_step(offsets, 75, 0.006);
  offsets[20] += 0.2;
  offsets[100] -= 0.2;
  const auto analysis = analyzed(sample_series(offsets));
  EXPECT_TRUE(analysis.steps.empty());
  EXPECT_EQ(analysis.outliers, (std::vector<std::size_t>{20, 100}));
}

TEST(AnalyzeSeries, BlamesNoCommitForAnotherMachineMetricOrReference) {
  auto offsets = sample_offsets(120, 3);
  add_step(offsets, 30, 0.2);
  add_step(offsets, 60, -0.3);
  add_step(offsets, 90, 0.4);
  auto series = sample_series(offsets);
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    series.points[i].environment = i < 30 ? 0 : 1;
    series.points[i].metric_version = i < 60 ? 1 : 2;
    series.points[i].reference = i < 90 ? 0 : 1;
  }
  const auto analysis = analyzed(series);
  EXPECT_TRUE(analysis.steps.empty());
  ASSERT_EQ(analysis.segments.size(), 4U);
  EXPECT_EQ(analysis.segments[1].cause, SegmentCause::kEnvironment);
  EXPECT_EQ(analysis.segments[2].cause, SegmentCause::kMetric);
  EXPECT_EQ(analysis.segments[3].cause, SegmentCause::kReference);
  EXPECT_FALSE(analysis.drift.has_value());
}

TEST(AnalyzeSeries, TakesEveryChangeOfValuesWithoutNoise) {
  std::vector<double> offsets(9, 0.0);
  add_step(offsets, 8, 0.02);
  auto series = sample_series(offsets);
  for (auto& point : series.points) {
    point.has_interval = true;
    point.low = point.high = point.offset;
  }
  const auto analysis = analyzed(series);
  ASSERT_EQ(analysis.steps.size(), 1U);
  EXPECT_EQ(analysis.steps[0].point, 8U);
  EXPECT_EQ(analysis.steps[0].last_before, 7U);
  EXPECT_EQ(analysis.steps[0].first_after, 8U);
  EXPECT_DOUBLE_EQ(analysis.steps[0].shift.estimate, 0.02);
  EXPECT_FALSE(analysis.nomination.has_value());
}

Series exact_series(const std::vector<double>& offsets) {
  auto series = sample_series(offsets);
  for (auto& point : series.points) {
    point.has_interval = true;
    point.low = point.high = point.offset;
  }
  return series;
}

TEST(AnalyzeSeries, TellsAnExactStepFromTheLevelThatItLeft) {
  const auto analysis = analyzed(exact_series({0, 0, 0, 0.004, 0.004, 0.008, 0.011, 0.011}));
  ASSERT_EQ(analysis.steps.size(), 1U);
  const auto& step = analysis.steps[0];
  EXPECT_DOUBLE_EQ(step.shift.estimate, 0.011);
  EXPECT_EQ(step.point, 6U);
  EXPECT_EQ(step.last_before, 2U) << "the creep began at the point after it";
  EXPECT_EQ(step.first_after, 6U);
}

TEST(AnalyzeSeries, ForgetsAnExactChangeThatWentBack) {
  const auto analysis = analyzed(exact_series({0, 0.004, 0, 0, 0.02, 0.02}));
  ASSERT_EQ(analysis.steps.size(), 1U);
  EXPECT_EQ(analysis.steps[0].last_before, 3U);
}

TEST(AnalyzeSeries, GivesALevelThatLiesOnItsPoints) {
  auto series = sample_series(std::vector<double>(6, 0.0));
  series.has_reference = true;  // The machine became slower, and the reference with it.
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    series.points[i].value = 1000 + 10 * static_cast<double>(i);
  }
  const auto analysis = analyzed(series);
  ASSERT_EQ(analysis.segments.size(), 1U);
  EXPECT_DOUBLE_EQ(analysis.segments[0].value, 1025);
}

TEST(AnalyzeSeries, TakesTheLeastEffectOfDifferencesAsAShareOfTheValues) {
  auto series = sample_series(std::vector<double>(5, 0.0));
  series.is_ratio = false;
  for (auto& point : series.points) {
    point.value = -200;
  }
  EXPECT_DOUBLE_EQ(least_effect_of(series, {.min_effect = 0.01}), 2);
  series.min_effect = 0.5;
  EXPECT_DOUBLE_EQ(least_effect_of(series, {.min_effect = 0.01}), 0.5);
  series.min_effect = 0;
  for (auto& point : series.points) {
    point.value = 0;
  }
  EXPECT_GT(least_effect_of(series, {.min_effect = 0.01}), 0);
}

TEST(DividedByEnvironment, FindsTheStepOfMachinesThatMeasureInTurn) {
  auto offsets = sample_offsets(80, 9);
  add_step(offsets, 40, 0.05);
  auto series = sample_series(offsets);
  for (std::size_t i = 1; i < series.points.size(); i += 2) {
    series.points[i].environment = 1;
    series.points[i].offset += 1;
  }
  EXPECT_TRUE(analyzed(series).steps.empty()) << "no two points of one machine are neighbors";
  const auto parts = divided_by_environment(series);
  ASSERT_EQ(parts.size(), 2U);
  for (const auto& part : parts) {
    ASSERT_EQ(part.points.size(), 40U);
    const auto analysis = analyzed(part);
    ASSERT_EQ(analysis.steps.size(), 1U) << part.machine;
    EXPECT_EQ(analysis.steps[0].point, 20U);
  }
  EXPECT_EQ(parts[1].full_name(), "net (rack)");
}

/// A metric and its reciprocal, of which the other direction is better.
Series reciprocal_of(Series series) {
  for (auto& point : series.points) {
    point.value = 1 / point.value;
    point.offset = -point.offset;
    std::swap(point.low, point.high);
    point.low = -point.low;
    point.high = -point.high;
  }
  series.unit = "1/s";
  series.better = Better::kHigher;
  return series;
}

TEST(AnalyzeSeries, FindsInARateWhatItFindsInTheTimeThatIsItsReciprocal) {
  for (const unsigned seed : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U}) {
    auto offsets = sample_offsets(121, seed);
    add_step(offsets, 40, seed % 2 == 0 ? 0.03 : -0.04);
    add_step(offsets, 80, seed % 3 == 0 ? 0.02 : 0.0);
    offsets[20] += 0.3;
    offsets.back() += seed % 2 == 0 ? -0.09 : 0.09;
    const auto series = sample_series(offsets);
    const auto time = analyzed(series);
    const auto rate = analyzed(reciprocal_of(series));
    ASSERT_FALSE(time.steps.empty()) << seed;
    ASSERT_EQ(time.steps.size(), rate.steps.size()) << seed;
    for (std::size_t i = 0; i < time.steps.size(); ++i) {
      EXPECT_EQ(time.steps[i].point, rate.steps[i].point) << seed;
      EXPECT_EQ(time.steps[i].last_before, rate.steps[i].last_before) << seed;
      EXPECT_EQ(time.steps[i].first_after, rate.steps[i].first_after) << seed;
      EXPECT_EQ(time.steps[i].is_firm, rate.steps[i].is_firm) << seed;
      EXPECT_NEAR(time.steps[i].p_value, rate.steps[i].p_value, 1e-12) << seed;
      EXPECT_NEAR(time.steps[i].shift.estimate, -rate.steps[i].shift.estimate, 1e-12) << seed;
      EXPECT_NEAR(time.steps[i].shift.low, -rate.steps[i].shift.high, 1e-12) << seed;
    }
    EXPECT_EQ(time.outliers, rate.outliers) << seed;
    EXPECT_NEAR(time.noise, rate.noise, 1e-12) << seed;
    ASSERT_EQ(time.nomination.has_value(), rate.nomination.has_value()) << seed;
    if (time.nomination) {
      EXPECT_EQ(time.nomination->point, rate.nomination->point) << seed;
    }
    EXPECT_EQ(time.drift.has_value(), rate.drift.has_value()) << seed;
  }
}

TEST(AnalyzeSeries, NominatesTheNewestCommitsOnly) {
  auto offsets = sample_offsets(100, 4);
  add_step(offsets, 99, 0.08);
  const auto analysis = analyzed(sample_series(offsets));
  EXPECT_TRUE(analysis.steps.empty());
  ASSERT_TRUE(analysis.nomination.has_value());
  EXPECT_EQ(analysis.nomination->point, 99U);
  EXPECT_EQ(analysis.nomination->last_before, 98U);
  EXPECT_EQ(analysis.nomination->cause, NominationCause::kOutside);
  EXPECT_NEAR(analysis.nomination->change, 0.08, 0.03);
}

TEST(AnalyzeSeries, SumsUpWhatNoSinglePointShows) {
  auto offsets = std::vector<double>(100);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    offsets[i] = i % 2 == 0 ? 0.01 : -0.01;
  }
  for (std::size_t i = 96; i < offsets.size(); ++i) {
    offsets[i] = 0.035;
  }
  const auto analysis = analyzed(sample_series(offsets));
  ASSERT_TRUE(analysis.nomination.has_value());
  EXPECT_EQ(analysis.nomination->cause, NominationCause::kSum);
  EXPECT_EQ(analysis.nomination->point, 96U);
}

TEST(AnalyzeSeries, CallsASlopeADriftRatherThanAStep) {
  auto offsets = sample_offsets(80, 5);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    offsets[i] = offsets[i] / 4 + 0.0005 * static_cast<double>(i);
  }
  const auto analysis = analyzed(sample_series(offsets));
  ASSERT_TRUE(analysis.drift.has_value());
  EXPECT_EQ(analysis.drift->first, 70U);
  EXPECT_NEAR(analysis.drift->change, 0.035, 0.008);
  for (const auto& step : analysis.steps) {
    EXPECT_TRUE(step.is_gradual);
  }
}

TEST(AnalyzeSeries, FindsNoDriftWhereAStepExplainsTheLevel) {
  auto offsets = sample_offsets(100, 6);
  add_step(offsets, 50, 0.06);
  EXPECT_FALSE(analyzed(sample_series(offsets)).drift.has_value());
}

TEST(AnalyzeSeries, MeasuresDriftFromTheReferenceWhereThereIsOne) {
  auto series = sample_series(sample_offsets(60, 7));
  for (auto& point : series.points) {
    point.offset += 0.05;
  }
  EXPECT_FALSE(analyzed(series).drift.has_value());
  series.has_reference = true;
  const auto drift = analyzed(series).drift;
  ASSERT_TRUE(drift.has_value());
  EXPECT_NEAR(drift->change, 0.05, 0.01);
}

TEST(AnalyzeSeries, IsSilentAfterCommitsOrDays) {
  const auto series = sample_series(sample_offsets(30, 8));
  const auto last = series.points.back();
  constexpr std::int64_t kDayNs = std::int64_t{86'400} * 1'000'000'000;
  const auto silence_at = [&](std::int64_t commits, std::int64_t days) {
    return analyze_series(
               series, {},
               {.position = last.position + commits, .unix_ns = last.unix_ns + days * kDayNs})
        .silence;
  };
  EXPECT_FALSE(silence_at(19, 13).has_value());
  ASSERT_TRUE(silence_at(20, 1).has_value());
  EXPECT_EQ(silence_at(20, 1)->commits, 20);
  EXPECT_TRUE(silence_at(1, 14).has_value());
  EXPECT_FALSE(silence_at(0, 14).has_value());
}

TEST(AnalyzeSeries, RaisesTheLimitWhereNeighborsDependOnEachOther) {
  auto offsets = sample_offsets(150, 9);
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    offsets[i] = 0.6 * offsets[i - 1] + 0.8 * offsets[i];
  }
  add_step(offsets, 75, 0.08);
  const auto analysis = analyzed(sample_series(offsets));
  ASSERT_EQ(analysis.steps.size(), 1U);
  EXPECT_GT(analysis.steps[0].autocorrelation, 0.3);
  EXPECT_GT(analysis.steps[0].critical_value, 4.5);
}

TEST(AnalyzeSeries, FindsStepsFarApartInALongSeries) {
  auto offsets = sample_offsets(3000, 10);
  for (const std::size_t at : {400U, 1234U, 1300U, 2990U}) {
    add_step(offsets, at, 0.05);
  }
  const auto analysis = analyzed(sample_series(offsets));
  ASSERT_EQ(analysis.steps.size(), 4U);
  EXPECT_NEAR(static_cast<double>(analysis.steps[1].point), 1234, 1);
  EXPECT_NEAR(static_cast<double>(analysis.steps[2].point), 1300, 1);
  EXPECT_NEAR(static_cast<double>(analysis.steps[3].point), 2990, 1);
}

TEST(AnalyzeSeries, TakesAnyLength) {
  EXPECT_TRUE(analyze_series({}, {}, {}).segments.empty());
  for (std::size_t count = 1; count < 30; ++count) {
    EXPECT_EQ(analyzed(sample_series(sample_offsets(count, 12))).segments.size(), 1U) << count;
    const std::vector<double> equal(count, 0.5);
    EXPECT_TRUE(analyzed(sample_series(equal)).steps.empty());
  }
}

}  // namespace
}  // namespace assay::history
