#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/base/enum_names.h"

namespace assay::watch {

/// State of a revision in the watcher's work.
enum class Progress : std::uint8_t {
  kOpen,      ///< Nothing is known of the revision.
  kMeasured,  ///< It has a point, or its build equals one that has.
  kFailed,    ///< It cannot be built, or does not run.
};

struct WatchedRevision {
  std::string hash;
  std::int64_t position = 0;  ///< Revision::position
  Progress progress = Progress::kOpen;
  /// It has one point, and a second would make its level less noisy.
  bool needs_second_look = false;
  /// A failure or a change of accuracy that was seen once depends on it.
  bool is_doubtful = false;
};

/// Two measured positions between which something seems to have changed.
struct Suspicion {
  std::int64_t last_before = 0;
  std::int64_t first_after = 0;
  std::string reason;  ///< "bench steady_floor_ns +4.1 %"
};

/// An incident that waits for fresh pairs of launches.
struct OpenIncident {
  std::string id;
  std::string reason;
  bool is_confirmed = false;  ///< Its commit is searched for; else both ends are compared.
};

/// Knowledge about a repository, from which the next steps follow.
struct WatchState {
  std::vector<WatchedRevision> revisions;  ///< Revisions within the horizon, ordered by position.
  std::vector<OpenIncident> incidents;     ///< The oldest first.
  std::vector<Suspicion> suspicions;       ///< The largest change first.
  double verification_share = 0;           ///< Share of the time so far.
};

enum class StepKind : std::uint8_t {
  kVerify,   ///< Compare both ends of an incident by fresh pairs.
  kBisect,   ///< Find the commit of a confirmed incident.
  kMeasure,  ///< Build a revision and measure it and the reference in turn.
};

struct WatchStep {
  StepKind kind = StepKind::kMeasure;
  std::string revision;  ///< Revision of a measurement.
  std::string incident;  ///< Id, for a verification or a bisection.
  std::string reason;    ///< "newest", "half of a gap of 12 commits", …
};

/// The order of work, at most `most` steps; it assumes that each step succeeds. Pure.
///
///   1. verify and bisect incidents, as long as that took `most_verification` of the time at most
///   2. the newest revision
///   3. the oldest revision of the horizon, so that there is a gap to halve
///   4. the middle of a suspicious gap, to single commits
///   5. a second look at a failure or a change of accuracy, the newest first
///   6. the middle of the largest gap of more than `step` commits, the newest of equal ones
///   7. a second look at what has a single point with noise, the newest first
///   8. incidents that step 1 left
std::vector<WatchStep> plan_steps(WatchState state, int step, double most_verification,
                                  std::size_t most);

}  // namespace assay::watch

namespace assay {

template <>
inline constexpr auto kEnumNames<watch::StepKind> = std::to_array<EnumName<watch::StepKind>>({
    {watch::StepKind::kVerify, "verify"},
    {watch::StepKind::kBisect, "bisect"},
    {watch::StepKind::kMeasure, "measure"},
});

}  // namespace assay
