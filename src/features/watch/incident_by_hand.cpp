#include "features/watch/incident_by_hand.h"

#include "features/watch/watch_view.h"

#include <algorithm>
#include <cstdint>
#include <expected>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/record/incident.h"
#include "assay/store/result_store.h"

namespace assay::watch {
namespace {

std::string list_of_open(const std::vector<Incident>& incidents) {
  std::string list;
  for (const auto& incident : incidents) {
    if (!is_closed(incident.state)) {
      list +=
          fmt::format("\n  {}  {}  {}", incident.id, name_of(incident.state), title_of(incident));
    }
  }
  return list.empty() ? "; no incident is open" : "; open incidents:" + list;
}

bool is_state_of_person(IncidentState state) {
  return state == IncidentState::kAcknowledged || state == IncidentState::kAccepted;
}

}  // namespace

Result<Incident> find_incident(const std::vector<Incident>& incidents, std::string_view id) {
  std::vector<Incident> found;
  std::ranges::copy_if(incidents, std::back_inserter(found), [id](const Incident& incident) {
    return !id.empty() && incident.id.starts_with(id);
  });
  if (found.size() == 1) {
    return found.front();
  }
  const bool is_unknown = found.empty();
  return fail(
      is_unknown ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument,
      (is_unknown ? fmt::format("no incident '{}'", id)
                  : fmt::format("'{}' is the beginning of {} incidents", id, found.size())) +
          list_of_open(incidents));
}

Result<Incident> changed_by_hand(const Incident& incident, const StateByHand& change,
                                 std::int64_t now_unix_ns) {
  auto next = incident;
  next.state = change.state;
  // The clock may have been set back since the last change.
  next.changed_unix_ns = std::max(incident.changed_unix_ns, now_unix_ns);
  if (!change.note.empty()) {
    next.note = change.note;
  }
  ASSAY_RETURN_IF_ERROR(check_update(incident, next));
  return next;
}

bool was_changed_by_hand(const Incident& known, const std::vector<Incident>& stored) {
  const auto now = std::ranges::find(stored, known.id, &Incident::id);
  return now != stored.end() && now->state != known.state && is_state_of_person(now->state);
}

Result<Incident> change_stored(ResultStore& store, const Incident& known,
                               const std::function<bool(Incident& stored)>& change) {
  constexpr int kTries = 3;  // Somebody may write between the reading and the writing.
  Status status;
  for (int i = 0; i < kTries; ++i) {
    ASSAY_ASSIGN_OR_RETURN(const auto all, store.incidents_of(known.repository));
    const auto found = std::ranges::find(all, known.id, &Incident::id);
    if (found == all.end()) {
      return fail(ErrorCode::kNotFound, fmt::format("incident '{}' is gone", known.id));
    }
    auto incident = *found;
    if (!change(incident)) {
      return incident;
    }
    // The clock may have been set back since the last change.
    incident.changed_unix_ns = std::max(incident.changed_unix_ns, found->changed_unix_ns);
    status = store.update_incident(incident);
    if (status || status.error().code != ErrorCode::kInvalidArgument) {
      return status ? Result<Incident>(std::move(incident)) : std::unexpected(status.error());
    }
  }
  return std::unexpected(status.error());
}

Result<Incident> store_outcome(ResultStore& store, const Incident& known, Incident outcome) {
  return change_stored(store, known, [&](Incident& stored) {
    auto next = outcome;
    if (was_changed_by_hand(known, {stored})) {
      next.state = stored.state;
    }
    if (stored.note != known.note) {
      next.note = stored.note;
    }
    if (const auto told = stored.attribution.find("told"); told != stored.attribution.end()) {
      next.attribution["told"] = *told;
    }
    stored = std::move(next);
    return true;
  });
}

}  // namespace assay::watch
