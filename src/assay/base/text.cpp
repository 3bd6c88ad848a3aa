#include "assay/base/text.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace assay {
namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;
constexpr std::string_view kReplacementBytes = "\xEF\xBF\xBD";

/// The smallest code point that needs so many bytes.
constexpr auto kSmallest = std::to_array<std::uint32_t>({0, 0, 0x80, 0x800, 0x10000});

bool is_control(std::uint32_t value) {
  const bool is_bidirectional_override =
      (value >= 0x202A && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069);
  return value < 0x20 || (value >= 0x7F && value < 0xA0) || is_bidirectional_override;
}

/// Bytes of the control sequence (ECMA-48, 5.4) that `text` begins with; 0 if it begins with none.
/// A sequence that is cut off or broken ends before the first byte that cannot belong to one.
std::size_t control_sequence_bytes(std::string_view text) {
  constexpr std::string_view kIntroducer = "\x1b[";
  if (!text.starts_with(kIntroducer)) {
    return 0;
  }
  std::size_t end = kIntroducer.size();
  while (end < text.size() && text[end] >= ' ' && text[end] < '@') {
    ++end;
  }
  const bool has_final_byte = end < text.size() && text[end] >= '@' && text[end] <= '~';
  return has_final_byte ? end + 1 : end;
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) {
    return {lead, 1};
  }
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) {
    return {};
  }
  std::uint32_t value = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80U) {
      return {};
    }
    value = (value << 6U) | (next & 0x3FU);
  }
  const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
  return value < kSmallest.at(bytes) || value > 0x10FFFF || is_surrogate ? CodePoint{}
                                                                         : CodePoint{value, bytes};
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto [value, bytes] = first_code_point(text);
    out += value == kReplacement ? kReplacementBytes : text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    if (const auto skipped = control_sequence_bytes(text); skipped > 0) {
      text.remove_prefix(skipped);
      continue;
    }
    const auto [value, bytes] = first_code_point(text);
    if (value == kReplacement) {
      out += kReplacementBytes;
    } else if (value == '\n' || value == '\t' || !is_control(value)) {
      out += text.substr(0, bytes);
    } else {
      out += value == '\r' ? "" : "·";
    }
    text.remove_prefix(bytes);
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : printable_lines(text)) {
    const bool is_space = c == ' ' || c == '\n' || c == '\t';
    if (!is_space) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  if (out.ends_with(' ')) {
    out.pop_back();
  }
  return out;
}

std::string capped_text(std::string text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) {
    return text;
  }
  std::size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;  // Not inside of a code point.
  }
  const auto missing = text.size() - end;
  text.resize(end);
  return fmt::format("{}… [{} more bytes were cut off]", text, missing);
}

}  // namespace assay
