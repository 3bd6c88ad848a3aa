#include "assay/tensor/difference.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace assay {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Values = std::vector<double>;

Difference between(const Values& result, const Values& reference) {
  return difference_between(result, reference);
}

// numpy 2.4.6 and scipy 1.17.1, with d = res - ref and rms = sqrt(mean(ref**2)):
//   rel = abs(d) / maximum(abs(ref), 1e-3 * rms); scaled: the same with rms; cosine: 1 -
//   scipy.spatial.distance.cosine; sqnr: 10 * log10((ref**2).sum() / (d**2).sum())
TEST(Difference, AgreesWithNumpy) {
  const auto d = between({1.1, -2.0, 0.4, 3.9, 0.0002, -3.3}, {1.0, -2.0, 0.5, 4.0, 0.0001, -3.0});
  EXPECT_EQ(d.compared, 6);
  EXPECT_NEAR(d.reference_rms, 2.2453655979223814, 1e-15);
  EXPECT_NEAR(d.max_abs, 0.2999999999999998, 1e-16);
  EXPECT_NEAR(d.mean_abs, 0.10001666666666666, 1e-16);
  EXPECT_NEAR(d.max_rel, 0.19999999999999996, 1e-16);
  EXPECT_NEAR(d.mean_rel, 0.0782560295223585, 1e-16);
  EXPECT_NEAR(d.l2, 0.3464101759475318, 1e-15);
  EXPECT_NEAR(d.relative_l2, 0.06298366834368617, 1e-16);
  EXPECT_NEAR(d.sqnr_db, 24.01544096893226, 1e-12);
  EXPECT_NEAR(d.cosine_similarity, 0.9982507737341795, 1e-15);
  EXPECT_NEAR(d.scaled_max, 0.09999999999999994, 1e-15);
}

