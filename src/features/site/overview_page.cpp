// The front page: what is new, and what is wrong.
#include "features/site/incident_list.h"
#include "features/site/index_rows.h"
#include "features/site/markup.h"
#include "features/site/page.h"
#include "features/site/page_parts.h"
#include "features/site/pages.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"
#include "assay/report/format.h"
#include "assay/runs/run_overview.h"

namespace assay::site {
namespace {

constexpr std::int64_t kOverviewRuns = 8;
constexpr std::int64_t kMostFailedRuns = 8;
constexpr std::size_t kMostOpenIncidents = 20;
constexpr std::int64_t kDayNs = 86'400'000'000'000;
/// A device without a run for that long is told.
constexpr std::int64_t kUnseenNs = 7 * kDayNs;
/// A failure that is older is history.
constexpr std::int64_t kNewsNs = 30 * kDayNs;

constexpr auto kOverviewRunColumns =
    std::to_array<TableColumn>({{"run"}, {"began, UTC"}, {"verb"}, {"devices"}, {"result"}});
constexpr auto kOpenIncidentColumns = std::to_array<TableColumn>(
    {{"what"}, {"state"}, {"effect"}, {"case"}, {"commit"}, {"opened, UTC"}});
constexpr auto kUnseenColumns =
    std::to_array<TableColumn>({{"device"}, {"class"}, {"last seen, UTC"}, {"ago"}});

Markup runs_table(const std::string& root, std::string_view caption,
                  const std::vector<RunRow>& runs) {
  std::vector<std::vector<Markup>> rows;
  rows.reserve(runs.size());
  for (const auto& run : runs) {
    rows.push_back({run_link(root, run.id, breakable(title_of_run(run))) +
                        element("span", {{"class", "sub"}}, short_run_id(run.id)),
                    time_text(run.started_unix_ns), text(run.verb.empty() ? run.purpose : run.verb),
                    text(joined_names(run.device_names)), run_result(run)});
  }
  return rows.empty() ? Markup() : table(caption, kOverviewRunColumns, rows);
}

/// Incidents that somebody has to look at.
Result<Markup> open_incidents(const PageTools& tools, const std::string& root) {
  const auto store = tools.open_store();
  if (!store) {
    return Markup();
  }
  ASSAY_ASSIGN_OR_RETURN(const auto repositories, (*store)->repositories());
  std::vector<std::vector<Markup>> rows;
  std::size_t open = 0;
  for (const auto& repository : repositories) {
    ASSAY_ASSIGN_OR_RETURN(const auto incidents,
                           incidents_of(**store, tools.index, repository, root,
                                        IncidentScope::kOpen, kMostOpenIncidents - rows.size()));
    open += incidents.open;
    for (const auto& row : incidents.rows) {
      const std::string state(name_of(row.incident.state));
      rows.push_back({link(root + "incidents.html", row.what) +
                          element("span", {{"class", "sub"}}, short_name_of_url(repository.url)),
                      pill(kind_of_word(state), state), text(row.effect), row.cases,
                      row.incident.culprit.empty()
                          ? Markup()
                          : element("code", {}, short_hash(row.incident.culprit)) +
                                element("span", {{"class", "detail"}}, row.subject),
                      time_text(row.incident.opened_unix_ns)});
    }
  }
  const auto more = open - rows.size();
  return rows.empty()
             ? Markup()
             : table("Open incidents", kOpenIncidentColumns, rows) +
                   (more == 0
                        ? Markup()
                        : element("p", {{"class", "note"}},
                                  link(root + "incidents.html", fmt::format("{} more", more))));
}

Markup unseen_devices(const std::string& root, const std::vector<MachineUse>& machines,
                      std::int64_t now_unix_ns) {
  std::vector<std::vector<Markup>> rows;
  for (const auto& machine : machines) {
    if (now_unix_ns - machine.last_unix_ns > kUnseenNs) {
      rows.push_back({link(root + "devices.html", machine.newest.device),
                      text(machine.newest.environment.device_class),
                      time_text(machine.last_unix_ns),
                      text(age_text(machine.last_unix_ns, now_unix_ns))});
    }
  }
  return rows.empty() ? Markup() : table("Devices that were not seen", kUnseenColumns, rows);
}

/// Sections with all that is wrong, and a sentence on what is well.
struct Trouble {
  Markup sections;
  std::string well;
};

Result<Trouble> find_trouble(const PageTools& tools, const std::string& root,
                             std::int64_t now_unix_ns) {
  ASSAY_ASSIGN_OR_RETURN(const auto incidents, open_incidents(tools, root));
  ASSAY_ASSIGN_OR_RETURN(
      auto failed, tools.index.runs(0, kMostFailedRuns, {.has_steps = false, .is_failed = true}));
  std::erase_if(failed,
                [&](const RunRow& run) { return now_unix_ns - run.started_unix_ns > kNewsNs; });
  ASSAY_ASSIGN_OR_RETURN(const auto machines, tools.index.machines());
  const auto unseen = unseen_devices(root, machines, now_unix_ns);
  std::vector<std::string> well;
  if (incidents.is_empty()) {
    well.emplace_back("no open incident");
  }
  if (failed.empty()) {
    well.emplace_back("no failed run within 30 days");
  }
  if (unseen.is_empty()) {
    well.emplace_back("every device was seen within 7 days");
  }
  return Trouble{
      .sections = section("Open incidents", incidents) +
                  section("Failed runs", runs_table(root, "Failed runs, newest first", failed)) +
                  section("Devices not seen for 7 days", unseen),
      .well = joined_names(well)};
}

}  // namespace

Result<Page> make_overview_page(const PageTools& tools, const PageRequest& request,
                                const std::string& /*name*/) {
  const auto root = root_from(request.path);
  const auto now = unix_time_ns();
  ASSAY_ASSIGN_OR_RETURN(const auto count, tools.index.count_runs());
  ASSAY_ASSIGN_OR_RETURN(const auto newest,
                         tools.index.runs(0, kOverviewRuns, {.has_steps = false}));
  ASSAY_ASSIGN_OR_RETURN(const auto without_steps, tools.index.count_runs({.has_steps = false}));
  ASSAY_ASSIGN_OR_RETURN(const auto trouble, find_trouble(tools, root, now));
  const auto steps = count - without_steps;
  const auto all = element(
      "p", {{"class", "note"}},
      link(root + "runs.html", fmt::format("All runs: {}", count)) +
          (steps == 0 ? Markup()
                      : text(fmt::format(", {} of them steps of watch and bisect", steps))));
  Markup body = trouble.sections;
  if (!trouble.well.empty()) {
    body +=
        element("section", {}, element("p", {{"class", "muted"}}, "Fine: " + trouble.well + "."));
  }
  const auto runs = runs_table(root, "Newest runs", newest);
  body += section("Newest runs", runs.is_empty() ? all : runs + all);
  std::vector<Markup> lede = {text(report::counted(static_cast<std::size_t>(count), "run"))};
  if (tools.is_static) {  // Files keep what they say.
    lede.push_back(text("as of ") + time_text(now));
  }
  return make_page(tools, request,
                   {.title = "Overview",
                    .section = "index.html",
                    .lede = std::move(lede),
                    .body = count == 0 && tools.state.pending == 0 ? no_run_notice() : body});
}

}  // namespace assay::site
