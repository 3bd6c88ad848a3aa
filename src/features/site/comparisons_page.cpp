// Comparisons of A with B, newest first.
#include "features/site/index_rows.h"
#include "features/site/markup.h"
#include "features/site/page.h"
#include "features/site/page_parts.h"
#include "features/site/pages.h"

#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/record/comparison.h"
#include "assay/record/metric.h"
#include "assay/report/format.h"
#include "assay/report/shift_text.h"

namespace assay::site {
namespace {

constexpr auto kComparisonColumns = std::to_array<TableColumn>({{"A and B"},
                                                                {"answer"},
                                                                {"B against A", true},
                                                                {"pairs", true},
                                                                {"metric"},
                                                                {"canary"},
                                                                {"run, UTC"}});

/// A canary passes if its comparison finds no change; "cannot tell" is neither pass nor failure.
std::string_view kind_of_canary(ComparisonVerdict verdict) {
  using enum ComparisonVerdict;
  if (verdict == kEquivalent || verdict == kIdentical) {
    return "pass";
  }
  return verdict == kInconclusive ? "inconclusive" : "fail";
}

Markup canary_text(const Comparison& comparison) {
  if (!comparison.canary) {
    return {};
  }
  const auto verdict = comparison.canary->verdict;
  return pill(kind_of_canary(verdict), name_of(verdict));
}

std::vector<Markup> cells_of_comparison(const std::string& root, const ComparisonRow& row) {
  const auto& comparison = row.comparison;
  const std::string verdict(name_of(comparison.verdict));
  const auto* definition = find_metric(comparison.plan.metric);
  Markup change;
  Markup pairs;
  if (!comparison.metrics.empty()) {
    const auto& primary = comparison.metrics.front();
    const auto shift = report::shift_of(primary);
    change = element("b", {}, report::full_text_of_shift(shift)) +
             element("span", {{"class", "detail"}}, report::text_of_bounds(shift));
    pairs = text(fmt::to_string(primary.pairs));
  }
  const auto sides = run_link(root, row.run, breakable("A " + comparison.a_label)) +
                     element("span", {{"class", "sub"}}, breakable("B " + comparison.b_label));
  const auto answer = pill(kind_of_word(verdict), verdict) +
                      (comparison.is_confirmed
                           ? element("span", {{"class", "detail"}}, "found again on fresh pairs")
                           : Markup());
  return {sides,
          answer,
          change,
          pairs,
          text(definition == nullptr ? comparison.plan.metric : std::string(definition->title)),
          canary_text(comparison),
          time_text(row.started_unix_ns)};
}

}  // namespace

Result<Page> make_comparisons_page(const PageTools& tools, const PageRequest& request,
                                   const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const auto page, page_number(name));
  ASSAY_ASSIGN_OR_RETURN(const auto count, tools.index.count_comparisons());
  ASSAY_ASSIGN_OR_RETURN(const auto found,
                         tools.index.comparisons((page - 1) * kRowsPerPage, kRowsPerPage));
  if (page > 1 && found.empty()) {
    return fail(ErrorCode::kNotFound, "no such page of comparisons");
  }
  const auto root = root_from(request.path);
  std::vector<std::vector<Markup>> rows;
  rows.reserve(found.size());
  for (const auto& row : found) {
    rows.push_back(cells_of_comparison(root, row));
  }
  const auto none = element("p", {{"class", "notice"}},
                            text("The store has no comparison. ") +
                                element("code", {}, "assay compare A B") + text(" makes one."));
  return make_page(tools, request,
                   {.title = "Comparisons",
                    .section = "comparisons.html",
                    .lede = {text(report::counted(static_cast<std::size_t>(count), "comparison"))},
                    .body = rows.empty() ? none
                                         : element("section", {},
                                                   table("Comparisons", kComparisonColumns, rows)) +
                                               pager("comparisons", page, count)});
}

}  // namespace assay::site
