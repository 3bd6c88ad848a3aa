// Watched repositories: their incidents, and the history of each environment.
#include "features/history/history.h"
#include "features/history/report/history_report.h"
#include "features/history/series.h"
#include "features/site/incident_list.h"
#include "features/site/markup.h"
#include "features/site/page.h"
#include "features/site/page_parts.h"
#include "features/site/pages.h"
#include "features/site/run_index.h"
#include "features/watch/stored_series.h"
#include "features/watch/verified_changes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/record/incident.h"
#include "assay/record/measured_series.h"
#include "assay/record/repository.h"
#include "assay/report/format.h"
#include "assay/report/writer.h"
#include "assay/store/result_store.h"

namespace assay::site {
namespace {

constexpr std::size_t kMostIncidents = 500;

constexpr auto kIncidentColumns = std::to_array<TableColumn>({{"what"},
                                                              {"state"},
                                                              {"effect"},
                                                              {"case"},
                                                              {"commit"},
                                                              {"shown by"},
                                                              {"opened, UTC"},
                                                              {"changed, UTC"},
                                                              {"note"}});

/// "history/0123456789abcdef.html": of a repository in one environment.
std::string name_of_history(const std::string& repository, const std::string& environment) {
  constexpr std::size_t kDigits = 16;
  return sha256_hex(repository + "\n" + environment).substr(0, kDigits);
}

/// The environments of a repository in order of appearance.
std::vector<std::string> environments_of(const std::vector<MeasuredSeries>& series) {
  std::vector<std::string> environments;
  for (const auto& one : series) {
    if (std::ranges::find(environments, one.environment) == environments.end()) {
      environments.push_back(one.environment);
    }
  }
  return environments;
}

/// The culprit with its subject, else the range that holds it.
Markup commit_of(const IncidentRow& row) {
  const auto& incident = row.incident;
  const auto range = fmt::format("{}..{}", short_hash(incident.good), short_hash(incident.bad));
  return incident.culprit.empty() ? element("code", {}, range)
                                  : element("code", {}, short_hash(incident.culprit)) +
                                        element("span", {{"class", "detail"}}, row.subject);
}

std::vector<Markup> cells_of_incident(const std::string& root, const IncidentRow& row) {
  const auto& incident = row.incident;
  const std::string state(name_of(incident.state));
  return {text(row.what) + element("span", {{"class", "sub"}}, incident.environment),
          pill(kind_of_word(state), state),
          text(row.effect),
          row.cases,
          commit_of(row),
          row.run.empty() ? Markup() : run_link(root, row.run, "comparison"),
          time_text(incident.opened_unix_ns),
          time_text(incident.changed_unix_ns),
          text(incident.note)};
}

Markup incidents_table(const std::string& root, const IncidentList& incidents) {
  if (incidents.rows.empty()) {
    return element("p", {{"class", "muted"}}, "No incident.");
  }
  std::vector<std::vector<Markup>> rows;
  rows.reserve(incidents.rows.size());
  for (const auto& row : incidents.rows) {
    rows.push_back(cells_of_incident(root, row));
  }
  const auto note =
      incidents.all > rows.size()
          ? element("p", {{"class", "note"}},
                    fmt::format("The newest {} of {} incidents.", rows.size(), incidents.all))
          : Markup();
  return table("Incidents, newest first", kIncidentColumns, rows) + note;
}

Result<Markup> section_of_repository(ResultStore& store, RunIndex& index, const std::string& root,
                                     const Repository& repository) {
  ASSAY_ASSIGN_OR_RETURN(const auto series, store.series_of(repository.id()));
  ASSAY_ASSIGN_OR_RETURN(const auto incidents, incidents_of(store, index, repository, root,
                                                            IncidentScope::kAll, kMostIncidents));
  Markup links;
  for (const auto& environment : environments_of(series)) {
    const auto count = std::ranges::count(series, environment, &MeasuredSeries::environment);
    links +=
        element("li", {},
                link(root + "history/" + name_of_history(repository.id(), environment) + ".html",
                     fmt::format("History in {}: {} series",
                                 environment.empty() ? "any" : environment, count)));
  }
  const auto facts = element(
      "p", {{"class", "muted"}},
      fmt::format("{} {}, engine {}, {}, {} open", name_of(repository.kind), repository.url,
                  repository.engine, report::counted(incidents.all, "incident"), incidents.open));
  return section(
      short_name_of_url(repository.url),
      facts + (links.is_empty() ? Markup() : element("ul", {{"class", "plainlist"}}, links)) +
          element("div", {{"class", "part-of"}}, incidents_table(root, incidents)));
}

Result<std::string> html_of_history(ResultStore& store, const Repository& repository,
                                    const std::string& environment, const ReportStyle& style) {
  ASSAY_ASSIGN_OR_RETURN(auto revisions, store.revisions_of(repository.id()));
  std::ranges::reverse(revisions);
  ASSAY_ASSIGN_OR_RETURN(auto stored, watch::read_series(store, repository.id(), revisions,
                                                         {.environment = environment}, {}));
  ASSAY_ASSIGN_OR_RETURN(auto incidents, store.incidents_of(repository.id()));
  std::erase_if(incidents, [&](const Incident& one) { return one.environment != environment; });
  std::vector<history::Series> series;
  std::ranges::transform(stored, std::back_inserter(series),
                         [](watch::StoredSeries& one) { return std::move(one.series); });
  auto found =
      history::make_history(fmt::format("{} in {}", short_name_of_url(repository.url), environment),
                            std::move(series), {});
  history::add_verified(found, watch::verified_changes(incidents, revisions));
  std::ostringstream out;
  ASSAY_RETURN_IF_ERROR(report::history_to_html(found, style, out));
  return std::move(out).str();
}

}  // namespace

Result<Page> make_incidents_page(const PageTools& tools, const PageRequest& request,
                                 const std::string& /*name*/) {
  Markup body;
  std::size_t count = 0;
  const auto root = root_from(request.path);
  if (const auto store = tools.open_store(); store) {
    ASSAY_ASSIGN_OR_RETURN(const auto repositories, (*store)->repositories());
    count = repositories.size();
    for (const auto& repository : repositories) {
      ASSAY_ASSIGN_OR_RETURN(const auto part,
                             section_of_repository(**store, tools.index, root, repository));
      body += part;
    }
  }
  if (count == 0) {
    body = element("p", {{"class", "notice"}},
                   text("No repository is watched. ") +
                       element("code", {}, "assay watch repository.json") +
                       text(" measures its commits."));
  }
  return make_page(
      tools, request,
      {.title = "Incidents",
       .section = "incidents.html",
       .lede = {text(count == 1 ? "1 repository" : fmt::format("{} repositories", count))},
       .body = body});
}

Result<Page> make_history_page(const PageTools& tools, const PageRequest& request,
                               const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const auto store, tools.open_store());
  ASSAY_ASSIGN_OR_RETURN(const auto repositories, store->repositories());
  const ReportStyle style{.data_folder = tools.data_folder,
                          .site = site_place(request, "incidents.html", {})};
  for (const auto& repository : repositories) {
    ASSAY_ASSIGN_OR_RETURN(const auto series, store->series_of(repository.id()));
    for (const auto& environment : environments_of(series)) {
      if (name_of_history(repository.id(), environment) == name) {
        ASSAY_ASSIGN_OR_RETURN(auto html, html_of_history(*store, repository, environment, style));
        return Page{.body = std::move(html)};
      }
    }
  }
  return fail(ErrorCode::kNotFound, fmt::format("no history '{}'", name));
}

}  // namespace assay::site
