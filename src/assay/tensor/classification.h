#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "assay/base/result.h"

namespace assay {

/// How far class scores (logits) lie from their reference, over rows of `classes` scores each.
/// Scores go through softmax, in double; means are over the rows. A NaN, or a row without a finite
/// score, gives NaN for the first two and no agreement. Of equal scores the first ranks higher.
struct ClassificationDifference {
  std::int64_t rows = 0;
  double cross_entropy = 0;   ///< Mean of -sum softmax(reference) ln softmax(result), nats.
  double kl_divergence = 0;   ///< cross_entropy less the reference's own entropy, nats; 0 if equal.
  double top1_agreement = 0;  ///< Share of rows whose first-ranked class is the reference's.
  std::optional<double> top5_agreement;  ///< Share of rows whose first five hold the reference's
                                         ///< first; absent with five classes or fewer.
};

/// The spans have one size, a multiple of `classes` >= 1 (checked). Pure; O(n).
ClassificationDifference classification_difference(std::span<const double> result,
                                                   std::span<const double> reference,
                                                   std::int64_t classes);

/// How well class scores name the classes that are right, over rows of scores.
struct LabelScores {
  double top1_accuracy = 0;  ///< Share of rows whose first-ranked class is the right one.
  double log_loss = 0;       ///< Mean of -ln softmax(scores) at the right class, nats.
  /// Mean gap between confidence and accuracy, see docs/reference/metrics.md.
  double expected_calibration_error = 0;
};

/// `labels`: the right class of each row, from 0. Scores go through softmax, in double. A row with
/// a NaN names nothing right, and makes the log loss NaN. Errors: kInvalidArgument when the labels
/// are not one a row, or not in [0, classes).
Result<LabelScores> label_scores(std::span<const double> scores, std::int64_t classes,
                                 std::span<const std::int64_t> labels);

}  // namespace assay
