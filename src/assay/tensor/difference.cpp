#include "assay/tensor/difference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "assay/base/result.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Source: Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, 1974.
class CompensatedSum {
 public:
  void add(double x) {
    const double next = sum_ + x;
    lost_ += std::abs(sum_) >= std::abs(x) ? (sum_ - next) + x : (x - next) + sum_;
    sum_ = next;
  }
  [[nodiscard]] double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

/// Both sides of a comparison. `exact`: their differences, or empty.
struct Sides {
  std::span<const double> result;
  std::span<const double> reference;
  std::span<const double> exact;

  [[nodiscard]] double difference(std::size_t i) const {
    return exact.empty() ? result[i] - reference[i] : exact[i];
  }
};

enum class PairKind : std::uint8_t { kFinite, kAgreesNonFinite, kNanMismatch, kInfMismatch };

PairKind kind_of(double result, double reference) {
  if (std::isfinite(result) && std::isfinite(reference)) {
    return PairKind::kFinite;
  }
  if (std::isnan(result) || std::isnan(reference)) {
    return std::isnan(result) == std::isnan(reference) ? PairKind::kAgreesNonFinite
                                                       : PairKind::kNanMismatch;
  }
  return result == reference ? PairKind::kAgreesNonFinite : PairKind::kInfMismatch;
}

/// Result of the first pass over the pairs.
struct Survey {
  double largest = 0;  ///< Magnitude, of all finite elements.
  bool has_nan_mismatch = false;
};

Survey survey_pairs(std::span<const double> result, std::span<const double> reference,
                    Difference& out) {
  Survey survey;
  for (std::size_t i = 0; i < result.size(); ++i) {
    out.nan_in_result += std::isnan(result[i]) ? 1 : 0;
    out.nan_in_reference += std::isnan(reference[i]) ? 1 : 0;
    out.inf_in_result += std::isinf(result[i]) ? 1 : 0;
    out.inf_in_reference += std::isinf(reference[i]) ? 1 : 0;
    const auto kind = kind_of(result[i], reference[i]);
    survey.has_nan_mismatch |= kind == PairKind::kNanMismatch;
    const bool is_mismatch = kind == PairKind::kNanMismatch || kind == PairKind::kInfMismatch;
    out.mismatched_non_finite += is_mismatch ? 1 : 0;
    out.compared += kind == PairKind::kAgreesNonFinite ? 0 : 1;
    for (const double x : {result[i], reference[i]}) {
      survey.largest = std::isfinite(x) ? std::max(survey.largest, std::abs(x)) : survey.largest;
    }
  }
  return survey;
}

/// A power of two that brings `largest` near 1; multiplying by it is exact.
double factor_for(double largest) {
  constexpr int kMostShift = 1000;
  return largest == 0 ? 1
                      : std::ldexp(1.0, std::clamp(-std::ilogb(largest), -kMostShift, kMostShift));
}

/// Sums over the finite pairs, of elements multiplied by a factor.
struct Sums {
  CompensatedSum reference_squares;
  CompensatedSum result_squares;
  CompensatedSum difference_squares;
  CompensatedSum products;
  CompensatedSum magnitudes;
  double largest_difference = 0;
};

Sums sum_pairs(const Sides& sides, double factor) {
  Sums sums;
  for (std::size_t i = 0; i < sides.result.size(); ++i) {
    if (kind_of(sides.result[i], sides.reference[i]) != PairKind::kFinite) {
      continue;
    }
    const double a = sides.result[i] * factor;
    const double b = sides.reference[i] * factor;
    const double d = sides.exact.empty() ? a - b : sides.exact[i] * factor;
    sums.reference_squares.add(b * b);
    sums.result_squares.add(a * a);
    sums.difference_squares.add(d * d);
    sums.products.add(a * b);
    sums.magnitudes.add(std::abs(d));
    sums.largest_difference = std::max(sums.largest_difference, std::abs(d));
  }
  return sums;
}

/// 0 / 0 is 0 (no error), x / 0 is infinite.
double ratio_of(double error, double scale) { return error == 0 ? 0 : error / scale; }

void set_relative_errors(const Sides& sides, Difference& out) {
  const double rms = out.reference_rms;
  CompensatedSum sum;
  for (std::size_t i = 0; i < sides.result.size(); ++i) {
    if (kind_of(sides.result[i], sides.reference[i]) != PairKind::kFinite) {
      continue;
    }
    const double error = std::abs(sides.difference(i));
    const double size = std::abs(sides.reference[i]);
    const double relative = ratio_of(error, std::max(size, kRelativeFloor * rms));
    out.max_rel = std::max(out.max_rel, relative);
    out.scaled_max = std::max(out.scaled_max, ratio_of(error, std::max(size, rms)));
    sum.add(relative);
  }
  // An infinite term leaves NaN in the compensation; the largest one tells it apart.
  out.mean_rel = std::isinf(out.max_rel) ? kInfinity
                 : out.compared == 0     ? 0
                                         : sum.value() / static_cast<double>(out.compared);
}

double cosine_of(const Sums& sums) {
  const double a = std::sqrt(sums.result_squares.value());
  const double b = std::sqrt(sums.reference_squares.value());
  if (sums.largest_difference == 0) {
    return 1;
  }
  return a == 0 || b == 0 ? 0 : std::clamp(sums.products.value() / a / b, -1.0, 1.0);
}

void set_errors(const Sums& sums, double factor, Difference& out) {
  const double noise = sums.difference_squares.value();
  const double signal = sums.reference_squares.value();
  const auto n = static_cast<double>(std::max<std::int64_t>(out.compared, 1));
  out.reference_rms = std::sqrt(signal / n) / factor;
  out.max_abs = sums.largest_difference / factor;
  out.mean_abs = sums.magnitudes.value() / n / factor;
  out.l2 = std::sqrt(noise) / factor;
  out.relative_l2 = std::sqrt(ratio_of(noise, signal));
  out.sqnr_db = noise == 0 ? kInfinity : 10 * std::log10(signal / noise);
  out.cosine_similarity = cosine_of(sums);
}

void poison_errors(bool has_nan_mismatch, Difference& out) {
  const double error = has_nan_mismatch ? kNan : kInfinity;
  for (double* field : {&out.max_abs, &out.mean_abs, &out.max_rel, &out.mean_rel, &out.l2,
                        &out.relative_l2, &out.scaled_max}) {
    *field = error;
  }
  out.sqnr_db = -error;
  out.cosine_similarity = kNan;
}

}  // namespace

Difference difference_between(std::span<const double> result, std::span<const double> reference,
                              std::optional<double> step, std::span<const double> exact) {
  ASSAY_CHECK(result.size() == reference.size());
  ASSAY_CHECK(exact.empty() || exact.size() == result.size());
  const Sides sides{.result = result, .reference = reference, .exact = exact};
  Difference out;
  const auto survey = survey_pairs(result, reference, out);
  const double factor = factor_for(survey.largest);
  set_errors(sum_pairs(sides, factor), factor, out);
  set_relative_errors(sides, out);
  if (out.mismatched_non_finite > 0) {
    poison_errors(survey.has_nan_mismatch, out);
  }
  if (step) {
    ASSAY_CHECK(*step > 0);
    out.max_steps = out.max_abs / *step;
    out.mean_steps = out.mean_abs / *step;
  }
  return out;
}

}  // namespace assay
