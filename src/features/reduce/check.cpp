#include "features/reduce/check.h"

#include "features/reduce/finding.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/conformance.h"

namespace assay {
namespace {

constexpr std::size_t kTextCompared = 200;  ///< Bytes of an error's core that must agree.

bool is_wrong(ConformVerdict verdict) {
  return verdict == ConformVerdict::kFailNumeric ||
         verdict == ConformVerdict::kFailNondeterministic;
}

bool is_error(ConformVerdict verdict) {
  constexpr std::array kErrors = {ConformVerdict::kAotError, ConformVerdict::kLoadError,
                                  ConformVerdict::kRunError};
  return std::ranges::find(kErrors, verdict) != kErrors.end();
}

/// Says what is wrong in a wrong answer.
enum class Wrong : std::uint8_t {
  kShape,
  kType,
  kNotFinite,  ///< NaN or infinity where it should not be, or none where it should.
  kExact,      ///< Operators without rounding: whole numbers, copies.
  kRounded,
  kNumbers,  ///< Graphs, held against tolerances: not known whether they round.
};

bool are_alike(Wrong first, Wrong found) {
  const auto is_of_numbers = [](Wrong wrong) {
    return wrong == Wrong::kExact || wrong == Wrong::kRounded || wrong == Wrong::kNumbers;
  };
  const bool is_open = first == Wrong::kNumbers || found == Wrong::kNumbers;
  return first == found || (is_open && is_of_numbers(first) && is_of_numbers(found));
}

Wrong wrong_as_told(std::string_view text) {
  if (text.contains("the type is")) {
    return Wrong::kType;
  }
  if (text.contains("the shape is")) {
    return Wrong::kShape;
  }
  const auto begin = text.find("element [");
  if (begin == std::string_view::npos) {
    return Wrong::kNumbers;
  }
  const auto element = text.substr(begin, text.find(';', begin) - begin);
  if (element.contains("nan") || element.contains("inf")) {
    return Wrong::kNotFinite;
  }
  return element.ends_with("± 0") ? Wrong::kExact : Wrong::kRounded;
}

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// End of the quotation that opens here, at the end of a word. npos: it is an apostrophe.
std::size_t end_of_quote(std::string_view text, std::size_t open) {
  if (open > 0 && is_letter(text[open - 1])) {
    return std::string_view::npos;
  }
  auto close = text.find('\'', open + 1);
  while (close != std::string_view::npos && close + 1 < text.size() && is_letter(text[close + 1])) {
    close = text.find('\'', close + 1);
  }
  return close;
}

/// The text without what stands in quotes. The apostrophe of "couldn't" opens none.
std::string without_quotes(std::string_view text) {
  std::string rest;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto close = text[i] == '\'' ? end_of_quote(text, i) : std::string_view::npos;
    if (close == std::string_view::npos) {
      rest += text[i];
    } else {
      i = close;
    }
  }
  return rest;
}

/// "0x14," is a code that tells errors apart; an address is longer.
bool is_error_code(std::string_view word) {
  const auto at = word.find("0x");
  if (at == std::string_view::npos) {
    return false;
  }
  const auto digits = word.substr(at + 2);
  const auto end = std::ranges::find_if_not(
      digits, [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
  const auto count = end - digits.begin();
  return count > 0 && count <= 4;
}

/// The signal that a text on a death names, "SIGSEGV"; empty for none.
std::string_view signal_of(std::string_view text) {
  const auto at = text.find("SIG");
  if (at == std::string_view::npos) {
    return {};
  }
  auto end = at;
  while (end < text.size() && is_letter(text[end])) {
    ++end;
  }
  return text.substr(at, end - at);
}

bool is_same_failure(const ReduceFinding& first, const ReduceFinding& found) {
  if (is_wrong(first.verdict)) {
    const bool repeats = first.verdict == ConformVerdict::kFailNumeric &&
                         found.verdict == ConformVerdict::kFailNumeric;
    return is_wrong(found.verdict) &&
           (!repeats || are_alike(wrong_as_told(first.text), wrong_as_told(found.text)));
  }
  if (found.verdict != first.verdict) {
    return false;
  }
  if (first.verdict == ConformVerdict::kCrashed) {
    return found.stage == first.stage && signal_of(found.text) == signal_of(first.text);
  }
  return !is_error(first.verdict) ||
         (found.stage == first.stage && core_of_text(found.text) == core_of_text(first.text));
}

Result<ReduceCheck> slower_from(std::string_view argument) {
  const auto colon = argument.rfind(':');
  double ratio = 0;
  if (colon != std::string_view::npos) {
    const auto text = argument.substr(colon + 1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ratio);
    ratio = error == std::errc{} && end == text.data() + text.size() ? ratio : 0;
  }
  if (colon == 0 || !(ratio > 1)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("--check slower-than={}: write a recipe and a factor over 1, such as "
                            "slower-than=executorch/portable:1.5",
                            argument));
  }
  return ReduceCheck{.kind = ReduceKind::kSlower,
                     .recipe = std::string(argument.substr(0, colon)),
                     .ratio = ratio};
}

}  // namespace

Result<ReduceCheck> check_from_text(std::string_view text) {
  const auto equals = text.find('=');
  const auto kind = find_enum<ReduceKind>(text.substr(0, equals));
  if (kind == ReduceKind::kSlower) {
    return slower_from(equals == std::string_view::npos ? "" : text.substr(equals + 1));
  }
  if (!kind || equals != std::string_view::npos) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("--check {}: known are same, numeric, crash, timeout, error, "
                            "not-delegated and slower-than=RECIPE:FACTOR",
                            text));
  }
  return ReduceCheck{.kind = *kind};
}

bool fails(const ReduceCheck& check, const ReduceFinding& first, const ReduceFinding& found) {
  switch (check.kind) {
    case ReduceKind::kSame:
      return is_failure(first.verdict) && is_same_failure(first, found);
    case ReduceKind::kNumeric:
      return is_wrong(found.verdict);
    case ReduceKind::kCrash:
      return found.verdict == ConformVerdict::kCrashed ||
             found.verdict == ConformVerdict::kOutOfMemory;
    case ReduceKind::kTimeout:
      return found.verdict == ConformVerdict::kTimedOut;
    case ReduceKind::kError:
      return is_error(found.verdict);
    case ReduceKind::kNotDelegated:
      return found.delegation == Delegation::kPartial || found.delegation == Delegation::kNone;
    case ReduceKind::kSlower:
      return found.time_ratio && *found.time_ratio >= check.ratio;
  }
  return false;
}

std::string core_of_text(std::string_view text) {
  std::string core;
  std::istringstream words{without_quotes(text)};
  for (std::string word; words >> word;) {
    if (word.find('/') != std::string::npos) {
      continue;
    }
    const bool is_code = is_error_code(word);
    for (const char c : word + " ") {
      if (is_code || std::isdigit(static_cast<unsigned char>(c)) == 0) {
        core += c;
      }
    }
  }
  return core.substr(0, kTextCompared);
}

}  // namespace assay
