#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::site {

/// HTML that is safe to send: text becomes part of it through text() and attributes only, which
/// escape. Nothing that a model, an engine, a label or a part store says becomes an element.
class Markup {
 public:
  Markup() = default;
  Markup& operator+=(const Markup& other) {
    html_ += other.html_;
    return *this;
  }
  [[nodiscard]] const std::string& html() const { return html_; }
  [[nodiscard]] bool is_empty() const { return html_.empty(); }

 private:
  friend Markup text(std::string_view text);
  friend Markup trusted(std::string html);
  std::string html_;
};

inline Markup operator+(Markup a, const Markup& b) { return std::move(a += b); }

/// An attribute with its value, which is escaped; an empty name stands for none.
using Attribute = std::pair<std::string_view, std::string>;
using Attributes = std::vector<Attribute>;

/// Escaped text; control characters and what is no UTF-8 are replaced.
Markup text(std::string_view text);

/// A name that may break after its separators; a browser does not break at all of them by itself.
Markup breakable(std::string_view name);

/// HTML that the program itself holds, such as an embedded file. Never of data.
Markup trusted(std::string html);

/// `<tag a="b">children</tag>`; tags without an end, such as input, have no children.
Markup element(std::string_view tag, const Attributes& attributes,
               std::initializer_list<Markup> children);
Markup element(std::string_view tag, const Attributes& attributes, const Markup& content);
Markup element(std::string_view tag, const Attributes& attributes, std::string_view content);
Markup empty_element(std::string_view tag, const Attributes& attributes);

/// A link. `href` is a relative path that the site made; one with a scheme becomes "#".
Markup link(const std::string& href, const Markup& content);
Markup link(const std::string& href, std::string_view content);

/// A JSON document that a script finds by its id. Nothing in it can end the element.
Markup json_element(std::string_view id, const std::string& json);

/// A part of an address, percent-encoded: letters, digits and "-._~" stay.
std::string percent_encoded(std::string_view text);
/// Its inverse; a "%" without two hexadecimal digits stays.
std::string percent_decoded(std::string_view text);

}  // namespace assay::site
