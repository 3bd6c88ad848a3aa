// Two stored runs side by side.
#include "features/compare/stored.h"
#include "features/site/index_rows.h"
#include "features/site/markup.h"
#include "features/site/page.h"
#include "features/site/page_parts.h"
#include "features/site/pages.h"

#include <array>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/metric.h"
#include "assay/record/stored_comparison.h"
#include "assay/report/stored_comparison.h"
#include "assay/store/result_store.h"

namespace assay::site {
namespace {

constexpr auto kCompareColumns = std::to_array<TableColumn>({{"case"},
                                                             {"A", true},
                                                             {"B", true},
                                                             {"B vs A", true},
                                                             {"interval, ≥95 %", true},
                                                             {"launches", true},
                                                             {"p", true},
                                                             {"sign of a change"}});

Result<Markup> side_of(const PageTools& tools, const std::string& root, std::string_view side,
                       const std::string& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto known, tools.index.find_run(run));
  const auto words = known ? title_of_run(*known) : run;
  return text(std::string(side) + ": ") + run_link(root, run, words) +
         (known ? text(" ") + time_text(known->started_unix_ns) : Markup());
}

Markup body_of(const StoredComparison& comparison) {
  std::vector<std::vector<Markup>> rows;
  for (const auto& row : report::rows_from_stored(comparison)) {
    rows.push_back({text(row.label), text(row.a), text(row.b), text(row.change_with_unit),
                    text(row.interval), text(row.launches), text(row.p_value),
                    row.is_nominated ? pill("inconclusive", row.sign) : text(row.sign)});
  }
  Markup notes;
  for (const auto& note : report::notes_from_stored(comparison)) {
    notes += element("p", {{"class", "note"}}, note);
  }
  return element("p", {{"class", "answer"}}, report::answer_from_stored(comparison)) +
         element("section", {}, table("Cases of both runs", kCompareColumns, rows)) + notes;
}

}  // namespace

Result<Page> make_compare_page(const PageTools& tools, const PageRequest& request,
                               const std::string& /*name*/) {
  const auto a = parameter_of(request, "a");
  const auto b = parameter_of(request, "b");
  const auto metric = parameter_of(request, "metric", "steady_ns");
  const auto root = root_from(request.path);
  const auto page_of = [&](std::vector<Markup> lede, Markup body) {
    return make_page(tools, request,
                     {.title = "Two runs",
                      .section = "runs.html",
                      .lede = std::move(lede),
                      .body = std::move(body)});
  };
  if (a.empty() || b.empty()) {
    return page_of({link(root + "runs.html", "all runs")},
                   element("p", {{"class", "notice"}},
                           "Choose a run A and a run B in the list of runs, then compare them."));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto store, tools.open_store());
  const auto comparison = compare_stored_runs(*store, a, b, metric);
  if (!comparison && comparison.error().code != ErrorCode::kInvalidArgument) {
    return std::unexpected(comparison.error());
  }
  if (!comparison) {
    return page_of({text(metric)}, element("p", {{"class", "notice"}}, comparison.error().message));
  }
  ASSAY_ASSIGN_OR_RETURN(auto side_a, side_of(tools, root, "A", comparison->a_run));
  ASSAY_ASSIGN_OR_RETURN(auto side_b, side_of(tools, root, "B", comparison->b_run));
  const auto* definition = find_metric(metric);
  return page_of(
      {side_a, side_b, text(definition == nullptr ? metric : std::string(definition->title))},
      body_of(*comparison));
}

}  // namespace assay::site
