#pragma once

#include "features/site/index_rows.h"
#include "features/site/markup.h"
#include "features/site/page.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/metric.h"
#include "assay/report/format.h"
#include "assay/report/writer.h"

namespace assay::site {

/// "../" for each folder of a path: the way from a page to the root of the site.
std::string root_from(const std::string& path);

/// A parameter of the request's address; `otherwise` where it is absent or empty.
std::string parameter_of(const PageRequest& request, const std::string& name,
                         const std::string& otherwise = {});

/// The place of a report page in the site. `section`: path of the entry of the navigation that is
/// the current one. `below`: a line under the navigation.
SitePlace site_place(const PageRequest& request, std::string_view section, const Markup& below);

/// Parts of a page of the site itself.
struct PageContent {
  std::string title;
  std::string_view section;  ///< "index.html"
  std::vector<Markup> lede;  ///< Facts under the title.
  Markup body;
  Json data;  ///< Data of charts; null: the page has none.
};

Page make_page(const PageTools& tools, const PageRequest& request, const PageContent& content);

struct TableColumn {
  std::string_view title;
  bool is_number = false;
};

/// A table that scrolls on its own, and shows each row as a card on phones. `rows`: cells in the
/// order of the columns; the first is the head of its row.
Markup table(std::string_view caption, std::span<const TableColumn> columns,
             const std::vector<std::vector<Markup>>& rows);

/// A section with its heading; empty where `body` is.
Markup section(std::string_view heading, const Markup& body, std::string_view id = {});

/// A place for a chart that site.js draws from the page's data. `kind`: which chart.
Markup chart_place(std::string_view kind, int number, std::string_view title,
                   std::string_view note);

/// A result as mark and word; `verdict` is any word, `kind` "pass", "fail", "inconclusive" or
/// "skipped".
Markup pill(std::string_view kind, std::string_view word);
/// The kind of a word of any axis: "faster", "fail_numeric", "confirmed".
std::string_view kind_of_word(std::string_view word);
/// "3 pass 1 fail" as pills.
Markup verdict_pills(const std::vector<std::pair<std::string, int>>& verdicts);

/// "2026-11-23 10:00" as a time element, UTC.
Markup time_text(std::int64_t unix_ns);

/// A metric of a case with its unit; what stands for nothing measured where it has none.
Markup metric_text(const CaseSummary& summary, std::string_view metric);
/// Writes the value with its interval below.
Markup metric_with_interval(const CaseSummary& summary, std::string_view metric);
/// The worst accuracy of a case: "SQNR 51.3 dB" against float32, or against another reference where
/// it has no such.
/// The metric that accuracy is shown by, "qdq.sqnr_db"; empty without any.
std::string accuracy_metric(const CaseSummary& summary);
Markup accuracy_text(const CaseSummary& summary);

/// The results of a run as pills, its state where it is not finished.
Markup run_result(const RunRow& run);
/// Says that the store has no run.
Markup no_run_notice();

/// Links, from any page. `root`: root_from() of the page.
Markup run_link(const std::string& root, const std::string& run, std::string_view words);
Markup run_link(const std::string& root, const std::string& run, const Markup& content);
Markup case_link(const std::string& root, const CaseSummary& summary);
std::string model_path(const std::string& ref);
/// The model whose path has this name. Errors: kNotFound.
Result<ModelUse> find_model(RunIndex& index, const std::string& name);

/// All labels by brief_label(), with their whole values as titles.
Markup labels_text(const std::map<std::string, std::string>& labels);

/// Links to the pages of a long list: "runs.html", "runs-2.html", … `query`: "?verb=bench", which
/// they all have. `rows`: of one page.
Markup pager(const std::string& stem, std::int64_t page, std::int64_t count,
             const std::string& query = {}, std::int64_t rows = kRowsPerPage);
/// The number in "index-2"; 1 without one. Errors: kNotFound.
Result<std::int64_t> page_number(const std::string& name);

using report::joined_names;

/// Splits a search at white space.
std::vector<std::string> words_of(const std::string& text);

}  // namespace assay::site
