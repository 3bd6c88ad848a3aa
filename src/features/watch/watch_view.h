#pragma once

#include "features/repository/repository_spec.h"
#include "features/watch/alarms.h"
#include "features/watch/next_steps.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"
#include "assay/store/result_store.h"

namespace assay::watch {

/// The least change of a metric that matters, where the repository file does not say.
inline constexpr double kDefaultEffect = 0.02;

/// The purpose of the runs of a watcher, without those for incidents.
inline constexpr std::string_view kWatchPurpose = "watch";

/// Label of a run that gave no point. It is stored, so that nothing is measured again for nothing.
inline constexpr const char* kPointsLabel = "points";
inline constexpr const char* kNoPoints = "none";

/// Label of a run of a part of the cases: the text that their labels have.
inline constexpr const char* kOnlyLabel = "only";

/// The part of a repository that is watched.
struct WatchFilter {
  std::string only;  ///< Text in the labels of the cases; empty: all cases.
  /// Revisions at or before it are not measured for the history, but may be references.
  std::int64_t since_position = 0;
};

/// All that is known of a repository, read from the store.
struct WatchView {
  bool verifies = true;  ///< WatchPolicy
  bool bisects = true;
  WatchFilter filter;
  std::string noun = "commit";      ///< Name of its revisions.
  std::vector<Revision> revisions;  ///< Revisions within the horizon, ordered by position.
  std::map<std::string, RevisionBuild> builds;  ///< The newest of each revision.
  std::set<std::string> measured;               ///< Revisions that a run was made of.
  std::set<std::string> pointless;              ///< Builds of which a run gave no point.
  std::set<std::string> measured_once;          ///< Builds with one point that has noise.
  /// Builds with a failure or a change of accuracy that was seen once, or beside one: by bytes,
  /// the revision to measure again.
  std::map<std::string, std::string> doubtful;
  /// Bytes of builds that were measured together with others: what they are to other references is
  /// known.
  std::set<std::string> joined;
  std::set<std::string> replaced;   ///< Measured revisions that are no longer on the branch.
  std::int64_t newest_unix_ns = 0;  ///< When the newest build or point was made.
  std::vector<AnalyzedSeries> series;
  std::vector<Incident> incidents;

  [[nodiscard]] const Revision* find_revision(const std::string& hash) const;
  /// Its first parent, or else the revision before it; nullptr: the horizon begins with it.
  [[nodiscard]] const Revision* find_parent(const Revision& revision) const;
  /// True for a revision that cannot be built.
  [[nodiscard]] bool has_failed(const std::string& hash) const;
  [[nodiscard]] std::set<std::string> failed() const;
  /// Identifies the bytes of its build: a digest, or its hash where they are not known.
  [[nodiscard]] std::string bytes_of(const std::string& hash) const;
  /// A measured revision whose outputs have the same bytes as those of `build`.
  [[nodiscard]] std::optional<std::string> find_measured_twin(const RevisionBuild& build) const;
  /// True if an end of the alarm is to be measured again before it counts.
  [[nodiscard]] bool is_doubtful(const Alarm& alarm) const;
  /// True if the revision is to be measured again for that.
  [[nodiscard]] bool is_doubtful(const std::string& hash) const;
  [[nodiscard]] Progress progress_of(const Revision& revision) const;
  /// True if a revision between the two positions is neither measured nor failed.
  [[nodiscard]] bool has_open_between(std::int64_t low, std::int64_t high) const;
  /// The range of an incident; nullopt if its revisions are no longer there.
  [[nodiscard]] std::optional<KnownRange> range_of(const Incident& incident) const;
  /// The part that the planning of steps needs.
  [[nodiscard]] WatchState state(double verification_share) const;

  /// Fills the two maps below, without which everything is searched one by one. What they are made
  /// of then stays.
  void make_index();
  std::map<std::string, std::size_t> places;  ///< Index of a revision, by hash.
  std::map<std::string, std::string> twins;   ///< A measured revision, by the bytes of its build.
};

/// `revisions`: of the branch, newest first. Errors: the store's.
Result<WatchView> read_view(ResultStore& store, const RepositorySpec& spec,
                            const BuildEnvironment& environment, std::vector<Revision> revisions,
                            WatchFilter filter = {});

/// "bench steady_floor_ns +4.1 %": what an incident is about.
std::string title_of(const Incident& incident);

}  // namespace assay::watch
