// The list of runs, and one run.
#include "features/conform/conform.h"
#include "features/site/index_rows.h"
#include "features/site/markup.h"
#include "features/site/page.h"
#include "features/site/page_parts.h"
#include "features/site/pages.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/record/metric.h"
#include "assay/record/run.h"
#include "assay/report/conformance.h"
#include "assay/report/format.h"
#include "assay/report/writer.h"
#include "assay/runs/run_overview.h"
#include "assay/store/lost_executions.h"
#include "assay/store/result_store.h"
#include "assay/store/stored_conformance.h"
#include "assay/summary/summarize.h"

namespace assay::site {
namespace {

constexpr auto kRunColumns = std::to_array<TableColumn>({{"run"},
                                                         {"began, UTC"},
                                                         {"verb"},
                                                         {"recipes"},
                                                         {"engines"},
                                                         {"devices"},
                                                         {"result"},
                                                         {"labels"},
                                                         {"cases", true},
                                                         {"launches", true}});

/// Values by which the script of a site of files chooses rows.
Markup facets_element(const RunRow& run) {
  auto labels = Json::array();
  for (const auto& [key, value] : run.labels) {
    labels.push_back(fmt::format("{}{}{}", key, value.empty() ? "" : "=", value));
  }
  const Json facets = {{"verb", Json::array({run.verb.empty() ? run.purpose : run.verb})},
                       {"label", labels},
                       {"model", run.models},
                       {"device", run.device_names},
                       {"step", is_step(run)},
                       {"failed", has_failed(run)}};
  return element("span", {{"hidden", ""}, {"data-facets", text_from_json(facets)}}, "");
}

constexpr const char* kCompareForm = "compare-runs";

/// Two buttons by which a run becomes A or B of a comparison; none where nothing was timed.
Markup picker_of(const RunRow& run) {
  if (run.launches == 0 || run.purpose == "conform") {
    return {};
  }
  const auto choice = [&run](const char* side, const char* words) {
    return element("label", {},
                   {empty_element("input", {{"type", "radio"},
                                            {"name", side},
                                            {"value", run.id},
                                            {"required", ""},
                                            {"form", kCompareForm}}),
                    text(words)});
  };
  return element("span", {{"class", "sub pick"}}, choice("a", "A ") + choice("b", "B"));
}

/// The form that these buttons belong to.
Markup compare_form(const PageTools& tools, const PageRequest& request) {
  Markup options;
  for (const auto* name : {"steady_ns", "steady_floor_ns", "steady_p90_ns", "first_ns", "load_ns",
                           "throughput_per_s"}) {
    const auto* definition = find_metric(name);
    options += element("option", {{"value", name}},
                       definition == nullptr ? std::string(name) : std::string(definition->title));
  }
  return element(
      "section", {{"class", "filter-bar"}},
      element("form",
              {{"class", "tools"},
               {"id", kCompareForm},
               {tools.is_static ? "data-static" : "", ""},
               {"method", "get"},
               {"action", root_from(request.path) + "compare.html"}},
              {element("span", {{"class", "muted"}}, "Mark a run as A and one as B:"),
               element("select", {{"name", "metric"}, {"aria-label", "metric"}}, options),
               element("button", {{"class", "chip"}, {"type", "submit"}}, "Compare A with B"),
               element("output", {{"id", "compare-command"}}, "")}));
}

std::vector<Markup> cells_of_run(const std::string& root, const RunRow& run) {
  const auto number = [](int count) { return count == 0 ? Markup() : text(fmt::to_string(count)); };
  return {run_link(root, run.id, breakable(title_of_run(run))) +
              element("span", {{"class", "sub"}}, short_run_id(run.id)) +
              (run.name.empty() ? Markup()
                                : element("span", {{"class", "sub"}}, joined_names(run.models))) +
              picker_of(run) + facets_element(run),
          time_text(run.started_unix_ns),
          text(run.verb.empty() ? run.purpose : run.verb),
          text(joined_names(run.recipes)),
          text(joined_names(run.engines)),
          text(joined_names(run.device_names)),
          run_result(run),
          labels_text(run.labels),
          number(run.cases),
          number(run.launches)};
}

/// Runs of one file of a site that is not served: its script chooses among them.
constexpr std::int64_t kRowsPerFile = 1000;
/// Values that a filter offers; others can be written into the address.
constexpr std::int64_t kMostValues = 100;

/// A verb, label, model or device; without one the steps of watches and bisections are left out.
RunChoice choice_of(const PageRequest& request) {
  RunChoice choice{.verb = parameter_of(request, "verb"),
                   .label = parameter_of(request, "label"),
                   .model = parameter_of(request, "model"),
                   .device = parameter_of(request, "device"),
                   .is_failed = !parameter_of(request, "failed").empty()};
  choice.has_steps = !parameter_of(request, "steps").empty() || !choice.verb.empty();
  return choice;
}

std::string query_of(const RunChoice& choice) {
  std::string query;
  const auto add = [&query](std::string_view name, const std::string& value) {
    query += value.empty()
                 ? ""
                 : fmt::format("{}{}={}", query.empty() ? "?" : "&", name, percent_encoded(value));
  };
  add("verb", choice.verb);
  add("label", choice.label);
  add("model", choice.model);
  add("device", choice.device);
  add("steps", choice.has_steps && choice.verb.empty() ? "1" : "");
  add("failed", choice.is_failed ? "1" : "");
  return query;
}

Markup select_of(std::string_view facet, const std::vector<FacetValue>& values,
                 const std::string& chosen) {
  const auto option = [&chosen](const std::string& value, const std::string& words) {
    const Attribute selected = value == chosen ? Attribute{"selected", ""} : Attribute{"", ""};
    return element("option", {{"value", value}, selected}, words);
  };
  auto options = option("", fmt::format("any {}", facet));
  bool is_known = chosen.empty();
  for (const auto& one : values) {
    if (one.facet == facet) {
      const auto at = one.value.find('=');
      const auto words = facet != "label" || at == std::string::npos
                             ? one.value
                             : brief_label(one.value.substr(0, at), one.value.substr(at + 1));
      options += option(one.value, fmt::format("{} ({})", words, one.runs));
      is_known = is_known || one.value == chosen;
    }
  }
  if (!is_known) {
    options += option(chosen, chosen);
  }
  return element("select", {{"name", std::string(facet)}, {"aria-label", std::string(facet)}},
                 options);
}

Markup check_box(std::string_view name, std::string_view words, bool is_checked) {
  return element("label", {},
                 {empty_element("input", {{"type", "checkbox"},
                                          {"name", std::string(name)},
                                          {"value", "1"},
                                          {is_checked ? "checked" : "", ""}}),
                  text(" "), text(words)});
}

/// A form that works without a script; in a site of files a script answers it.
Markup filters(const PageTools& tools, const PageRequest& request,
               const std::vector<FacetValue>& values, const RunChoice& choice) {
  const auto form =
      element("form",
              {{"class", "tools filters"},
               {"id", "run-filters"},
               {tools.is_static ? "data-static" : "", ""},
               {"method", "get"},
               {"action", root_from(request.path) + "runs.html"}},
              {select_of("verb", values, choice.verb), select_of("label", values, choice.label),
               select_of("model", values, choice.model), select_of("device", values, choice.device),
               check_box("steps", "steps of watch and bisect",
                         !tools.is_static && choice.has_steps && choice.verb.empty()),
               check_box("failed", "failed only", choice.is_failed),
               element("button", {{"class", "chip"}, {"type", "submit"}}, "Filter")});
  return element("section", {{"class", "filter-bar"}}, form);
}

std::string lede_of(std::int64_t shown, std::int64_t all) {
  return shown == all ? report::counted(static_cast<std::size_t>(all), "run")
                      : fmt::format("{} of {} runs", shown, all);
}

/// Links from a run to its cases over time.
Markup cases_below(const std::string& root, const std::vector<CaseRow>& cases) {
  constexpr std::size_t kMostLinks = 200;
  Markup links;
  for (const auto& row : std::span(cases).first(std::min(cases.size(), kMostLinks))) {
    links += (links.is_empty() ? Markup() : text(" · ")) + case_link(root, row.summary);
  }
  if (cases.size() > kMostLinks) {
    links += text(fmt::format(" and {} more, which the search finds", cases.size() - kMostLinks));
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

Markup line_below(std::string_view heading, const std::vector<std::string>& texts) {
  return texts.empty() ? Markup()
                       : element("div", {{"class", "wrap below"}},
                                 {element("span", {{"class", "muted"}}, heading),
                                  text(fmt::format("{}", fmt::join(texts, "; ")))});
}

/// Executions that came to no end: who was lost, with what, and why.
Result<Markup> lost_below(ResultStore& store, const std::string& run) {
  constexpr std::size_t kMostShown = 20;
  ASSAY_ASSIGN_OR_RETURN(const auto lost, lost_executions_of_run(store, run));
  std::vector<std::string> texts;
  for (const auto& one : std::span(lost).first(std::min(lost.size(), kMostShown))) {
    texts.push_back(fmt::format("{} with {} ({})",
                                one.device.empty() ? "a device that is not known" : one.device,
                                one.label, one.why));
  }
  if (lost.size() > kMostShown) {
    texts.push_back(fmt::format("and {} more", lost.size() - kMostShown));
  }
  return line_below("Lost: ", texts);
}

/// Which workers of a fleet executed its jobs, what of that does not count, and what was lost.
Result<Markup> executions_below(ResultStore& store, const std::string& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto executions, store.executions_of_run(run));
  std::map<std::string, std::pair<int, int>> workers;
  for (const auto& execution : executions) {
    auto& [all, uncounted] = workers[execution.worker];
    ++all;
    uncounted += execution.is_counted ? 0 : 1;
  }
  std::vector<std::string> texts;
  for (const auto& [worker, counts] : workers) {
    const auto& [all, uncounted] = counts;
    texts.push_back(
        fmt::format("{}: {}{}", worker, report::counted(static_cast<std::size_t>(all), "execution"),
                    uncounted == 0 ? "" : fmt::format(", {} of them not counted", uncounted)));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto lost, lost_below(store, run));
  return line_below("Fleet: ", texts) + lost;
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
  const auto choice = tools.is_static ? RunChoice() : choice_of(request);
  const auto limit = tools.is_static ? kRowsPerFile : std::int64_t{kRowsPerPage};
  ASSAY_ASSIGN_OR_RETURN(const auto count, tools.index.count_runs(choice));
  ASSAY_ASSIGN_OR_RETURN(const auto all, tools.index.count_runs());
  ASSAY_ASSIGN_OR_RETURN(const auto runs, tools.index.runs((page - 1) * limit, limit, choice));
  if (page > 1 && runs.empty()) {
    return fail(ErrorCode::kNotFound, "no such page of runs");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto facets, tools.index.facet_values(kMostValues));
  const auto root = root_from(request.path);
  std::vector<std::vector<Markup>> rows;
  std::ranges::transform(runs, std::back_inserter(rows),
                         [&](const RunRow& run) { return cells_of_run(root, run); });
  const auto none = element("p", {{"class", "notice"}}, "No run is like this.");
  return make_page(
      tools, request,
      {.title = "Runs",
       .section = "runs.html",
       .lede = {element("span", {{"id", "shown-runs"}}, lede_of(count, all)), text("newest first")},
       .body = all == 0 && tools.state.pending == 0
                   ? no_run_notice()
                   : filters(tools, request, facets, choice) + compare_form(tools, request) +
                         (rows.empty() ? none
                                       : element("section", {}, table("Runs", kRunColumns, rows))) +
                         pager("runs", page, count, query_of(choice), limit)});
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
  ASSAY_ASSIGN_OR_RETURN(const auto executions, executions_below(*store, run.id));
  const ReportStyle style{
      .data_folder = tools.data_folder,
      .site = site_place(request, "runs.html",
                         cases_below(root_from(request.path), cases) + executions)};
  auto html = html_of_run(*store, run, style);
  if (!html && known && html.error().code == ErrorCode::kNotFound) {
    return make_page(tools, request,
                     {.title = title_of_run(*known),
                      .section = "runs.html",
                      .lede = {text(run.id), time_text(run.started_unix_ns)},
                      .body = element("p", {{"class", "notice"}}, html.error().message)});
  }
  if (!html) {
    return std::unexpected(html.error());
  }
  return Page{.body = std::move(*html)};
}

}  // namespace assay::site
