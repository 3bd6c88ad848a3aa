// Models, and one model over engines: latency against accuracy.
#include "features/site/index_rows.h"
#include "features/site/latest_case.h"
#include "features/site/markup.h"
#include "features/site/page.h"
#include "features/site/page_parts.h"
#include "features/site/pages.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/case_id.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/record/trade_off.h"
#include "assay/report/format.h"
#include "assay/summary/trade_off.h"

namespace assay::site {
namespace {

/// Results that are read of one model, and builds of an engine that are shown of one case.
constexpr std::int64_t kMostOfModel = 400;
constexpr int kMostBuilds = 3;
constexpr const char* kSteady = "steady_ns";

constexpr auto kModelColumns = std::to_array<TableColumn>(
    {{"model"}, {"reference"}, {"cases", true}, {"results", true}, {"last measured, UTC"}});

constexpr auto kCellColumns = std::to_array<TableColumn>({{"recipe"},
                                                          {"engine"},
                                                          {"result"},
                                                          {"steady", true},
                                                          {"first", true},
                                                          {"load", true},
                                                          {"memory", true},
                                                          {"size", true},
                                                          {"accuracy", true},
                                                          {"delegated", true},
                                                          {"measured, UTC"}});

/// Common part of the cases of a section: only such are set against each other. Recipes, engine
/// builds and options are points of their own.
struct Setting {
  std::string machine;  ///< CaseRow::machine
  std::string shapes;

