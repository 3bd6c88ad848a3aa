#include "assay/tensor/classification.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <span>
#include <vector>

#include "assay/base/result.h"

namespace assay {
namespace {

constexpr std::int64_t kFirstRanks = 5;
constexpr std::size_t kCalibrationBins = 15;

std::vector<double> log_softmax(std::span<const double> scores) {
  const double largest = *std::ranges::max_element(scores);
  double sum = 0;
  for (const double score : scores) {
    sum += std::exp(score - largest);
  }
  std::vector<double> logs(scores.size());
  std::ranges::transform(scores, logs.begin(), [largest, log_sum = std::log(sum)](double score) {
    return score - largest - log_sum;
  });
  return logs;
}

/// -sum exp(p) q; a class that the reference rules out adds nothing, whatever the result says.
double cross_entropy_of(std::span<const double> log_p, std::span<const double> log_q) {
  double sum = 0;
  for (std::size_t i = 0; i < log_p.size(); ++i) {
    const double p = std::exp(log_p[i]);
    sum -= p == 0 ? 0 : p * log_q[i];
  }
  return sum;
}

/// Counts the classes that rank above `chosen`.
std::int64_t rank_of(std::span<const double> scores, std::size_t chosen) {
  std::int64_t above = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const bool is_above = scores[i] > scores[chosen] || (scores[i] == scores[chosen] && i < chosen);
    above += is_above ? 1 : 0;
  }
  return above;
}

bool has_nan(std::span<const double> scores) {
  return std::ranges::any_of(scores, [](double score) { return std::isnan(score); });
}

/// Rows by the confidence in their first class, in bins of equal width (Guo et al., On Calibration
/// of Modern Neural Networks, ICML 2017).
class CalibrationBins {
 public:
  void add(double confidence, bool is_right) {
    const auto place = static_cast<std::size_t>(confidence * kCalibrationBins);
    auto& bin = bins_[std::min(place, kCalibrationBins - 1)];
    bin.confidence += confidence;
    bin.right += is_right ? 1 : 0;
    ++rows_;
  }
  [[nodiscard]] double error() const {
    double error = 0;
    for (const auto& bin : bins_) {
      error += std::abs(bin.confidence - bin.right);
    }
    return rows_ == 0 ? 0 : error / rows_;
  }

 private:
  struct Bin {
    double confidence = 0;  ///< Sums over the rows of the bin.
    double right = 0;
  };
  std::array<Bin, kCalibrationBins> bins_{};
  double rows_ = 0;
};

Status check_labels(std::size_t rows, std::int64_t classes, std::span<const std::int64_t> labels) {
  if (labels.size() != rows) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} labels for {} rows of scores", labels.size(), rows));
  }
  for (const auto label : labels) {
    if (label < 0 || label >= classes) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("a label is {}; there are {} classes, from 0", label, classes));
    }
  }
  return {};
}

}  // namespace

ClassificationDifference classification_difference(std::span<const double> result,
                                                   std::span<const double> reference,
                                                   std::int64_t classes) {
  ASSAY_CHECK(classes >= 1 && result.size() == reference.size());
  const auto width = static_cast<std::size_t>(classes);
  ASSAY_CHECK(result.size() % width == 0);
  ClassificationDifference out{.rows = static_cast<std::int64_t>(result.size() / width)};
  const auto rows = static_cast<double>(std::max<std::int64_t>(out.rows, 1));
  double first_hits = 0;
  double five_hits = 0;
  for (std::size_t at = 0; at < result.size(); at += width) {
    const auto row = result.subspan(at, width);
    const auto expected = reference.subspan(at, width);
    const auto log_p = log_softmax(expected);
    const double entropy = cross_entropy_of(log_p, log_p);
    const double cross = cross_entropy_of(log_p, log_softmax(row));
    out.cross_entropy += cross / rows;
    out.kl_divergence += (cross - entropy) / rows;
    if (!has_nan(row) && !has_nan(expected)) {
      const auto chosen =
          static_cast<std::size_t>(std::ranges::max_element(expected) - expected.begin());
      const auto rank = rank_of(row, chosen);
      first_hits += rank == 0 ? 1 : 0;
      five_hits += rank < kFirstRanks ? 1 : 0;
    }
  }
  out.top1_agreement = first_hits / rows;
  if (classes > kFirstRanks) {
    out.top5_agreement = five_hits / rows;
  }
  return out;
}

Result<LabelScores> label_scores(std::span<const double> scores, std::int64_t classes,
                                 std::span<const std::int64_t> labels) {
  ASSAY_CHECK(classes >= 1);
  const auto width = static_cast<std::size_t>(classes);
  ASSAY_CHECK(scores.size() % width == 0);
  ASSAY_RETURN_IF_ERROR(check_labels(scores.size() / width, classes, labels));
  LabelScores out;
  CalibrationBins bins;
  const auto rows = static_cast<double>(std::max<std::size_t>(labels.size(), 1));
  double hits = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto row = scores.subspan(i * width, width);
    const auto label = static_cast<std::size_t>(labels[i]);
    const auto log_p = log_softmax(row);
    out.log_loss -= log_p[label] / rows;
    const bool is_right = !has_nan(row) && rank_of(row, label) == 0;
    hits += is_right ? 1 : 0;
    if (!has_nan(log_p)) {
      bins.add(std::exp(*std::ranges::max_element(log_p)), is_right);
    }
  }
  out.top1_accuracy = hits / rows;
  out.expected_calibration_error = bins.error();
  return out;
}

}  // namespace assay
