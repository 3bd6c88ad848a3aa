// A case over time.
#include "features/site/index_rows.h"
#include "features/site/markup.h"
#include "features/site/page.h"
#include "features/site/page_parts.h"
#include "features/site/pages.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/summary.h"
#include "assay/report/format.h"

namespace assay::site {
namespace {

constexpr std::int64_t kMostPoints = 3000;
constexpr std::int64_t kMostResults = 100;

constexpr auto kResultColumns = std::to_array<TableColumn>({{"run, UTC"},
                                                            {"engine"},
                                                            {"device"},
                                                            {"result"},
                                                            {"steady", true},
                                                            {"first", true},
                                                            {"load", true},
                                                            {"memory", true},
                                                            {"size", true},
                                                            {"accuracy", true}});

std::vector<Markup> cells_of_result(const std::string& root, const CaseRow& row) {
  const auto& summary = row.summary;
  const std::string verdict(name_of(summary.verdict));
  auto result = pill(verdict, verdict);
  if (summary.outcome != Outcome::kCompleted) {
    result += element("span", {{"class", "detail"}},
                      fmt::format("{} {}", name_of(summary.outcome), summary.reason_code));
  }
  return {link(root + "runs/" + percent_encoded(row.run) + ".html", time_text(row.started_unix_ns)),
          text(summary.engine),
          text(row.device_class) + (summary.device == "local"
                                        ? Markup()
                                        : element("span", {{"class", "detail"}}, summary.device)),
          result,
          metric_with_interval(summary, "steady_ns"),
          metric_text(summary, "first_ns"),
          metric_text(summary, "load_ns"),
          metric_text(summary, "peak_rss_bytes"),
          metric_text(summary, "program_bytes"),
          accuracy_text(summary)};
}

/// Engine builds that have a colour of their own in the chart; site.js has the same number.
constexpr std::size_t kMostColours = 12;

std::string note_of_chart(const std::vector<CasePoint>& points) {
  std::set<std::string> builds;
  for (const auto& point : points) {
    builds.insert(point.engine);
  }
  std::string note = "a point for each run with its interval; a click opens the run";
  if (std::ssize(points) == kMostPoints) {
    note += fmt::format("; the newest {} runs", kMostPoints);
  }
  if (builds.size() > kMostColours) {
    note += fmt::format("; {} engine builds in one colour, named by each point", builds.size());
  }
  return note;
}

/// The words with which all labels begin: a run on several devices or engine builds names them in
/// its labels, "net xnnpack on pi5".
std::string common_label(const std::vector<CaseRow>& results) {
  constexpr std::string_view kOn = " on";
  std::string common = results.front().summary.label;
  for (const auto& row : results) {
    const auto& label = row.summary.label;
    while (!common.empty() && label != common && !label.starts_with(common + " ")) {
      const auto space = common.rfind(' ');
      common.resize(space == std::string::npos ? 0 : space);
    }
  }
  if (common != results.front().summary.label && common.ends_with(kOn)) {
    common.resize(common.size() - kOn.size());
  }
  return common.empty() ? results.front().summary.label : common;
}

std::string results_text(const std::vector<CaseRow>& results) {
  const auto count = report::counted(results.size(), "result");
  return std::ssize(results) < kMostResults ? count : "the newest " + count;
}

}  // namespace

Result<Page> make_case_page(const PageTools& tools, const PageRequest& request,
                            const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const auto results, tools.index.results_of_case(name, kMostResults));
  if (results.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("no case '{}'", name));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto points, tools.index.points_of_case(name, kMostPoints));
  const auto root = root_from(request.path);
  const auto& newest = results.front();
  std::vector<std::vector<Markup>> rows;
  rows.reserve(results.size());
  for (const auto& row : results) {
    rows.push_back(cells_of_result(root, row));
  }
  Json data;
  Markup body;
  if (!points.empty()) {
    data = {{"charts", Json::array({{{"points", points}}})}};
    body += element(
        "section", {},
        element("div", {{"class", "charts one"}},
                chart_place("over-time", 0, "Steady time over runs", note_of_chart(points))));
  }
  const auto note =
      results.size() < static_cast<std::size_t>(kMostResults)
          ? Markup()
          : element("p", {{"class", "note"}}, fmt::format("The newest {} results.", kMostResults));
  body += section("Results", table("Results of the case", kResultColumns, rows) + note);
  return make_page(tools, request,
                   {.title = common_label(results),
                    .section = "models.html",
                    .lede = {link(root + model_path(newest.model_ref), newest.model_ref),
                             text(newest.summary.shapes), text(results_text(results)),
                             element("code", {}, name.substr(0, 12))},
                    .body = body,
                    .data = data});
}

}  // namespace assay::site
