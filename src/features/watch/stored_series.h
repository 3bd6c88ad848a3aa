#pragma once

#include "features/history/series.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/measured_series.h"
#include "assay/record/repository.h"
#include "assay/store/result_store.h"

namespace assay::watch {

/// Which series are read; empty fields leave all in.
struct SeriesFilter {
  std::string only;  ///< Part of the case's label.
  std::vector<std::string> metrics;
  std::string environment;  ///< Environment of the build.
  std::int64_t since_position = 0;
};

/// A series as the analysis takes it, with what it is in the store.
struct StoredSeries {
  MeasuredSeries measured;
  history::Series series;
  /// False for an error of outputs that no bound judges: how much of it matters is not known.
  bool raises_alarms = true;
};

/// The series of a repository over the revisions of its branch; points of revisions that are no
/// longer there (a force-push) are left out. Several points of one revision on one machine become
/// their mean. Offsets to different references are joined where one reference was measured
/// beside another, so that the series has one reference. `revisions`: by position.
/// `least_effects`: by metric. Without one, a metric that repeats exactly has that of a rounding
/// error, and an error of outputs a tenth of its tolerance (ErrorTolerances). Errors: the store's.
Result<std::vector<StoredSeries>> read_series(ResultStore& store, const std::string& repository,
                                              const std::vector<Revision>& revisions,
                                              const SeriesFilter& filter,
                                              const std::map<std::string, double>& least_effects);

/// Identifies the bytes of a revision's build: its digest, or else its hash.
using BytesOf = std::function<std::string(const std::string& revision)>;

/// Makes one of several points of a revision on one machine: their mean against one reference, else
/// the newest. They come by position, then by time; other machines' may lie between.
void combine_looks(std::vector<MeasuredPoint>& points);

/// Replaces the offsets of `points` by offsets to as few references as possible: a reference that
/// is itself a point, or has the bytes of one, is followed to its own, and one that was measured
/// alone is at 0. Pure.
void join_references(std::vector<MeasuredPoint>& points, const BytesOf& bytes_of);

}  // namespace assay::watch
