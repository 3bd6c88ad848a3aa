#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

struct CodePoint {
  std::uint32_t value = 0xFFFD;  ///< The replacement character for bytes that are no UTF-8.
  std::size_t bytes = 1;
};

/// The code point that `text`, which is not empty, begins with.
/// Source: RFC 3629, section 3; overlong forms and surrogates are no UTF-8.
CodePoint first_code_point(std::string_view text);

/// A copy in which U+FFFD stands for every byte that is no UTF-8.
std::string valid_utf8(std::string_view text);

/// One line that a terminal or a table can show: escape sequences are removed, a control character
/// becomes "·", wrong UTF-8 U+FFFD (a model, a runner and a file may hold any byte); a run of white
/// space, line ends included, becomes one space.
std::string printable(std::string_view text);

/// As `printable`, but line ends and tabs stay.
std::string printable_lines(std::string_view text);

/// The bytes of an error's text that are kept.
inline constexpr std::size_t kMaxErrorBytes = std::size_t{64} << 10;

/// Cuts a text that came from outside to `max_bytes`; its end then says how many bytes are missing.
std::string capped_text(std::string text, std::size_t max_bytes = kMaxErrorBytes);

}  // namespace assay
