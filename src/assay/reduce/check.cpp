#include "assay/reduce/check.h"

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
#include "assay/reduce/finding.h"

namespace assay {
namespace {

constexpr std::size_t kTextCompared = 80;  ///< Bytes of an error's core that must agree.

bool is_wrong(ConformVerdict verdict) {
  return verdict == ConformVerdict::kFailNumeric ||
         verdict == ConformVerdict::kFailNondeterministic;
}

bool is_error(ConformVerdict verdict) {
  constexpr std::array kErrors = {ConformVerdict::kAotError, ConformVerdict::kLoadError,
                                  ConformVerdict::kRunError};
  return std::ranges::find(kErrors, verdict) != kErrors.end();
}

/// In what a wrong answer is wrong.
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
  std::istringstream words{std::string(text)};
  bool is_quoted = false;
  for (std::string word; words >> word;) {
    if (word.find('/') != std::string::npos) {
      continue;
    }
    for (const char c : word + " ") {
      if (c == '\'') {
        is_quoted = !is_quoted;
      } else if (!is_quoted && std::isdigit(static_cast<unsigned char>(c)) == 0) {
        core += c;
      }
    }
  }
  return core.substr(0, kTextCompared);
}

}  // namespace assay
