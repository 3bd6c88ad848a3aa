#pragma once

#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/incident.h"
#include "assay/repository/repository_spec.h"

namespace assay::watch {

/// Hears what a watcher does. The defaults do nothing.
class WatchListener {
 public:
  WatchListener() = default;
  WatchListener(const WatchListener&) = delete;
  WatchListener& operator=(const WatchListener&) = delete;
  virtual ~WatchListener() = default;
  /// A step begins: {"event": "step", "kind": "measure", "revision": …, "reason": …}; it ended:
  /// {"event": "measured" | "failed" | "equal" | "verified" | "searched", …}; an incident changed:
  /// {"event": "incident", "state": …, …}.
  virtual void on_event(const Json& /*event*/) {}
};

/// One message for all incidents of one state that have the same culprit, or, where it is not
/// known, the same range: {"schema": "assay/incident/1", "repository", "state", "culprit",
/// "subject", "good", "bad", "incidents": [{"id", "title", "cases", "metric", "is_worse",
/// "change", "attribution", "comparisons"}, …]}.
struct IncidentMessage {
  IncidentState state = IncidentState::kNominated;
  std::vector<Incident> incidents;
  Json document;
};

/// The messages that somebody is still to be told: of incidents whose state is not the one that
/// they were told of last. `subject_of`: the first line of a revision's message.
std::vector<IncidentMessage> pending_messages(const RepositorySpec& spec,
                                              const std::vector<Incident>& incidents);

/// Runs every command that wants the state, with the document on its stdin. Errors: kUnavailable,
/// naming the command that failed; the message stays pending.
Status send_message(const RepositorySpec& spec, const IncidentMessage& message);

}  // namespace assay::watch
