#include "assay/report/html_page.h"

#include "report_page.h"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/report/format.h"
#include "assay/report/vega_bundle.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

constexpr std::string_view kPolicyAlone =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: "
    "blob:; base-uri 'none'; form-action 'none'";
// A folder of files has no origin of its own, so 'self' says nothing there.
constexpr std::string_view kPolicyInSite =
    "default-src 'none'; script-src 'self' file:; style-src 'self' file: 'unsafe-inline'; img-src "
    "data: blob:; base-uri 'none'; form-action 'self' file:";

constexpr auto kRunStyles = std::to_array<std::string_view>({"page.css"});
constexpr auto kRunScripts = std::to_array<std::string_view>(
    {"format.js", "dom.js", "model.js", "charts.js", "model_charts.js", "case_charts.js",
     "trace_charts.js", "trade_off.js", "attribution.js", "comparisons.js", "cases.js",
     "details.js", "page.js"});
constexpr auto kConformanceStyles =
    std::to_array<std::string_view>({"page.css", "conformance.css"});
constexpr auto kConformanceScripts =
    std::to_array<std::string_view>({"format.js", "dom.js", "heat_map.js", "conformance.js"});
constexpr auto kHistoryStyles = std::to_array<std::string_view>({"page.css", "history.css"});
constexpr auto kHistoryScripts =
    std::to_array<std::string_view>({"format.js", "dom.js", "charts.js", "history.js"});

/// JSON that cannot end the element around it nor open a comment: '<' only occurs inside strings.
std::string script_safe(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  }
  return out;
}

std::string escaped_title(std::string_view text) {
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

std::string inline_charts(const ReportStyle& style) {
  const auto bundle = read_vega_bundle(style.data_folder);
  if (!bundle) {
    log_line(LogLevel::kWarning, "the page has no charts: " + bundle.error().message);
    return "<!-- no charts: vega.js was not found -->";
  }
  return "<script>" + *bundle + "</script>";
}

std::string script_link(const SitePlace& site, std::string_view name) {
  return "<script src=\"" + site.assets + std::string(name) + "\"></script>";
}

std::string style_element(const HtmlPage& page, const ReportStyle& style) {
  return style.site ? "<link rel=\"stylesheet\" href=\"" + style.site->assets +
                          std::string(page.assets.name) + ".css\">" + style.site->head
                    : "<style>" + joined_styles(page.assets.styles) + "</style>";
}

std::string charts_element(const HtmlPage& page, const ReportStyle& style) {
  return !page.has_charts ? ""
         : style.site     ? script_link(*style.site, "vega.js")
                          : inline_charts(style);
}

std::string script_element(const HtmlPage& page, const ReportStyle& style) {
  return style.site ? script_link(*style.site, std::string(page.assets.name) + ".js")
                    : "<script>" + joined_scripts(page.assets.scripts) + "</script>";
}

}  // namespace

const PageAssets& run_page_assets() {
  static constexpr PageAssets kAssets{"report", kRunStyles, kRunScripts};
  return kAssets;
}

const PageAssets& conformance_page_assets() {
  static constexpr PageAssets kAssets{"conformance", kConformanceStyles, kConformanceScripts};
  return kAssets;
}

const PageAssets& history_page_assets() {
  static constexpr PageAssets kAssets{"history", kHistoryStyles, kHistoryScripts};
  return kAssets;
}

std::string joined_scripts(std::span<const std::string_view> names, std::string_view last) {
  std::string text = "(() => {\n\"use strict\";\n";
  for (const auto name : names) {
    text += report_page(name);
  }
  return text + std::string(last) + "})();\n";
}

std::string joined_styles(std::span<const std::string_view> names) {
  std::string text;
  for (const auto name : names) {
    text += report_page(name);
  }
  return text;
}

std::string html_page(const HtmlPage& page, const ReportStyle& style) {
  const auto values = std::to_array<std::pair<std::string_view, std::string>>({
      {"@POLICY@", std::string(style.site ? kPolicyInSite : kPolicyAlone)},
      {"@TITLE@", escaped_title(page.title) + " – Assay"},
      {"@STYLE@", style_element(page, style)},
      {"@NAVIGATION@", style.site ? style.site->navigation : ""},
      {"@DATA@", script_safe(page.data)},
      {"@CHARTS@", charts_element(page, style)},
      {"@SCRIPT@", script_element(page, style)},
  });
  return filled(report_page("page.html"), values);
}

std::vector<SharedFile> shared_page_files(const ReportStyle& style) {
  std::vector<SharedFile> files;
  for (const auto* assets :
       {&run_page_assets(), &conformance_page_assets(), &history_page_assets()}) {
    const std::string name(assets->name);
    files.push_back({name + ".css", joined_styles(assets->styles)});
    files.push_back({name + ".js", joined_scripts(assets->scripts)});
  }
  if (auto bundle = read_vega_bundle(style.data_folder)) {
    files.push_back({"vega.js", std::move(*bundle)});
  } else {
    log_line(LogLevel::kWarning, "the pages have no charts: " + bundle.error().message);
  }
  return files;
}

}  // namespace assay::report