// The rms of one among many is far below it, and rounding is relative to the element.
TEST(Difference, ScalesTheErrorOfAPeakByThePeak) {
  Values reference(10'000, 0.0);
  reference[7] = 1;
  auto result = reference;
  result[7] = 1.0001;
  EXPECT_NEAR(between(result, reference).scaled_max, 1e-4, 1e-12);
  result[7] = 1;
  result[8] = 0.0001;  // The rms is 0.01.
  EXPECT_NEAR(between(result, reference).scaled_max, 1e-2, 1e-12);
}

TEST(Difference, TakesGivenDifferencesInTheirPlace) {
  const Values both = {0x1p60, -2};
  const auto d = difference_between(both, both, std::nullopt, Values{1, 0});
  EXPECT_EQ(d.max_abs, 1);
  EXPECT_EQ(d.mean_abs, 0.5);
  EXPECT_EQ(d.l2, 1);
  EXPECT_EQ(d.max_rel, 0x1p-60);
  EXPECT_LT(d.sqnr_db, 400);
}

TEST(Difference, TakesTheSignalFromTheReference) {
  // Twice the reference: noise equals signal, 0 dB. Half of it: a quarter of the power, 6.02 dB.
  EXPECT_NEAR(between({2, -4}, {1, -2}).sqnr_db, 0, 1e-12);
  EXPECT_NEAR(between({1, -2}, {2, -4}).sqnr_db, 10 * std::log10(4), 1e-12);
  EXPECT_NEAR(between({2, -4}, {1, -2}).cosine_similarity, 1, 1e-15);
  EXPECT_NEAR(between({-1, 2}, {1, -2}).cosine_similarity, -1, 1e-15);
}

TEST(Difference, AllZerosAgainstASignalHaveZeroDecibel) {
  const auto d = between({0, 0}, {3, 4});
  EXPECT_EQ(d.sqnr_db, 0);
  EXPECT_EQ(d.relative_l2, 1);
  EXPECT_EQ(d.cosine_similarity, 0);
}

TEST(Difference, EqualValuesHaveNoErrorAndInfiniteSqnr) {
  for (const auto& values : {Values{1, -2, 3}, Values{0, 0}, Values{}}) {
    const auto d = between(values, values);
    EXPECT_EQ(d.max_abs, 0);
    EXPECT_EQ(d.max_rel, 0);
    EXPECT_EQ(d.mean_rel, 0);
    EXPECT_EQ(d.relative_l2, 0);
    EXPECT_EQ(d.scaled_max, 0);
    EXPECT_EQ(d.sqnr_db, kInf);
    EXPECT_EQ(d.cosine_similarity, 1);
  }
}

TEST(Difference, AgainstAllZerosEveryRelativeErrorIsInfinite) {
  const auto d = between({0, 2}, {0, 0});
  EXPECT_EQ(d.max_abs, 2);
  EXPECT_EQ(d.max_rel, kInf);
  EXPECT_EQ(d.mean_rel, kInf);
  EXPECT_EQ(d.relative_l2, kInf);
  EXPECT_EQ(d.scaled_max, kInf);
  EXPECT_EQ(d.sqnr_db, -kInf);
  EXPECT_EQ(d.cosine_similarity, 0);
}

TEST(Difference, CountsAgreeingNanAndInfinityAndComparesTheRest) {
  const auto d = between({kNan, kInf, -kInf, 1.5}, {kNan, kInf, -kInf, 1});
  EXPECT_EQ(d.compared, 1);
  EXPECT_EQ(d.nan_in_result, 1);
  EXPECT_EQ(d.nan_in_reference, 1);
  EXPECT_EQ(d.inf_in_result, 2);
  EXPECT_EQ(d.inf_in_reference, 2);
  EXPECT_EQ(d.mismatched_non_finite, 0);
  EXPECT_EQ(d.max_abs, 0.5);
  EXPECT_EQ(d.mean_abs, 0.5);
}

TEST(Difference, OneStrayNanMakesEveryErrorNan) {
  for (const auto& [result, reference] :
       {std::pair(Values{1, kNan}, Values{1, 2}), std::pair(Values{1, 2}, Values{1, kNan}),
        std::pair(Values{kInf, 2}, Values{kNan, 2})}) {
    const auto d = between(result, reference);
    EXPECT_EQ(d.mismatched_non_finite, 1);
    for (const double error : {d.max_abs, d.mean_abs, d.max_rel, d.mean_rel, d.l2, d.relative_l2,
                               d.sqnr_db, d.cosine_similarity, d.scaled_max}) {
      EXPECT_TRUE(std::isnan(error));
    }
  }
}

TEST(Difference, OneStrayInfinityMakesEveryErrorInfinite) {
  for (const auto& [result, reference] :
       {std::pair(Values{1, kInf}, Values{1, 2}), std::pair(Values{1, 2}, Values{1, -kInf}),
        std::pair(Values{1, kInf}, Values{1, -kInf})}) {
    const auto d = between(result, reference);
    EXPECT_EQ(d.mismatched_non_finite, 1);
    for (const double error :
         {d.max_abs, d.mean_abs, d.max_rel, d.mean_rel, d.l2, d.relative_l2, d.scaled_max}) {
      EXPECT_EQ(error, kInf);
    }
    EXPECT_EQ(d.sqnr_db, -kInf);
    EXPECT_TRUE(std::isnan(d.cosine_similarity));
  }
}

TEST(Difference, NeitherOverflowsNorVanishesAtTheEndsOfTheRange) {
  for (const double scale : {1e-300, 1e-160, 1.0, 1e160, 1e307}) {
    const auto d = between({1.1 * scale, -2 * scale}, {scale, -2 * scale});
    EXPECT_NEAR(d.sqnr_db, 10 * std::log10(5 / 0.01), 1e-9) << scale;
    EXPECT_NEAR(d.relative_l2, std::sqrt(0.01 / 5), 1e-12) << scale;
    EXPECT_NEAR(d.max_abs / scale, 0.1, 1e-12) << scale;
  }
}

TEST(Difference, SumsWithoutLosingSmallTerms) {
  // Naive summation of 1e16 and a million ones loses most of the ones.
  constexpr int kOnes = 1'000'000;
  Values reference(kOnes + 1, 0.0);
  Values result(kOnes + 1, 1.0);
  result[0] = 1e16;
  EXPECT_NEAR(between(result, reference).mean_abs * (kOnes + 1), 1e16 + kOnes, 4);
}

TEST(Difference, CountsStepsOfAQuantizedOutput) {
  const auto d = difference_between(Values{0.5, 1.25, 2}, Values{0.5, 1.0, 2.5}, 0.25);
  EXPECT_EQ(d.max_steps, 2);
  EXPECT_EQ(d.mean_steps, 1);
  EXPECT_FALSE(between({1}, {1}).max_steps.has_value());
}

}  // namespace
}  // namespace assay
