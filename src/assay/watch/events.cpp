#include "assay/watch/events.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/record/incident.h"
#include "assay/repository/repository_spec.h"

namespace assay::watch {
namespace {

constexpr std::string_view kTold = "told";
constexpr std::chrono::milliseconds kCommandTimeout{60'000};

bool is_told(const Incident& incident) {
  return incident.attribution.value(std::string(kTold), "") == name_of(incident.state);
}

bool belongs_together(const Incident& a, const Incident& b) {
  const bool has_culprit = !a.culprit.empty() || !b.culprit.empty();
  return a.state == b.state &&
         (has_culprit ? a.culprit == b.culprit : a.good == b.good && a.bad == b.bad);
}

Json document_of_incident(const Incident& incident) {
  auto attribution = incident.attribution;
  const auto title = attribution.value("title", incident.metric);
  const auto is_worse = attribution.value("is_worse", true);
  const auto change = attribution.value("change", 0.0);
  for (const auto* key : {"title", "is_worse", "change", "told"}) {
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

Json document_of_message(const RepositorySpec& spec, const std::vector<Incident>& incidents) {
  const auto& first = incidents.front();
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
  for (const auto& incident : incidents) {
    document["incidents"].push_back(document_of_incident(incident));
  }
  return document;
}

bool wants_state(const Notification& notification, IncidentState state) {
  return notification.on.empty() ||
         std::ranges::find(notification.on, name_of(state)) != notification.on.end();
}

Status run_command(const Notification& notification, const std::string& text) {
  const auto failed = [&](const std::string& why) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("the notification `{}` {}; it is tried again with the next step",
                            fmt::join(notification.argv, " "), why));
  };
  auto process = Subprocess::start({.argv = notification.argv, .stdout_file = "/dev/null"});
  if (!process) {
    return failed("cannot be started: " + process.error().message);
  }
  if (!process->write(text)) {
    // A command that does not read its input may still do its work.
  }
  process->close_stdin();
  if (!process->has_ended(kCommandTimeout)) {
    return failed("did not end within a minute");
  }
  const int code = process->wait();
  return code == 0 ? Status() : failed(fmt::format("ended with {}", code));
}

}  // namespace

std::vector<IncidentMessage> pending_messages(const RepositorySpec& spec,
                                              const std::vector<Incident>& incidents) {
  std::vector<IncidentMessage> messages;
  for (const auto& incident : incidents) {
    if (is_told(incident)) {
      continue;
    }
    const auto found = std::ranges::find_if(messages, [&](const IncidentMessage& message) {
      return belongs_together(message.incidents.front(), incident);
    });
    if (found == messages.end()) {
      messages.push_back({.state = incident.state, .incidents = {incident}, .document = {}});
    } else {
      found->incidents.push_back(incident);
    }
  }
  for (auto& message : messages) {
    message.document = document_of_message(spec, message.incidents);
  }
  return messages;
}

Status send_message(const RepositorySpec& spec, const IncidentMessage& message) {
  const auto text = message.document.dump() + "\n";
  for (const auto& notification : spec.notify) {
    if (wants_state(notification, message.state)) {
      ASSAY_RETURN_IF_ERROR(run_command(notification, text));
    }
  }
  return {};
}

}  // namespace assay::watch
