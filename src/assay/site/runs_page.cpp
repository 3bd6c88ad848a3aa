// The list of runs, and one run.
#include <algorithm>
#include <array>
#include <cstddef>
#include <expected>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/conform/conform.h"
#include "assay/record/run.h"
#include "assay/report/conformance.h"
#include "assay/report/format.h"
#include "assay/report/writer.h"
#include "assay/runs/run_overview.h"
#include "assay/site/index_rows.h"
#include "assay/site/markup.h"
#include "assay/site/page.h"
#include "assay/site/page_parts.h"
#include "assay/site/pages.h"
#include "assay/store/result_store.h"
#include "assay/summary/summarize.h"

namespace assay::site {
namespace {

constexpr auto kRunColumns = std::to_array<TableColumn>({{"run"},
                                                         {"began, UTC"},
                                                         {"verb"},
                                                         {"recipes"},
                                                         {"engines"},
                                                         {"result"},
                                                         {"labels"},
                                                         {"cases", true},
                                                         {"launches", true}});

std::string title_of_run(const RunRow& run) {
  return !run.models.empty()   ? joined_names(run.models, 3)
         : !run.name.empty()   ? run.name
         : run.recipes.empty() ? run.purpose
                               : joined_names(run.recipes, 2);
}

Markup result_of_run(const RunRow& run) {
  if (!run.problem.empty()) {
    return pill("fail", "unreadable") + element("span", {{"class", "detail"}}, run.problem);
  }
  const auto pills = verdict_pills(run.verdicts);
  return run.state == "finished" ? pills : pill("inconclusive", run.state) + text(" ") + pills;
}

std::vector<Markup> cells_of_run(const std::string& root, const RunRow& run) {
  const auto number = [](int count) { return count == 0 ? Markup() : text(fmt::to_string(count)); };
  return {run_link(root, run.id, title_of_run(run)) +
              element("span", {{"class", "sub"}}, short_run_id(run.id)),
          time_text(run.started_unix_ns),
          text(run.verb.empty() ? run.purpose : run.verb),
          text(joined_names(run.recipes)),
          text(joined_names(run.engines)),
          result_of_run(run),
          labels_text(run.labels),
          number(run.cases),
          number(run.launches)};
}

/// Links from a run to its cases over time.
Markup cases_below(const std::string& root, const std::vector<CaseRow>& cases) {
  Markup links;
  for (const auto& row : cases) {
    links += (links.is_empty() ? Markup() : text(" · ")) + case_link(root, row.summary);
  }
  if (links.is_empty()) {
    return {};
  }
  constexpr std::size_t kFew = 4;
  const std::string heading = "Over time";
  const auto content =
      cases.size() <= kFew
          ? element("span", {{"class", "muted"}}, heading + ": ") + links
          : element("details", {},
                    {element("summary", {}, fmt::format("{}: {} cases", heading, cases.size())),
                     element("p", {}, links)});
  return element("div", {{"class", "wrap below"}}, content);
}

Result<std::string> html_of_run(ResultStore& store, const Run& run, const ReportStyle& style) {
  std::ostringstream out;
  if (run.purpose == "conform") {
    ASSAY_ASSIGN_OR_RETURN(const auto report, read_conform_report(store, run));
    ASSAY_RETURN_IF_ERROR(write_conformance("html", report, style, out));
    return std::move(out).str();
  }
  const auto baseline = run.spec.is_object() ? run.spec.value("baseline", "") : "";
  ASSAY_ASSIGN_OR_RETURN(const auto summary, summarize_run(store, run, {.baseline = baseline}));
  ASSAY_RETURN_IF_ERROR(write_report("html", summary, style, out));
  return std::move(out).str();
}

}  // namespace

Result<Page> make_runs_page(const PageTools& tools, const PageRequest& request,
                            const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const auto page, page_number(name));
  ASSAY_ASSIGN_OR_RETURN(const auto count, tools.index.count_runs());
  ASSAY_ASSIGN_OR_RETURN(const auto runs,
                         tools.index.runs((page - 1) * kRowsPerPage, kRowsPerPage));
  if (page > 1 && runs.empty()) {
    return fail(ErrorCode::kNotFound, "no such page of runs");
  }
  const auto root = root_from(request.path);
  std::vector<std::vector<Markup>> rows;
  std::ranges::transform(runs, std::back_inserter(rows),
                         [&](const RunRow& run) { return cells_of_run(root, run); });
  const auto none = element("p", {{"class", "notice"}},
                            text("The store has no run yet. ") +
                                element("code", {}, "assay bench MODEL") + text(" makes one."));
  return make_page(tools, request,
                   {.title = "Runs",
                    .section = "index.html",
                    .lede = {text(report::counted(static_cast<std::size_t>(count), "run")),
                             text("newest first")},
                    .body = rows.empty() && tools.state.pending == 0
                                ? none
                                : element("section", {}, table("Runs", kRunColumns, rows)) +
                                      pager("index", page, count)});
}

Result<Page> make_run_page(const PageTools& tools, const PageRequest& request,
                           const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const auto known, tools.index.find_run(name));
  ASSAY_ASSIGN_OR_RETURN(const auto store, tools.open_store());
  ASSAY_ASSIGN_OR_RETURN(const auto run, store->get_run(name));
  if (run.id != name) {
    return fail(ErrorCode::kNotFound, fmt::format("no run '{}'", name));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto cases, tools.index.cases_of_run(run.id));
  const ReportStyle style{
      .data_folder = tools.data_folder,
      .site = site_place(request, "index.html", cases_below(root_from(request.path), cases))};
  auto html = html_of_run(*store, run, style);
  if (!html && known && html.error().code == ErrorCode::kNotFound) {
    return make_page(tools, request,
                     {.title = run.name.empty() ? run.purpose : run.name,
                      .section = "index.html",
                      .lede = {text(run.id), time_text(run.started_unix_ns)},
                      .body = element("p", {{"class", "notice"}}, html.error().message)});
  }
  if (!html) {
    return std::unexpected(html.error());
  }
  return Page{.body = std::move(*html)};
}

}  // namespace assay::site
