#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace assay {

/// How far a result lies from its reference. With d = result - reference, over the n pairs that are
/// compared, and rms = sqrt(sum reference^2 / n):
///
/// A pair agrees without being compared when both are NaN, or both the same infinity. One more pair
/// with a NaN or an infinity is a mismatch, and then every error below is NaN (or infinity, where
/// only infinities mismatch; sqnr_db is then -inf, cosine_similarity NaN): nothing is hidden or
/// replaced. docs/reference/metrics.md has the same formulas for users.
struct Difference {
  std::int64_t compared = 0;  ///< n; agreeing NaN and infinities are not among them.
  std::int64_t nan_in_result = 0;
  std::int64_t nan_in_reference = 0;
  std::int64_t inf_in_result = 0;
  std::int64_t inf_in_reference = 0;
  std::int64_t mismatched_non_finite = 0;

  double reference_rms = 0;      ///< RMS of the finite elements of the reference that are compared.
  double max_abs = 0;            ///< max |d|
  double mean_abs = 0;           ///< sum |d| / n
  double max_rel = 0;            ///< max |d| / max(|reference|, kRelativeFloor * rms); 0 / 0 is 0.
  double mean_rel = 0;           ///< Mean of the same.
  double l2 = 0;                 ///< sqrt(sum d^2)
  double relative_l2 = 0;        ///< l2 / sqrt(sum reference^2); 0 / 0 is 0, x / 0 is infinite.
  double sqnr_db = 0;            ///< 10 log10(sum reference^2 / sum d^2); +inf when every d is 0.
  double cosine_similarity = 0;  ///< 1 when every d is 0; 0 when just one side is all zeros.
  double scaled_max = 0;  ///< max |d| / max(|reference|, rms); 0 / 0 is 0, x / 0 is infinite.
  std::optional<double> max_steps;   ///< max_abs / step, when a step is given.
  std::optional<double> mean_steps;  ///< mean_abs / step
};

/// Elements smaller than this share of the reference's rms count as this large in max_rel and
/// mean_rel, so that one element near zero does not decide them.
inline constexpr double kRelativeFloor = 1e-3;

/// `result` and `reference` have the same size (checked). `step`: size of one quantization step,
/// > 0. `exact`: result - reference of each element where doubles do not hold the elements, as
/// integers beyond 2^53; empty: their difference. Sums are compensated and scaled by a power of
/// two, so values near the ends of the range of double neither overflow nor vanish. Pure; O(n)
/// time, O(1) memory.
Difference difference_between(std::span<const double> result, std::span<const double> reference,
                              std::optional<double> step = std::nullopt,
                              std::span<const double> exact = {});

}  // namespace assay
