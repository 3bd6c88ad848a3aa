#pragma once

#include "features/repository/repository_spec.h"
#include "features/watch/revision_runner.h"
#include "features/watch/watch_view.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/comparison.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"
#include "assay/store/result_store.h"

namespace assay::watch {

/// Tools for work on an incident.
struct IncidentTools {
  const RepositorySpec& spec;
  ResultStore& store;
  RevisionRunner& runner;
  std::function<std::int64_t()> now_unix_ns;
};

/// Compares both ends of an incident by fresh pairs, up to three times, and stores what becomes of
/// it: confirmed when a change, in whichever direction, was found and found again, rejected when
/// there is none, undecided when no comparison can tell. The commit is known where the range holds
/// only one. Returns the incident as stored. Errors: those of the runner and of the store.
Result<Incident> verify_incident(const WatchView& view, Incident incident,
                                 const IncidentTools& tools);

/// Compares two builds by fresh pairs, up to three times until a comparison decides, and notes the
/// comparisons in the incident. Each of them has to find a change and to find it again, so that
/// further tries do not confirm one that is not there. Errors: those of the runner.
Result<Comparison> compare_until_decided(BuildPair ends, const IncidentTools& tools,
                                         Incident& incident);

/// The build of a revision, out of the view or made now.
Result<RevisionBuild> get_build(const WatchView& view, const Revision& revision,
                                RevisionRunner& runner);

/// The estimate that decided: that of the confirmation, or of all pairs; null if there is none.
const PairEstimate* primary_of(const Comparison& comparison);

/// True if the comparison found a change that matters, and found it again.
bool shows_change(const Comparison& comparison);

/// True if changes of the incident's metric are log ratios, or else differences in its unit.
bool has_log_offsets(const Incident& incident);

/// True if more of the incident's metric is better.
bool is_better_when_higher(const Incident& incident);

/// The change from A to B on the scale of MeasuredPoint::offset; absent where that is a ln ratio
/// and a side is not above 0.
std::optional<double> offset_of(const PairEstimate& estimate);

/// The least change of the metric that matters, a ratio.
double min_effect_of(const RepositorySpec& spec, const std::string& metric);

/// Revisions that may have caused the incident: after its good end, up to its bad one.
std::vector<Revision> candidates_of(const WatchView& view, const Incident& incident);

/// Adds what explains the culprit: its subject, the files that it changed, the operators that
/// account for the difference to its parent, and the command that compares the two.
Status explain_culprit(const WatchView& view, Incident& incident, const IncidentTools& tools);

}  // namespace assay::watch
