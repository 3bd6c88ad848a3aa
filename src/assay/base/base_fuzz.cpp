// Whatever a text is, it reads as a duration, a size or JSON or is refused, and what is made of it
// for a terminal, a shell or a digest is what the headers promise.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "assay/base/fuzz_input.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/shell.h"
#include "assay/base/text.h"
#include "assay/base/units.h"

namespace {

constexpr std::int64_t kYearNs = 366LL * 24 * 3600 * 1'000'000'000;

void check_duration(std::string_view text) {
  if (const auto ns = assay::duration_ns_from_text(text)) {
    ASSAY_CHECK(*ns >= 0 && *ns <= kYearNs);
    ASSAY_CHECK(!assay::text_from_duration_ns(static_cast<double>(*ns)).empty());
  }
}

void check_size(std::string_view text) {
  if (const auto bytes = assay::bytes_from_text(text)) {
    ASSAY_CHECK(*bytes >= 1);
    ASSAY_CHECK(!assay::text_from_bytes(static_cast<double>(*bytes)).empty());
  }
}

bool has_control(std::string_view text, std::string_view allowed) {
  while (!text.empty()) {
    const auto [value, bytes] = assay::first_code_point(text);
    const bool is_control = value < 0x20 || (value >= 0x7F && value < 0xA0);
    if (is_control && !allowed.contains(static_cast<char>(value))) {
      return true;
    }
    text.remove_prefix(bytes);
  }
  return false;
}

void check_text(std::string_view text) {
  const auto line = assay::printable(text);
  ASSAY_CHECK(!has_control(line, "") && assay::printable(line) == line);
  const auto lines = assay::printable_lines(text);
  ASSAY_CHECK(!has_control(lines, "\n\t") && assay::printable_lines(lines) == lines);
  ASSAY_CHECK(std::ranges::count(lines, '\n') == std::ranges::count(text, '\n'));
  const auto utf8 = assay::valid_utf8(text);
  ASSAY_CHECK(assay::valid_utf8(utf8) == utf8 && assay::valid_utf8(lines) == lines);
  const auto capped = assay::capped_text(utf8, 16);
  ASSAY_CHECK(assay::valid_utf8(capped) == capped && capped.size() < 16 + 64);
}

/// Reads a word in single quotes as a POSIX shell does.
std::string unquoted(std::string_view word) {
  std::string out;
  bool is_quoted = false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '\'') {
      is_quoted = !is_quoted;
    } else {
      i += !is_quoted && word[i] == '\\' ? 1 : 0;
      out += word[i];
    }
  }
  ASSAY_CHECK(!is_quoted);
  return out;
}

void check_shell_word(std::string_view text) {
  const auto word = assay::shell_word(std::string(text));
  ASSAY_CHECK(!word.empty() && unquoted(word) == text);
}

void check_json(std::string_view text) {
  const auto document = assay::parse_json(text, "fuzz");
  if (!document) {
    ASSAY_CHECK(document.error().message.starts_with("fuzz: "));
    return;
  }
  const auto canonical = assay::canonical_json(*document);
  const auto again = assay::parse_json(canonical, "again", assay::JsonComments::kRefused);
  ASSAY_CHECK(again && assay::canonical_json(*again) == canonical);
}

constexpr assay::FuzzedParser kParsers[] = {{'d', check_duration},
                                            {'b', check_size},
                                            {'t', check_text},
                                            {'s', check_shell_word},
                                            {'j', check_json}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return assay::run_fuzzed_parser(kParsers, data, size);
}
