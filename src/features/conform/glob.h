#pragma once

#include <string_view>

namespace assay {

/// True if a text matches a pattern in which '*' stands for any run of characters and '?' for one.
/// All of the text is meant. O(length of the text times length of the pattern) at worst.
bool is_glob_match(std::string_view pattern, std::string_view text);

}  // namespace assay
