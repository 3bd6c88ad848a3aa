#pragma once

#include "features/history/analysis.h"
#include "features/watch/next_steps.h"
#include "features/watch/stored_series.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/record/incident.h"

namespace assay::watch {

/// Kind of answer that a metric gives; a change of one kind stands for none of another.
enum class MetricNature : std::uint8_t {
  kNoisy,     ///< Fresh pairs decide.
  kExact,     ///< Sizes, delegation: one measurement is certain.
  kAccuracy,  ///< Errors of outputs, which may differ by how a sum was taken.
  kFailure,   ///< A case that fails, which may do so by chance.
};

/// Something in one series that an incident may come of.
struct Alarm {
  std::string case_key;
  std::string label;
  std::string metric;
  IncidentKind kind = IncidentKind::kStep;
  std::int64_t last_before = 0;  ///< Position after which the change happened.
  std::int64_t first_after = 0;  ///< Position at which, or before which, it happened.
  std::string good;              ///< Revision at last_before.
  std::string bad;
  double change = 0;  ///< Difference of the offsets.
  bool is_worse = false;
  bool is_ratio = true;  ///< The change is a log ratio.
  MetricNature nature = MetricNature::kNoisy;
  std::string machine;

  /// Nothing is left for pairs to verify.
  [[nodiscard]] bool is_exact() const { return nature != MetricNature::kNoisy; }
};

/// A series with what it says.
struct AnalyzedSeries {
  StoredSeries stored;
  history::SeriesAnalysis analysis;
};

struct WatchView;

/// "+4.1 %", or the difference itself where a ratio means nothing.
std::string text_of_change(double change, bool is_ratio);

MetricNature nature_of(const AnalyzedSeries& series);

/// Neighbors of the series whose levels differ, as far as what was measured once tells.
std::vector<Alarm> alarms_of_neighbors(const AnalyzedSeries& series, const WatchView& view);

/// Lists the alarms of a series, of three kinds. A step that counts. Neighboring levels
/// (build_levels.h) that differ by the least effect and by twice the noise. A drift: the newest
/// level differs by the least effect from the level after the last known incident, whose position
/// is `settled`.
std::vector<Alarm> alarms_of(const AnalyzedSeries& series, const WatchView& view,
                             std::int64_t settled);

/// Neighbors of all series that differ likewise, whatever lies between: where to look next. The
/// largest change first.
std::vector<Suspicion> suspicions_of(const WatchView& view);

/// Alarms of one direction whose ranges overlap are one incident: one cause changes several cases
/// and metrics. Metrics of different natures stay apart: pairs may reject the noisy ones, and
/// nobody who is told of a size knows of a failure. The first of a group is its largest.
std::vector<std::vector<Alarm>> group_alarms(std::vector<Alarm> alarms);

/// An incident with the positions of its range; once its commit is known, of that alone.
struct KnownRange {
  const Incident* incident = nullptr;
  std::int64_t last_before = 0;
  std::int64_t first_after = 0;
};

/// True if an incident in which a change was found, or may yet be, is about the group: it shares a
/// metric of a case, has the same direction, and its range overlaps.
bool is_known(const std::vector<Alarm>& group, const std::vector<KnownRange>& known);

/// True if pairs found no such change: those of this metric of this case, in a range that contains
/// that of the alarm, or those of three others that the alarm was grouped with.
bool is_refuted(const Alarm& alarm, const std::vector<KnownRange>& known);

}  // namespace assay::watch
