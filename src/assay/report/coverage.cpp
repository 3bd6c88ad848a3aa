#include "assay/report/coverage.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/record/conformance.h"
#include "assay/report/csv_row.h"
#include "assay/report/format.h"
#include "assay/report/markdown_text.h"
#include "assay/report/text_page.h"
#include "assay/report/text_table.h"
#include "assay/report/writer.h"

namespace assay {
namespace {

using Coverage = std::vector<OperatorCoverage>;

std::string headline_of(const Coverage& coverage) {
  std::size_t cases = 0;
  for (const auto& one : coverage) {
    cases += static_cast<std::size_t>(one.cases);
  }
  const auto covered =
      std::ranges::count_if(coverage, [](const auto& one) { return one.cases > 0; });
  return fmt::format("{} of {} have {}", covered, report::counted(coverage.size(), "operator"),
                     report::counted(cases, "case"));
}

report::TextTable coverage_table(const Coverage& coverage) {
  report::TextTable table;
  report::TextColumn name{.title = "operator", .is_left = true, .importance = 100};
  report::TextColumn cases{.title = "cases", .importance = 90};
  report::TextColumn reason{
      .title = "why none", .is_left = true, .importance = 80, .most_width = 120, .least_width = 20};
  for (const auto& one : coverage) {
    name.cells.push_back({printable(one.operator_name)});
    cases.cells.push_back({fmt::to_string(one.cases)});
    reason.cells.push_back({printable(one.reason)});
  }
  table.columns = {std::move(name), std::move(cases), std::move(reason)};
  return table;
}

void write_csv(const Coverage& coverage, std::ostream& out) {
  const auto row_of = [](const OperatorCoverage& one) {
    return report::CsvRow{{"operator", one.operator_name},
                          {"cases", fmt::to_string(one.cases)},
                          {"reason", one.reason}};
  };
  report::write_csv_head(row_of({}), out);
  for (const auto& one : coverage) {
    report::write_csv_row(row_of(one), out);
  }
}

}  // namespace

Status write_coverage(std::string_view format, const std::vector<OperatorCoverage>& coverage,
                      const ReportStyle& style, std::ostream& out) {
  auto sorted = coverage;
  std::ranges::sort(sorted, {}, [](const OperatorCoverage& one) {
    return std::tuple(one.cases > 0, one.operator_name);
  });
  if (format == "console") {
    report::TextPage page(style);
    page.line(headline_of(sorted));
    page.table(coverage_table(sorted));
    out << page.text();
  } else if (format == "md") {
    out << "### " << report::markdown_escaped(headline_of(sorted)) << "\n\n";
    report::write_markdown_table(coverage_table(sorted), out);
  } else if (format == "csv") {
    write_csv(sorted, out);
  } else if (format == "json") {
    out << Json{{"schema", "assay/conformance_coverage/1"}, {"coverage", sorted}}.dump(1) << "\n";
  } else {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("coverage has no {} form; take console, md, csv or json, or the HTML "
                            "report of a run",
                            format));
  }
  out.flush();
  return out ? Status() : fail(ErrorCode::kUnavailable, "could not write the coverage");
}

}  // namespace assay
