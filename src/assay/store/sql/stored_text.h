#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::sql {

/// The text as both databases take it: U+FFFD stands for each NUL and for each byte that is not
/// UTF-8. Nothing where the text is so already, as nearly always.
std::optional<std::string> mended_text(std::string_view given);

}  // namespace assay::sql