  auto operator<=>(const Setting&) const = default;
};

using Group = std::vector<LatestCase>;

/// Engine builds, those that a model's page shows and those that it does not.
struct Builds {
  std::set<std::string> shown;
  std::set<std::string> hidden;
};

/// Keeps at most kMostBuilds builds of each case, the newest first.
std::map<Setting, Group> groups_of_cases(std::vector<LatestCase> cases, Builds& builds) {
  std::map<CaseId, int> counts;
  std::map<Setting, Group> groups;
  for (auto& latest : cases) {
    const auto& row = latest.row;
    const CaseId any_build{
        .case_key = row.summary.case_key, .engine_build = {}, .device = row.machine};
    const bool is_shown = ++counts[any_build] <= kMostBuilds;
    (is_shown ? builds.shown : builds.hidden).insert(row.summary.engine);
    if (is_shown) {
      groups[{row.machine, row.summary.shapes}].push_back(std::move(latest));
    }
  }
  return groups;
}

/// "pi5 (linux-aarch64:pi), 1x3x224x224".
std::string heading_of(const Group& group) {
  const auto& row = group.front().row;
  const auto device = title_of_device(row.summary.device, row.device_class);
  return row.summary.shapes.empty() ? device : fmt::format("{}, {}", device, row.summary.shapes);
}

/// Headings by setting. Machines without names may be alike: digits of what they are tell them
/// apart.
std::map<Setting, std::string> headings_of(const std::map<Setting, Group>& groups) {
  constexpr std::size_t kDigits = 8;
  std::map<std::string, int> counts;
  for (const auto& [setting, group] : groups) {
    ++counts[heading_of(group)];
  }
  std::map<Setting, std::string> headings;
  for (const auto& [setting, group] : groups) {
    const auto heading = heading_of(group);
    headings[setting] = counts[heading] == 1 ? heading
                                             : fmt::format("{}, environment {}", heading,
                                                           setting.machine.substr(0, kDigits));
  }
  return headings;
}

/// Which builds the page has, where it has not all.
std::string note_of_builds(const Builds& builds) {
  std::vector<std::string> hidden;
  std::ranges::set_difference(builds.hidden, builds.shown, std::back_inserter(hidden));
  if (hidden.empty()) {
    return {};
  }
  const std::vector<std::string> shown(builds.shown.begin(), builds.shown.end());
  return fmt::format(" Shown: {}; not shown: {}, which were measured earlier.",
                     joined_names(shown, 12), report::counted(hidden.size(), "other build"));
}

double steady_of(const CaseSummary& summary) {
  return has_comparable_time(summary) ? summary.metrics.at("steady_ns").value : HUGE_VAL;
}

/// A case as find_trade_offs takes it: of one device and one model, and its times are worth what
/// they were in the run that they are of, whatever became of the case since.
CaseSummary timed_summary(const LatestCase& latest) {
  auto summary = latest.row.summary;
  summary.device = latest.row.machine;
  summary.outcome = latest.source_of_quantity(kTimesQuantity).outcome;
  return summary;
}

std::vector<CaseSummary> timed_summaries(const Group& group) {
  std::vector<CaseSummary> summaries;
  for (const auto& latest : group) {
    summaries.push_back(timed_summary(latest));
    summaries.back().model = group.front().row.summary.model;
  }
  return summaries;
}

double accuracy_of_point(const TradeOffPoint& point) {
  return double_from_metric({.value = point.accuracy.value, .special = point.accuracy.special});
}

/// An exact result has an infinite SQNR, and stands above all others.
bool is_drawn(const TradeOffPoint& point) {
  const double accuracy = accuracy_of_point(point);
  return std::isfinite(accuracy) || accuracy == HUGE_VAL;
}

/// Interval ends of 0 have no place on a logarithmic axis.
double end_or_value(const std::optional<double>& end, double value) {
  return end && *end > 0 ? *end : value;
}

Json chart_of(const TradeOff& trade_off) {
  const auto* definition = find_metric(trade_off.metric);
  auto points = Json::array();
  for (const auto& point : trade_off.points) {
    if (!is_drawn(point)) {
      continue;
    }
    const double latency = point.latency_ns.value;
    const double accuracy = accuracy_of_point(point);
    const bool is_exact = std::isinf(accuracy);
    points.push_back(
        {{"title", point.title},
         {"latency", latency},
         {"low", end_or_value(point.latency_ns.low, latency)},
         {"high", end_or_value(point.latency_ns.high, latency)},
         {"accuracy", is_exact ? Json() : Json(accuracy)},
         {"shown", is_exact ? std::string("exact")
                            : report::text_from_metric(trade_off.metric, point.accuracy)},
         {"keeps", point.keeps_accuracy},
         {"front", point.is_on_front}});
  }
  return {{"points", points},
          {"accuracy", definition == nullptr ? trade_off.metric : std::string(definition->title)},
          {"better", name_of(definition == nullptr ? Better::kHigher : definition->better)},
          {"unit", definition == nullptr ? "" : std::string(definition->unit)}};
}

/// That of the network that was measured last: a model's file is another network when it changes,
/// and its cases are not set against those of before.
const TradeOff& newest_of_networks(const std::vector<TradeOff>& trade_offs, const Group& group) {
  return *std::ranges::max_element(trade_offs, {}, [&group](const TradeOff& trade_off) {
    std::int64_t newest = 0;
    for (const auto& point : trade_off.points) {
      const auto& latest = group[static_cast<std::size_t>(point.case_index)];
      newest = std::max(newest, latest.row.started_unix_ns);
    }
    return newest;
  });
}

std::string note_of_networks(std::size_t networks) {
  return networks < 2 ? std::string()
                      : fmt::format(
                            "Of the weights and inputs that were measured last; the points of {} "
                            "stand in the table only.",
                            report::counted(networks - 1, "earlier set", "earlier sets"));
}

/// A value, and below it the run that it is of, where that is another than the row's.
Markup with_source(const std::string& root, const LatestCase& latest, const std::string& metric,
                   const Markup& value) {
  const auto source = latest.source_of(metric);
  return source.run == latest.row.run
             ? value
             : value + element("span", {{"class", "detail"}},
                               run_link(root, source.run, time_text(source.started_unix_ns)));
}

Markup metric_cell(const std::string& root, const LatestCase& latest, const std::string& metric) {
  const auto& summary = latest.row.summary;
  if (!summary.metrics.contains(metric)) {
    return {};
  }
  const auto value =
      metric == kSteady ? metric_with_interval(summary, metric) : metric_text(summary, metric);
  return with_source(root, latest, metric, value);
}

Markup accuracy_cell(const std::string& root, const LatestCase& latest) {
  const auto metric = accuracy_metric(latest.row.summary);
  return metric.empty() ? Markup()
                        : with_source(root, latest, metric, accuracy_text(latest.row.summary));
}

/// `number`: of the point in the chart; 0: it is not in it.
std::vector<Markup> cells_of_case(const std::string& root, const LatestCase& latest, int number,
                                  bool is_on_front) {
  const auto& row = latest.row;
  const auto& summary = row.summary;
  const std::string verdict(name_of(summary.verdict));
  const auto recipe = link(root + "cases/" + percent_encoded(summary.case_key) + ".html",
                           breakable(summary.recipe.empty() ? "program" : summary.recipe));
  const auto place =
      number == 0 ? Markup()
                  : element("span", {{"class", "sub"}},
                            fmt::format("point {}{}", number, is_on_front ? ", on the front" : ""));
  std::vector<Markup> cells = {
      recipe + place,
      text(summary.engine) + (summary.options.empty()
                                  ? Markup()
                                  : element("span", {{"class", "detail"}}, summary.options)),
      with_source(root, latest, std::string(kResultQuantity),
                  pill(verdict, summary.outcome == Outcome::kCompleted
                                    ? verdict
                                    : std::string(name_of(summary.outcome))))};
  for (const auto* metric : {kSteady, "first_ns", "load_ns", "peak_rss_bytes", "program_bytes"}) {
    cells.push_back(metric_cell(root, latest, metric));
  }
  cells.push_back(accuracy_cell(root, latest));
  cells.push_back(metric_cell(root, latest, "delegated_ratio"));
  cells.push_back(run_link(root, row.run, time_text(row.started_unix_ns)));
  return cells;
}

/// One group as a section; adds its chart to `charts`.
Markup section_of_group(const std::string& root, const std::string& heading, Group group,
                        Json& charts) {
  std::ranges::sort(group, {}, [](const LatestCase& latest) {
    return std::tuple(steady_of(timed_summary(latest)), latest.row.summary.label, latest.row.run);
  });
  const auto trade_offs = find_trade_offs(timed_summaries(group));
  std::map<std::size_t, std::pair<int, bool>> places;
  Markup body;
  if (!trade_offs.empty()) {
    const auto& trade_off = newest_of_networks(trade_offs, group);
    auto chart = chart_of(trade_off);
    int number = 0;
    for (const auto& point : trade_off.points) {
      if (is_drawn(point)) {
        places[static_cast<std::size_t>(point.case_index)] = {++number, point.is_on_front};
      }
    }
    body += element("p", {{"class", "answer"}}, trade_off.text);
    if (const auto note = note_of_networks(trade_offs.size()); !note.empty()) {
      body += element("p", {{"class", "note"}}, note);
    }
    if (number > 0) {
      body +=
          element("div", {{"class", "charts one"}},
                  chart_place("pareto", static_cast<int>(charts.size()), "Latency against accuracy",
                              "better: up and to the left; the line joins those that no other "
                              "beats in both"));
      charts.push_back(std::move(chart));
    }
  }
  std::vector<std::vector<Markup>> rows;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const auto place = places[i];
    rows.push_back(cells_of_case(root, group[i], place.first, place.second));
  }
  return section(heading, body + element("div", {{"class", "part-of"}},
                                         table("Newest values, fastest first, on " + heading,
                                               kCellColumns, rows)));
}

}  // namespace

