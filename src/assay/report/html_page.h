#pragma once

#include <span>
#include <string>
#include <string_view>

namespace assay::report {

/// Parts that differ between pages.
struct HtmlPage {
  std::string title;
  std::string css;
  std::string data;    ///< A JSON document, which the script finds as #assay-data.
  std::string charts;  ///< An element; may be a comment.
  std::string script;
};

/// A page that needs no network: html/page.html with these parts. Nothing in the data can end the
/// element that holds it.
std::string html_page(const HtmlPage& page);

/// Embedded scripts one after the other, in a scope of their own; in the order in which they use
/// each other.
std::string joined_scripts(std::span<const std::string_view> names);

}  // namespace assay::report
