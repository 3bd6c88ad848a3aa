#include "features/watch/events.h"

#include "features/repository/repository_spec.h"
#include "features/watch/delivery.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/record/incident.h"

namespace assay::watch {
namespace {

constexpr const char* kTold = "told";

bool is_told(const Notification& notification, const Incident& incident) {
  const auto told = incident.attribution.find(kTold);
  return told != incident.attribution.end() && told->is_object() &&
         told->value(key_of(notification), "") == name_of(incident.state);
}

bool belongs_together(const Incident& a, const Incident& b) {
  const bool has_culprit = !a.culprit.empty() || !b.culprit.empty();
  return a.state == b.state && a.kind == b.kind &&
         (has_culprit ? a.culprit == b.culprit : a.good == b.good && a.bad == b.bad);
}

Json document_of_incident(const Incident& incident) {
  auto attribution = incident.attribution;
  const auto title = attribution.value("title", incident.metric);
  const auto is_worse = attribution.value("is_worse", true);
  const auto change = attribution.value("change", 0.0);
  for (const auto* key : {"title", "is_worse", "change", kTold}) {
    attribution.erase(key);
  }
  return {{"id", incident.id},
          {"title", title},
          {"cases", incident.cases},
          {"metric", incident.metric},
          {"is_worse", is_worse},
          {"change", change},
          {"comparisons", incident.comparisons},
          {"attribution", attribution}};
}

Json document_of_message(const RepositorySpec& spec,
                         const std::vector<const Incident*>& incidents) {
  const auto& first = *incidents.front();
  Json document{{"schema", "assay/incident/1"},
                {"repository", spec.repository.url},
                {"engine", spec.repository.engine},
                {"labels", spec.labels},
                {"state", name_of(first.state)},
                {"kind", name_of(first.kind)},
                {"culprit", first.culprit},
                {"good", first.good},
                {"bad", first.bad},
                {"incidents", Json::array()}};
  for (const auto* incident : incidents) {
    document["incidents"].push_back(document_of_incident(*incident));
  }
  return document;
}

bool wants_state(const Notification& notification, IncidentState state) {
  return notification.on.empty() ||
         std::ranges::find(notification.on, name_of(state)) != notification.on.end();
}

}  // namespace

std::vector<IncidentMessage> pending_messages(const RepositorySpec& spec,
                                              const Notification& notification,
                                              const std::vector<Incident>& incidents) {
  std::vector<std::vector<const Incident*>> groups;
  for (const auto& incident : incidents) {
    if (!wants_state(notification, incident.state) || is_told(notification, incident)) {
      continue;
    }
    const auto found = std::ranges::find_if(
        groups, [&](const auto& group) { return belongs_together(*group.front(), incident); });
    if (found == groups.end()) {
      groups.push_back({&incident});
    } else {
      found->push_back(&incident);
    }
  }
  std::vector<IncidentMessage> messages;
  for (const auto& group : groups) {
    auto& message = messages.emplace_back();
    std::ranges::transform(group, std::back_inserter(message.ids), &Incident::id);
    message.document = document_of_message(spec, group);
  }
  return messages;
}

void note_told(const Notification& notification, IncidentState state, Incident& incident) {
  auto& told = incident.attribution[kTold];
  if (!told.is_object()) {
    told = Json::object();
  }
  told[key_of(notification)] = name_of(state);
}

}  // namespace assay::watch
