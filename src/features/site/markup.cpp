#include "features/site/markup.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <fmt/format.h>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/text.h"

namespace assay::site {
namespace {

std::string escaped_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string opening(std::string_view tag, const Attributes& attributes) {
  std::string html = fmt::format("<{}", tag);
  for (const auto& [name, value] : attributes) {
    if (!name.empty()) {
      html += fmt::format(" {}=\"{}\"", name, escaped_html(printable(value)));
    }
  }
  return html + ">";
}

bool has_scheme(std::string_view href) {
  const auto colon = href.find(':');
  return colon != std::string_view::npos && colon < href.find_first_of("/?#");
}

}  // namespace

Markup text(std::string_view text) {
  Markup markup;
  markup.html_ = escaped_html(printable_lines(text));
  return markup;
}

Markup breakable(std::string_view name) {
  constexpr std::string_view kSeparators = "/_.,;:@-";
  Markup markup;
  while (!name.empty()) {
    const auto end = std::min(name.size(), name.find_first_of(kSeparators));
    const auto next = std::min(name.size(), name.find_first_not_of(kSeparators, end));
    markup += text(name.substr(0, next));
    name.remove_prefix(next);
    markup += name.empty() ? Markup() : empty_element("wbr", {});
  }
  return markup;
}

Markup trusted(std::string html) {
  Markup markup;
  markup.html_ = std::move(html);
  return markup;
}

Markup element(std::string_view tag, const Attributes& attributes, const Markup& content) {
  return trusted(opening(tag, attributes) + content.html() + fmt::format("</{}>", tag));
}

Markup element(std::string_view tag, const Attributes& attributes,
               std::initializer_list<Markup> children) {
  Markup content;
  for (const auto& child : children) {
    content += child;
  }
  return element(tag, attributes, content);
}

Markup element(std::string_view tag, const Attributes& attributes, std::string_view content) {
  return element(tag, attributes, text(content));
}

Markup empty_element(std::string_view tag, const Attributes& attributes) {
  return trusted(opening(tag, attributes));
}

Markup link(const std::string& href, const Markup& content) {
  return element("a", {{"href", has_scheme(href) ? "#" : href}}, content);
}

Markup link(const std::string& href, std::string_view content) { return link(href, text(content)); }

Markup json_element(std::string_view id, const std::string& json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    safe += c == '<' ? std::string("\\u003c") : std::string(1, c);
  }
  return trusted(opening("script", {{"type", "application/json"}, {"id", std::string(id)}}) + safe +
                 "</script>");
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = std::isalnum(byte) != 0 || std::string_view("-._~").contains(c);
    out += is_plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return out;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const auto* begin = text.data() + i + 1;
    const bool is_code = text[i] == '%' && i + 2 < text.size() &&
                         std::from_chars(begin, begin + 2, byte, 16).ptr == begin + 2;
    out += is_code ? static_cast<char>(byte) : text[i];
    i += is_code ? 2 : 0;
  }
  return out;
}

}  // namespace assay::site
