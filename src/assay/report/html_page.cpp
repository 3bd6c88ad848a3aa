#include "assay/report/html_page.h"

#include "report_page.h"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/report/format.h"

namespace assay::report {
namespace {

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

}  // namespace

std::string joined_scripts(std::span<const std::string_view> names) {
  std::string text = "(() => {\n\"use strict\";\n";
  for (const auto name : names) {
    text += report_page(name);
  }
  return text + "})();\n";
}

std::string html_page(const HtmlPage& page) {
  const auto values = std::to_array<std::pair<std::string_view, std::string>>({
      {"@TITLE@", escaped(page.title) + " – Assay"},
      {"@CSS@", page.css},
      {"@DATA@", script_safe(page.data)},
      {"@CHARTS@", page.charts},
      {"@SCRIPT@", page.script},
  });
  return filled(report_page("page.html"), values);
}

}  // namespace assay::report
