#pragma once

#include "features/repository/repository_spec.h"

#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/incident.h"

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
  std::vector<std::string> ids;  ///< The incidents of the message.
  Json document;
};

/// The messages that the receiver is still to be told: of incidents whose state it wants to know
/// and is not the one that it was told of last.
std::vector<IncidentMessage> pending_messages(const RepositorySpec& spec,
                                              const Notification& notification,
                                              const std::vector<Incident>& incidents);

/// Notes that the receiver got a message about this state of the incident.
void note_told(const Notification& notification, IncidentState state, Incident& incident);

}  // namespace assay::watch
