#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/incident.h"
#include "assay/store/result_store.h"

namespace assay::watch {

/// A state that a person gives to an incident.
struct StateByHand {
  IncidentState state = IncidentState::kAcknowledged;
  std::string note;  ///< Replaces that of the incident; empty: it stays.
};

/// The incident whose id begins with `id`. Errors: kNotFound for none, kInvalidArgument for
/// several; both list the open ones.
Result<Incident> find_incident(const std::vector<Incident>& incidents, std::string_view id);

/// The incident in its new state. Errors: kInvalidArgument where it cannot come to it.
Result<Incident> changed_by_hand(const Incident& incident, const StateByHand& change,
                                 std::int64_t now_unix_ns);

/// True if somebody has given a state to the incident since it was read as `known`.
bool was_changed_by_hand(const Incident& known, const std::vector<Incident>& stored);

/// Makes a change to the incident as it is stored now, so that what somebody said of it since it
/// was read stays; `change` returns whether there is something to store. Returns the incident as it
/// is then. Errors: the store's.
Result<Incident> change_stored(ResultStore& store, const Incident& known,
                               const std::function<bool(Incident& stored)>& change);

/// Stores the outcome of work on an incident that was read as `known`: with the state and the note
/// that somebody gave it meanwhile, where somebody did. Returns it as stored. Errors: the store's.
Result<Incident> store_outcome(ResultStore& store, const Incident& known, Incident outcome);

}  // namespace assay::watch
