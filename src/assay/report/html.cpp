#include "report_page.h"

#include <array>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/record/summary.h"
#include "assay/report/document.h"
#include "assay/report/format.h"
#include "assay/report/formats.h"
#include "assay/report/vega_bundle.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

/// In the order in which they use each other; together they are one script.
constexpr auto kScripts = std::to_array<std::string_view>(
    {"format.js", "dom.js", "model.js", "charts.js", "model_charts.js", "case_charts.js",
     "attribution.js", "comparisons.js", "cases.js", "details.js", "page.js"});

std::string script() {
  std::string text = "(() => {\n\"use strict\";\n";
  for (const auto name : kScripts) {
    text += report_page(name);
  }
  return text + "})();\n";
}

/// JSON that cannot end the element around it nor open a comment: '<' only occurs inside strings.
std::string script_safe(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  }
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  }
  return out;
}

/// The template with each @NAME@ replaced. What goes in is not searched again, so data that look
/// like a mark stay data.
std::string filled(std::string_view page,
                   std::span<const std::pair<std::string_view, std::string>> values) {
  std::string out;
  for (const auto& [mark, value] : values) {
    const auto at = page.find(mark);
    ASSAY_CHECK(at != std::string_view::npos);
    out += page.substr(0, at);
    out += value;
    page.remove_prefix(at + mark.size());
  }
  return out + std::string(page);
}

std::string charts_element(const ReportStyle& style) {
  const auto bundle = read_vega_bundle(style.data_folder);
  if (!bundle) {
    log_line(LogLevel::kWarning, "the report has no charts: " + bundle.error().message);
    return "<!-- no charts: vega.js was not found -->";
  }
  return "<script>" + *bundle + "</script>";
}

}  // namespace

Status write_html(const RunSummary& summary, const ReportStyle& style, std::ostream& out) {
  const auto& name = summary.run.name.empty() ? summary.run.purpose : summary.run.name;
  const auto values = std::to_array<std::pair<std::string_view, std::string>>({
      {"@TITLE@", escaped(name) + " – Assay"},
      {"@CSS@", std::string(report_page("page.css"))},
      {"@DATA@", script_safe(document_of(summary))},
      {"@CHARTS@", charts_element(style)},
      {"@SCRIPT@", script()},
  });
  out << filled(report_page("page.html"), values);
  return {};
}

}  // namespace assay::report
