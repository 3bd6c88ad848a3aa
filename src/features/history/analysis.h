#pragma once

#include "features/history/rule.h"
#include "features/history/segment.h"
#include "features/history/series.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "assay/base/enum_names.h"

namespace assay::history {

/// Why one of the newest points asks for a comparison of its commit with the one before.
enum class NominationCause : std::uint8_t {
  kOutside,  ///< It lies outside of the prediction interval of its level.
  kSum,      ///< It and those before it lie on one side too long: CUSUM.
};

}  // namespace assay::history

namespace assay {

template <>
inline constexpr auto kEnumNames<history::NominationCause> =
    std::to_array<EnumName<history::NominationCause>>({
        {history::NominationCause::kOutside, "outside"},
        {history::NominationCause::kSum, "sum"},
    });

}  // namespace assay

namespace assay::history {

/// One of the newest points, too few for a step, that does not look like its level. It proves
/// nothing: fresh pairs of both builds do.
struct Nomination {
  std::size_t point = 0;        ///< Index in Series::points of the first point that differs.
  std::size_t last_before = 0;  ///< The change happened after it.
  NominationCause cause = NominationCause::kOutside;
  double change = 0;   ///< Distance of the offset from the level.
  double allowed = 0;  ///< Distance that a single point may have in either direction.
};

/// The newest points lie off their reference, and no step explains it.
struct Drift {
  std::size_t first = 0;  ///< First of the newest points that were looked at.
  double change = 0;      ///< Beyond the steps.
  double low = 0;         ///< Interval of it; infinite ends where there are too few points.
  double high = 0;
};

/// The series has no point where it should.
struct Silence {
  std::int64_t commits = 0;  ///< Newer than its last point.
  std::int64_t days = 0;
};

/// Findings in a series. All indices are of Series::points.
struct SeriesAnalysis {
  std::vector<std::size_t> outliers;  ///< Spikes: kept and shown, and no part of any level.
  std::vector<Segment> segments;      ///< Cover all points.
  std::vector<Step> steps;
  std::optional<Nomination> nomination;
  std::optional<Drift> drift;
  std::optional<Silence> silence;
  double noise = 0;  ///< Robust standard deviation around the newest level.
};

/// The newest commit and time of everything that is watched.
struct Now {
  std::int64_t position = 0;
  std::int64_t unix_ns = 0;
};

/// The least change of an offset that matters: the series' own, or that of the rule, which is a
/// share of the values' median size where offsets are differences.
double least_effect_of(const Series& series, const HistoryRule& rule);

/// The segment of points [first, end), none of which is below 0, with its level and value.
Segment segment_of(const Series& series, const std::vector<std::size_t>& outliers,
                   std::size_t first, std::size_t end, SegmentCause cause);

/// Analyses one series. Its points are first divided where environment, metric version or
/// reference change; each part is analyzed on its own:
///
///   outliers     find_spikes
///   steps        find_steps; an exact series (Series::is_exact) has one wherever the offset lies
///                the least effect off the level of the last one, which it left at the first
///                plausible point
///   shift        unpaired_shift of the 50 points on either side at most
///   firm         find_mean_changes has a change within three points of the plausible ones
///   gradual      a Theil-Sen line through those points leaves a smaller sum of absolute residuals
///
/// and its newest part has a nomination, drift and silence. Pure and deterministic.
/// `series.points` may be empty.
SeriesAnalysis analyze_series(const Series& series, const HistoryRule& rule, const Now& now);

}  // namespace assay::history
