#include "features/watch/watch_text.h"

#include "features/compare/verdict.h"
#include "features/repository/repository_spec.h"
#include "features/watch/change_check.h"
#include "features/watch/changed_metrics.h"
#include "features/watch/next_steps.h"
#include "features/watch/watch_reasons.h"
#include "features/watch/watch_view.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/units.h"
#include "assay/record/comparison.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"
#include "assay/report/format.h"
#include "assay/report/text_table.h"

namespace assay::watch {
namespace {

constexpr std::size_t kTextWidth = 120;
constexpr double kPercent = 100;

/// "62 % of the change", or nothing where shares make no sense.
std::string text_of_share(const Json& culprit) {
  const auto share = culprit.find("share");
  return share == culprit.end()
             ? ""
             : fmt::format("  {:.0f} % of the change", kPercent * share->get<double>());
}

/// Several revisions that made the change, where there are several, the largest part first.
std::string text_of_other_culprits(const Incident& incident, const WatchView& view) {
  std::string text;
  for (const auto& culprit : incident.attribution.value("culprits", Json::array())) {
    const auto* revision = view.find_revision(culprit.value("revision", ""));
    if (revision != nullptr) {
      text +=
          fmt::format("  part       {}{}\n", text_of_revision(*revision), text_of_share(culprit));
      for (const auto& line : lines_of_operators(culprit.value("operators", Json::array()))) {
        text += fmt::format("               {}\n", line);
      }
    }
  }
  return text;
}

/// The cases whose change was taken back while that of others is there.
std::string text_of_partial_fix(const Incident& incident) {
  const auto fixed = fixed_cases(incident);
  if (fixed.empty() || incident.state == IncidentState::kFixed) {
    return "";
  }
  std::string text;
  for (const auto& [key, revision] : fixed) {
    const auto changes = changed_metrics(incident);
    const auto named = std::ranges::find(changes, key, &ChangedMetric::case_key);
    text += fmt::format("  fixed      {}, by {}\n", named == changes.end() ? key : named->label,
                        short_hash(revision));
  }
  return text + fmt::format("  open       {} of {}\n", incident.cases.size() - fixed.size(),
                            report::counted(incident.cases.size(), "case"));
}

std::string scaled(double value, const std::string& unit) {
  if (!std::isfinite(value)) {
    return "-";
  }
  if (unit == "ns") {
    return text_from_duration_ns(value);
  }
  return unit == "bytes" ? text_from_bytes(value) : report::text_from_number(value, 4);
}

std::string text_of_minutes(std::optional<double> seconds) {
  constexpr double kSecondsPerMinute = 60;
  constexpr double kLeastShown = 0.05;
  if (!seconds) {
    return "?";
  }
  const double minutes = *seconds / kSecondsPerMinute;
  return minutes < kLeastShown ? "<0.1" : fmt::format("{:.1f}", minutes);
}

std::string text_of_total(const std::vector<std::optional<double>>& seconds) {
  double sum = 0;
  std::size_t unknown = 0;
  for (const auto& one : seconds) {
    sum += one.value_or(0);
    unknown += one ? 0 : 1;
  }
  if (unknown == seconds.size()) {
    return "no step of these kinds was made yet, so their time is not known\n";
  }
  return fmt::format("about {} minutes{}\n", text_of_minutes(sum),
                     unknown == 0 ? ""
                                  : fmt::format(" and the time of {} that is not known",
                                                report::counted(unknown, "step")));
}

std::string sentence_of_verdict(const ChangeCheck& check) {
  switch (check.verdict) {
    case ChangeVerdict::kWorse:
      return "the change makes something worse";
    case ChangeVerdict::kBetter:
      return "the change makes something better and nothing worse";
    case ChangeVerdict::kUndecided:
      return "the pairs cannot tell whether the change matters";
    case ChangeVerdict::kSame:
      return "no change that matters";
  }
  return "";
}

}  // namespace

std::string text_of_revision(const Revision& revision) {
  return fmt::format("{}  {}", short_hash(revision.hash), revision.subject);
}

PairEstimate estimate_from_effect(const Json& effect) {
  const PairEstimate none;
  return {.ratio = effect.value("ratio", none.ratio),
          .scale = effect.value("scale", none.scale),
          .base = effect.value("base", none.base)};
}

std::string text_of_effect(const Incident& incident) {
  const auto effect = incident.attribution.find("effect");
  if (effect == incident.attribution.end()) {
    return "";
  }
  const auto estimate = estimate_from_effect(*effect);
  const auto text = [&estimate](const Json& change) {
    return change.is_number() ? assay::text_of_change(estimate, change.get<double>()) : "?";
  };
  return fmt::format("{} [{}, {}], {} pairs", text((*effect)["ratio"]), text((*effect)["low"]),
                     text((*effect)["high"]), effect->value("pairs", 0));
}

std::vector<std::string> lines_of_operators(const Json& operators) {
  std::vector<std::string> lines;
  for (const auto& row : operators) {
    const auto before = row.value("before_ns", Json());
    const auto after = row.value("after_ns", Json());
    const auto change =
        before.is_number() && after.is_number() && before.get<double>() > 0
            ? fmt::format("{:+.3g} %", kPercent * (after.get<double>() / before.get<double>() - 1))
            : std::string(before.is_null() ? "new" : "gone");
    auto line = row.value("name", "") + " " + change;
    if (row.contains("share")) {
      line += fmt::format(", {:.0f} % of the difference", kPercent * row.value("share", 0.0));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> lines_of_functions(const Json& instructions) {
  constexpr std::size_t kMostLines = 4;
  std::vector<std::string> lines;
  for (const auto& row : instructions.value("functions", Json::array())) {
    if (lines.size() < kMostLines) {
      const double change = row.value("change", 0.0);
      lines.push_back(fmt::format("{} {}{} instructions, {:.0f} % of the difference",
                                  row.value("name", ""), change < 0 ? "-" : "+",
                                  report::text_from_count(std::abs(change)),
                                  kPercent * row.value("share", 0.0)));
    }
  }
  return lines;
}

std::string line_of_event(const Json& event) {
  const auto kind = event.value("event", "");
  const auto commit = [&](const char* key) { return short_hash(event.value(key, "")); };
  if (kind == "measured") {
    return fmt::format("measured   {}  {}", commit("revision"), event.value("subject", ""));
  }
  if (kind == "failed") {
    return fmt::format("failed     {}  {}; log: {}", commit("revision"), event.value("reason", ""),
                       event.value("log", ""));
  }
  if (kind == "equal") {
    return fmt::format("equal      {}  same bytes as {}", commit("revision"), commit("same_as"));
  }
  if (kind == "incident") {
    const auto culprit = event.value("culprit", "");
    return fmt::format("{:10} {}  {}", event.value("state", ""),
                       culprit.empty() ? fmt::format("{}..{}", commit("good"), commit("bad"))
                                       : short_hash(culprit),
                       event.value("title", ""));
  }
  return "";
}

void EventCounts::add(const Json& event) {
  const auto kind = event.value("event", "");
  if (kind == "measured" || kind == "equal") {
    measured_.insert(event.value("revision", ""));
  } else if (kind == "failed") {
    failed_.insert(event.value("revision", ""));
  } else if (kind == "incident") {
    incidents_[event.value("id", "")] = event.value("state", "");
  }
}

std::string EventCounts::text() const {
  auto text = report::counted(measured_.size(), "commit") + " measured";
  if (!failed_.empty()) {
    text += fmt::format(", {} cannot be built", failed_.size());
  }
  std::map<std::string, std::size_t> states;
  for (const auto& [id, state] : incidents_) {
    ++states[state];
  }
  for (const auto& [state, count] : states) {
    text += fmt::format("; {} {}", report::counted(count, "incident"), state);
  }
  return text;
}

std::string text_of_plan(const std::vector<WatchStep>& steps,
                         const std::vector<Revision>& revisions,
                         const std::vector<std::optional<double>>& seconds) {
  if (steps.empty()) {
    return "nothing is left to measure\n";
  }
  report::TextTable table{
      .columns = {{.title = "step", .is_left = true, .importance = report::kImportant},
                  {.title = "commit", .is_left = true, .importance = report::kImportant},
                  {.title = "minutes", .importance = report::kImportant},
                  {.title = "reason", .is_left = true, .importance = report::kImportant},
                  {.title = "subject", .is_left = true, .most_width = 50, .least_width = 10}}};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& step = steps[i];
    const auto revision = std::ranges::find(revisions, step.revision, &Revision::hash);
    table.columns[0].cells.push_back({std::string(name_of(step.kind)), {}});
    table.columns[1].cells.push_back({short_hash(step.revision), {}});
    table.columns[2].cells.push_back({text_of_minutes(seconds[i]), {}});
    table.columns[3].cells.push_back({step.reason, {}});
    table.columns[4].cells.push_back(
        {revision == revisions.end() ? std::string() : revision->subject, {}});
  }
  return table.lay_out(kTextWidth, /*has_colour=*/false).text + text_of_total(seconds);
}

std::string text_of_incident(const Incident& incident, const WatchView& view) {
  auto text = fmt::format("{:12} {}\n  id         {}\n", name_of(incident.state),
                          title_of(incident), incident.id);
  const auto* culprit = view.find_revision(incident.culprit);
  if (culprit != nullptr) {
    text += fmt::format("  {:10} {}\n", view.noun, text_of_revision(*culprit));
  } else {
    text += fmt::format("  between    {} and {}\n", short_hash(incident.good),
                        short_hash(incident.bad));
  }
  text += text_of_other_culprits(incident, view);
  for (const auto& part :
       incident.attribution.value("/search/undecided"_json_pointer, Json::array())) {
    text += fmt::format(
        "  undecided  {}..{}: the pairs cannot tell whether a part of the change is there\n",
        short_hash(part.value("good", "")), short_hash(part.value("bad", "")));
  }
  if (const auto effect = text_of_effect(incident); !effect.empty()) {
    text += fmt::format("  effect     {}\n", effect);
  }
  if (const auto files = incident.attribution.value("files", std::vector<std::string>());
      !files.empty()) {
    text += fmt::format("  files      {}\n", fmt::join(files, ", "));
  }
  for (const auto& line :
       lines_of_operators(incident.attribution.value("operators", Json::array()))) {
    text += fmt::format("  operator   {}\n", line);
  }
  for (const auto& line :
       lines_of_functions(incident.attribution.value("instructions", Json::object()))) {
    text += fmt::format("  function   {}\n", line);
  }
  text += text_of_partial_fix(incident);
  if (const auto reason = incident.attribution.value("/search/reason"_json_pointer, "");
      !reason.empty()) {
    text += fmt::format("  search     {}\n", reason);
  }
  if (const auto fix = incident.attribution.value("fixed_by", ""); !fix.empty()) {
    text += fmt::format("  fixed by   {}\n", short_hash(fix));
  }
  if (const auto command = incident.attribution.value("command", ""); !command.empty()) {
    text += fmt::format("  shown by   {}\n", command);
  }
  if (const auto rest = reason_of_rest(incident, view); !rest.empty()) {
    text += fmt::format("  rests      {}\n", rest);
  }
  if (!incident.note.empty()) {
    text += fmt::format("  note       {}\n", incident.note);
  }
  return text;
}

std::string text_of_status(const WatchView& view, const std::vector<WatchStep>& steps,
                           const std::vector<std::optional<double>>& seconds,
                           std::int64_t now_unix_ns) {
  const auto count = [&](Progress progress) {
    return std::ranges::count_if(view.revisions, [&](const Revision& revision) {
      return view.progress_of(revision) == progress;
    });
  };
  auto text =
      fmt::format("{} commits: {} measured, {} failed, {} not looked at\n", view.revisions.size(),
                  count(Progress::kMeasured), count(Progress::kFailed), count(Progress::kOpen));
  text += text_of_reasons(view, now_unix_ns);
  for (const auto& incident : view.incidents) {
    if (incident.state != IncidentState::kRejected) {
      text += "\n" + text_of_incident(incident, view);
    }
  }
  text += "\nnext steps\n" + text_of_plan(steps, view.revisions, seconds);
  return text;
}

std::string text_of_change_check(const ChangeCheck& check) {
  auto text = fmt::format("base  {}\nhead  {}\n\n{}\n", text_of_revision(check.base),
                          text_of_revision(check.head),
                          check.text.empty() ? sentence_of_verdict(check) : check.text);
  if (check.rows.empty()) {
    return text;
  }
  report::TextTable table{
      .columns = {{.title = "case", .is_left = true, .most_width = 40, .least_width = 10},
                  {.title = "metric", .is_left = true, .importance = report::kImportant},
                  {.title = "base", .importance = report::kImportant},
                  {.title = "head", .importance = report::kImportant},
                  {.title = "verdict", .is_left = true, .importance = report::kImportant},
                  {.title = "answer", .is_left = true, .most_width = 60, .least_width = 10}},
      .indent = 2};
  for (const auto& row : check.rows) {
    table.columns[0].cells.push_back({row.label, {}});
    table.columns[1].cells.push_back({row.metric, {}});
    table.columns[2].cells.push_back({scaled(row.base, row.unit), {}});
    table.columns[3].cells.push_back({scaled(row.head, row.unit), {}});
    table.columns[4].cells.push_back({std::string(name_of(row.verdict)), {}});
    table.columns[5].cells.push_back({row.text, {}});
  }
  return text + "\n" + table.lay_out(kTextWidth, /*has_colour=*/false).text;
}

std::string markdown_of_change(const ChangeCheck& check, const RepositorySpec& spec) {
  auto text =
      fmt::format("**{}: {}**\n\n{} ({}) against {}\n", spec.repository.engine,
                  check.text.empty() ? sentence_of_verdict(check) : check.text,
                  short_hash(check.head.hash), check.head.subject, short_hash(check.base.hash));
  if (check.rows.empty()) {
    return text;
  }
  text +=
      "\n| case | metric | base (A) | head (B) | verdict | answer |\n|---|---|---:|---:|---|---|\n";
  for (const auto& row : check.rows) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", row.label, row.metric,
                        scaled(row.base, row.unit), scaled(row.head, row.unit),
                        name_of(row.verdict), row.text);
  }
  return text;
}

Json document_of_change(const ChangeCheck& check) {
  Json document{{"schema", "assay/change/1"},
                {"base", check.base.hash},
                {"head", check.head.hash},
                {"verdict", name_of(check.verdict)},
                {"text", check.text.empty() ? sentence_of_verdict(check) : check.text},
                {"rows", Json::array()}};
  for (const auto& row : check.rows) {
    document["rows"].push_back({{"case", row.label},
                                {"metric", row.metric},
                                {"unit", row.unit},
                                {"base", row.base},
                                {"head", row.head},
                                {"verdict", name_of(row.verdict)},
                                {"text", row.text},
                                {"comparison", row.comparison}});
  }
  return document;
}

}  // namespace assay::watch
