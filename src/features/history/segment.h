#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/base/enum_names.h"
#include "assay/stats/rank_sum.h"

namespace assay::history {

/// Why a segment begins where it does.
enum class SegmentCause : std::uint8_t {
  kStart,        ///< The series begins.
  kStep,         ///< A change of the level, which a commit between may have made.
  kEnvironment,  ///< Another machine: no commit's fault.
  kMetric,       ///< Another version of the metric.
  kReference,    ///< Offsets to another reference.
  kVerified,     ///< A change that fresh pairs of both builds showed.
};

}  // namespace assay::history

namespace assay {

template <>
inline constexpr auto kEnumNames<history::SegmentCause> =
    std::to_array<EnumName<history::SegmentCause>>({
        {history::SegmentCause::kStart, "start"},
        {history::SegmentCause::kStep, "step"},
        {history::SegmentCause::kEnvironment, "environment"},
        {history::SegmentCause::kMetric, "metric"},
        {history::SegmentCause::kReference, "reference"},
        {history::SegmentCause::kVerified, "verified"},
    });

}  // namespace assay

namespace assay::history {

/// Points of one level: [first, end) of Series::points.
struct Segment {
  std::size_t first = 0;
  std::size_t end = 0;
  SegmentCause cause = SegmentCause::kStart;
  double level = 0;  ///< Median of the offsets that are no outliers.
  double value = 0;  ///< Median of their values: the level that is shown.
};

/// A change of the level within one environment, metric and reference. All indices are of
/// Series::points.
struct Step {
  std::size_t point = 0;  ///< Most likely the first point of the new level.
  /// The change happened after `last_before` and at `first_after` or earlier, as far as the splits
  /// that are nearly as good as the best one say.
  std::size_t last_before = 0;
  std::size_t first_after = 0;
  stats::UnpairedShift shift;  ///< Change of the offset.
  double statistic = 0;       ///< Largest statistic of the rank scan between the neighboring steps.
  double critical_value = 0;  ///< Value that the statistic exceeds with probability alpha.
  double p_value = 1;  ///< Probability of such a statistic without a change; see rank_scan_p_value.
  double autocorrelation = 0;  ///< Autocorrelation that raised the critical value; 0: none.
  bool is_firm = false;        ///< The second opinion finds it, too.
  bool is_gradual = false;     ///< A slope explains the points around better than a step.
  bool is_counted = true;      ///< Still an alarm when the number of series is allowed for.
};

}  // namespace assay::history
