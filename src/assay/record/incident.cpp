#include "assay/record/incident.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {
namespace {

std::vector<IncidentState> states_after(IncidentState state) {
  using enum IncidentState;
  switch (state) {
    case kNominated:
      return {kVerifying, kConfirmed, kRejected, kUndecided, kAccepted, kFixed};
    case kVerifying:
      return {kNominated, kConfirmed, kRejected, kUndecided, kAccepted};
    case kUndecided:
      return {kVerifying, kConfirmed, kRejected, kAcknowledged, kFixed, kAccepted};
    case kConfirmed:
      return {kAcknowledged, kFixed, kAccepted};
    case kAcknowledged:
      return {kFixed, kAccepted};
    case kFixed:
      return {kConfirmed};  // Closed too early.
    case kAccepted:
      return {kAcknowledged};
    case kRejected:
      return {kVerifying};
  }
  return {};
}

auto subject_of(const Incident& incident) {
  return std::tie(incident.id, incident.repository, incident.environment, incident.machine,
                  incident.kind, incident.cases, incident.metric, incident.good, incident.bad,
                  incident.opened_unix_ns);
}

}  // namespace

Status check_update(const Incident& stored, const Incident& next) {
  if (subject_of(stored) != subject_of(next)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("incident '{}' is about something else: only its state, culprit, "
                            "comparisons, attribution and note can change",
                            stored.id));
  }
  if (next.changed_unix_ns < stored.changed_unix_ns) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("incident '{}' was changed since it was read", stored.id));
  }
  const auto possible = states_after(stored.state);
  if (next.state != stored.state && std::ranges::find(possible, next.state) == possible.end()) {
    std::vector<std::string_view> names;
    std::ranges::transform(possible, std::back_inserter(names), name_of<IncidentState>);
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("incident '{}' is {} and cannot become {}; it can become {}", stored.id,
                            name_of(stored.state), name_of(next.state), fmt::join(names, ", ")));
  }
  return {};
}

bool is_closed(IncidentState state) {
  return state == IncidentState::kRejected || state == IncidentState::kFixed ||
         state == IncidentState::kAccepted;
}

ASSAY_DEFINE_JSON(Incident, id, repository, environment, machine, kind, cases, metric, good, bad,
                  opened_unix_ns, state, culprit, comparisons, attribution, note, changed_unix_ns)

}  // namespace assay
