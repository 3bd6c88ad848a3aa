#include "assay/tensor/classification.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace assay {
namespace {

using Values = std::vector<double>;

// scipy 1.17.1: P = softmax(ref, 1); Q = log_softmax(res, 1); -(P * Q).sum(1).mean() and
// rel_entr(P, exp(Q)).sum(1).mean()
TEST(Classification, AgreesWithScipy) {
  const Values reference = {2.0, 1.0, 0.5, -1.0, 0.0, 0.3, 0.1, 3.0, 2.9, 0.0, 1.0, -2.0};
  const Values result = {1.8, 1.1, 0.4, -0.9, 0.1, 0.3, 0.1, 2.8, 3.0, 0.2, 1.0, -2.0};
  const auto d = classification_difference(result, reference, 6);
  EXPECT_EQ(d.rows, 2);
  EXPECT_NEAR(d.cross_entropy, 1.2584004869813594, 1e-14);
  EXPECT_NEAR(d.kl_divergence, 0.009734113895736522, 1e-14);
  EXPECT_EQ(d.top1_agreement, 0.5);
  EXPECT_EQ(d.top5_agreement, 1);
}

TEST(Classification, OfEqualScoresIsTheEntropyAndFullAgreement) {
  const Values uniform(8, 3.0);
  const auto d = classification_difference(uniform, uniform, 8);
  EXPECT_NEAR(d.cross_entropy, std::log(8), 1e-15);
  EXPECT_NEAR(d.kl_divergence, 0, 1e-15);
  EXPECT_EQ(d.top1_agreement, 1);
}

TEST(Classification, IsUnchangedByShiftingARow) {
  const Values reference = {1000.0, 1001.0, 1002.0};
  const auto d = classification_difference(Values{0, 1, 2}, reference, 3);
  EXPECT_NEAR(d.kl_divergence, 0, 1e-15);
  EXPECT_FALSE(d.top5_agreement.has_value());
}

TEST(Classification, RanksTheReferencesFirstAmongTheResults) {
  const Values reference = {9, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(classification_difference(Values{3, 9, 8, 7, 6, 0, 0}, reference, 7).top5_agreement, 1);
  EXPECT_EQ(classification_difference(Values{3, 9, 8, 7, 6, 5, 0}, reference, 7).top5_agreement, 0);
}

TEST(Classification, AMaskedClassIsNoError) {
  const double masked = -std::numeric_limits<double>::infinity();
  const auto d = classification_difference(Values{1, masked, 2}, Values{1, masked, 2}, 3);
  EXPECT_NEAR(d.kl_divergence, 0, 1e-15);
  EXPECT_EQ(d.top1_agreement, 1);
}

TEST(Classification, RulingOutAPossibleClassIsInfinitelyWrong) {
  const double masked = -std::numeric_limits<double>::infinity();
  const auto d = classification_difference(Values{1, masked, 2}, Values{1, 5, 2}, 3);
  EXPECT_TRUE(std::isinf(d.kl_divergence));
}

TEST(Classification, NanNeverAgrees) {
  const double nan = std::nan("");
  for (const auto& result : {Values{nan, 1, 2}, Values{1, 2, nan}}) {
    const auto d = classification_difference(result, Values{0, 0, 5}, 3);
    EXPECT_TRUE(std::isnan(d.cross_entropy));
    EXPECT_TRUE(std::isnan(d.kl_divergence));
    EXPECT_EQ(d.top1_agreement, 0);
  }
}

}  // namespace
}  // namespace assay
