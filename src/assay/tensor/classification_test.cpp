#include "assay/tensor/classification.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace assay {
namespace {

using LogitValues = std::vector<double>;

// scipy 1.17.1: P = softmax(ref, 1); Q = log_softmax(res, 1); -(P * Q).sum(1).mean() and
// rel_entr(P, exp(Q)).sum(1).mean()
TEST(Classification, AgreesWithScipy) {
  const LogitValues reference = {2.0, 1.0, 0.5, -1.0, 0.0, 0.3, 0.1, 3.0, 2.9, 0.0, 1.0, -2.0};
  const LogitValues result = {1.8, 1.1, 0.4, -0.9, 0.1, 0.3, 0.1, 2.8, 3.0, 0.2, 1.0, -2.0};
  const auto d = classification_difference(result, reference, 6);
  EXPECT_EQ(d.rows, 2);
  EXPECT_NEAR(d.cross_entropy, 1.2584004869813594, 1e-14);
  EXPECT_NEAR(d.kl_divergence, 0.009734113895736522, 1e-14);
  EXPECT_EQ(d.top1_agreement, 0.5);
  EXPECT_EQ(d.top5_agreement, 1);
}

TEST(Classification, OfEqualScoresIsTheEntropyAndFullAgreement) {
  const LogitValues uniform(8, 3.0);
  const auto d = classification_difference(uniform, uniform, 8);
  EXPECT_NEAR(d.cross_entropy, std::log(8), 1e-15);
  EXPECT_NEAR(d.kl_divergence, 0, 1e-15);
  EXPECT_EQ(d.top1_agreement, 1);
}

TEST(Classification, IsUnchangedByShiftingARow) {
  const LogitValues reference = {1000.0, 1001.0, 1002.0};
  const auto d = classification_difference(LogitValues{0, 1, 2}, reference, 3);
  EXPECT_NEAR(d.kl_divergence, 0, 1e-15);
  EXPECT_FALSE(d.top5_agreement.has_value());
}

TEST(Classification, RanksTheReferencesFirstAmongTheResults) {
  const LogitValues reference = {9, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(
      classification_difference(LogitValues{3, 9, 8, 7, 6, 0, 0}, reference, 7).top5_agreement, 1);
  EXPECT_EQ(
      classification_difference(LogitValues{3, 9, 8, 7, 6, 5, 0}, reference, 7).top5_agreement, 0);
}

TEST(Classification, AMaskedClassIsNoError) {
  const double masked = -std::numeric_limits<double>::infinity();
  const auto d = classification_difference(LogitValues{1, masked, 2}, LogitValues{1, masked, 2}, 3);
  EXPECT_NEAR(d.kl_divergence, 0, 1e-15);
  EXPECT_EQ(d.top1_agreement, 1);
}

TEST(Classification, RulingOutAPossibleClassIsInfinitelyWrong) {
  const double masked = -std::numeric_limits<double>::infinity();
  const auto d = classification_difference(LogitValues{1, masked, 2}, LogitValues{1, 5, 2}, 3);
  EXPECT_TRUE(std::isinf(d.kl_divergence));
}

TEST(Classification, NanNeverAgrees) {
  const double nan = std::nan("");
  for (const auto& result : {LogitValues{nan, 1, 2}, LogitValues{1, 2, nan}}) {
    const auto d = classification_difference(result, LogitValues{0, 0, 5}, 3);
    EXPECT_TRUE(std::isnan(d.cross_entropy));
    EXPECT_TRUE(std::isnan(d.kl_divergence));
    EXPECT_EQ(d.top1_agreement, 0);
  }
}

// numpy 2.4: P = scipy.special.softmax(x, 1); -log(P[range(3), y]).mean(); the calibration error by
// hand: confidences 0.6590, 0.5363, 0.8438 fall into bins 9, 8 and 12 of 15.
TEST(LabelScores, AgreeWithNumpy) {
  const LogitValues scores = {2.0, 1.0, 0.1, 0.5, 1.5, 0.8, 0.0, 1.0, 3.0};
  const auto found = label_scores(scores, 3, std::vector<std::int64_t>{0, 2, 2}).value();
  EXPECT_NEAR(found.top1_accuracy, 2.0 / 3, 1e-15);
  EXPECT_NEAR(found.log_loss, 0.6366166825725307, 1e-12);
  EXPECT_NEAR(found.expected_calibration_error, 0.3445170292372741, 1e-12);
}

TEST(LabelScores, OfPerfectConfidenceInTheRightClassAreZero) {
  const LogitValues scores = {1000, 0, 0, 1000};
  const auto found = label_scores(scores, 2, std::vector<std::int64_t>{0, 1}).value();
  EXPECT_EQ(found.top1_accuracy, 1);
  EXPECT_EQ(found.log_loss, 0);
  EXPECT_EQ(found.expected_calibration_error, 0);
}

TEST(LabelScores, OfPerfectConfidenceInTheWrongClassAreWhollyMiscalibrated) {
  const auto found = label_scores(LogitValues{1000, 0}, 2, std::vector<std::int64_t>{1}).value();
  EXPECT_EQ(found.top1_accuracy, 0);
  EXPECT_EQ(found.expected_calibration_error, 1);
}

TEST(LabelScores, AreTheQuotientOfRightRowsAndAll) {
  for (const std::size_t rows : {10U, 360U}) {
    LogitValues scores;
    for (std::size_t i = 0; i < rows; ++i) {
      scores.insert(scores.end(), {1, 0});
    }
    std::vector<std::int64_t> labels(rows, 0);
    EXPECT_EQ(label_scores(scores, 2, labels)->top1_accuracy, 1);
    labels.front() = 1;
    EXPECT_EQ(label_scores(scores, 2, labels)->top1_accuracy,
              static_cast<double>(rows - 1) / static_cast<double>(rows));
  }
}

TEST(LabelScores, CountANanAsWrong) {
  const auto found =
      label_scores(LogitValues{std::nan(""), 1, 0, 5}, 2, std::vector<std::int64_t>{0, 1}).value();
  EXPECT_EQ(found.top1_accuracy, 0.5);
  EXPECT_TRUE(std::isnan(found.log_loss));
}

TEST(LabelScores, RefuseLabelsThatDoNotFit) {
  EXPECT_FALSE(label_scores(LogitValues{1, 2}, 2, std::vector<std::int64_t>{}));
  EXPECT_FALSE(label_scores(LogitValues{1, 2}, 2, std::vector<std::int64_t>{2}));
  EXPECT_FALSE(label_scores(LogitValues{1, 2}, 2, std::vector<std::int64_t>{-1}));
}

}  // namespace
}  // namespace assay
