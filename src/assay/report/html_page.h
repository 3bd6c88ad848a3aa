#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/report/writer.h"

namespace assay::report {

/// Styles and scripts of one kind of page, by the names of the embedded files, in the order in
/// which they use each other.
struct PageAssets {
  std::string_view name;  ///< "report": a site has report.css and report.js.
  std::span<const std::string_view> styles;
  std::span<const std::string_view> scripts;
};

/// The kinds of pages: a run, a run of conformance, a history.
const PageAssets& run_page_assets();
const PageAssets& conformance_page_assets();
const PageAssets& history_page_assets();

/// Parts that differ between pages.
struct HtmlPage {
  std::string title;
  std::string data;        ///< A JSON document, which the script finds as #assay-data.
  PageAssets assets;       ///< Such as run_page_assets().
  bool has_charts = true;  ///< The script draws with Vega-Lite.
};

/// html/page.html with these parts. Alone it needs no network and no other file; within a site
/// (ReportStyle::site) it names the styles and scripts that the site's pages share. Nothing in the
/// data can end the element that holds it.
std::string html_page(const HtmlPage& page, const ReportStyle& style);

/// Embedded scripts one after the other and then `last`, in a scope of their own; in the order in
/// which they use each other.
std::string joined_scripts(std::span<const std::string_view> names, std::string_view last = {});

/// Embedded styles one after the other.
std::string joined_styles(std::span<const std::string_view> names);

/// A file that pages of a site share.
struct SharedFile {
  std::string name;  ///< "report.js"
  std::string content;
};

/// The styles and scripts of all kinds of pages, and vega.js where this installation has it.
/// `style`: has the folder of vega.js.
std::vector<SharedFile> shared_page_files(const ReportStyle& style);

}  // namespace assay::report