Result<Page> make_models_page(const PageTools& tools, const PageRequest& request,
                              const std::string& /*name*/) {
  ASSAY_ASSIGN_OR_RETURN(const auto models, tools.index.models());
  const auto root = root_from(request.path);
  std::vector<std::vector<Markup>> rows;
  rows.reserve(models.size());
  for (const auto& model : models) {
    rows.push_back({link(root + model_path(model.ref), model.name), text(model.ref),
                    text(fmt::to_string(model.cases)), text(fmt::to_string(model.results)),
                    time_text(model.last_unix_ns)});
  }
  return make_page(
      tools, request,
      {.title = "Models",
       .section = "models.html",
       .lede = {text(report::counted(models.size(), "model")),
                text("a model's page compares engines: latency against accuracy")},
       .body = rows.empty() ? element("p", {{"class", "notice"}}, "No model was measured.")
                            : element("section", {}, table("Models", kModelColumns, rows))});
}

Result<Page> make_model_page(const PageTools& tools, const PageRequest& request,
                             const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const auto model, find_model(tools.index, name));
  ASSAY_ASSIGN_OR_RETURN(auto found, tools.index.newest_of_model(model.ref, kMostOfModel));
  const bool is_cut = found.size() == static_cast<std::size_t>(kMostOfModel);
  const auto root = root_from(request.path);
  auto charts = Json::array();
  Markup body;
  std::set<std::string> engines;
  Builds builds;
  for (const auto& latest : found) {
    const auto& engine = latest.row.summary.engine;
    engines.insert(engine.substr(0, engine.find('@')));
  }
  auto groups = groups_of_cases(std::move(found), builds);
  const auto headings = headings_of(groups);
  for (auto& [setting, group] : groups) {
    body += section_of_group(root, headings.at(setting), std::move(group), charts);
  }
  body +=
      element("p", {{"class", "note"}},
              fmt::format("Each row has the newest value of each quantity; below a value that is "
                          "not of the row's own run stands the run that measured it. A case "
                          "has rows for the {} builds that were measured last.{} Its page has "
                          "all results over time.{}",
                          kMostBuilds, note_of_builds(builds),
                          is_cut ? " Cases measured long ago are left out." : ""));
  return make_page(
      tools, request,
      {.title = model.name,
       .section = "models.html",
       .lede = {text(model.ref), text(joined_names({engines.begin(), engines.end()})),
                text(report::counted(static_cast<std::size_t>(model.results), "result"))},
       .body = body,
       .data = charts.empty() ? Json() : Json{{"charts", charts}}});
}

}  // namespace assay::site
