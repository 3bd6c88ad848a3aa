#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::report {

using XmlAttributes = std::vector<std::pair<std::string, std::string>>;

/// Text as the content of an element or attribute. XML 1.0 has no control characters at all, not
/// even as references: they are left out.
std::string xml_escaped(std::string_view text);

/// "<element name="value"": without the end of the tag.
std::string xml_opening(std::string_view element, const XmlAttributes& attributes);

/// As JUnit writes a time.
std::string seconds_from_ns(double ns);

/// The <properties> of a suite or a test; nothing without any.
void write_junit_properties(const XmlAttributes& properties, std::string_view indent,
                            std::ostream& out);

}  // namespace assay::report
