#include "assay/report/xml.h"

#include <fmt/format.h>
#include <ostream>
#include <string>
#include <string_view>

#include "assay/base/text.h"
#include "assay/report/format.h"

namespace assay::report {

namespace {

/// Source: XML 1.0, production 2: the two last code points of the basic plane are no Char.
std::string without_noncharacters(std::string text) {
  for (const std::string_view one : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (auto at = text.find(one); at != std::string::npos; at = text.find(one, at)) {
      text.replace(at, one.size(), "\xEF\xBF\xBD");
    }
  }
  return text;
}

}  // namespace

/// XML 1.0 has no control characters at all, not even as references; `printable_lines` took them.
std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : without_noncharacters(printable_lines(text))) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string xml_opening(std::string_view element, const XmlAttributes& attributes) {
  auto text = fmt::format("<{}", element);
  for (const auto& [name, value] : attributes) {
    text += fmt::format(" {}=\"{}\"", name, xml_escaped(printable(value)));
  }
  return text;
}

std::string seconds_from_ns(double ns) { return fmt::format("{:.9f}", ns / 1e9); }

void write_junit_properties(const XmlAttributes& properties, std::string_view indent,
                            std::ostream& out) {
  if (properties.empty()) {
    return;
  }
  out << indent << "<properties>\n";
  for (const auto& [name, value] : properties) {
    out << indent << "  "
        << xml_opening("property", {{"name", std::string(name)}, {"value", value}}) << "/>\n";
  }
  out << indent << "</properties>\n";
}

}  // namespace assay::report
