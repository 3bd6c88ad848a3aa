#include "features/history/csv_text.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "assay/base/result.h"

namespace assay::history {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const auto first = text.find_first_not_of(kSpace);
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// Takes exactly `digits` digits from the front.
std::optional<int> take_digits(std::string_view& text, std::size_t digits) {
  int value = 0;
  if (text.size() < digits) {
    return std::nullopt;
  }
  for (const char digit : text.substr(0, digits)) {
    if (digit < '0' || digit > '9') {
      return std::nullopt;
    }
    value = 10 * value + (digit - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take_char(std::string_view& text, std::string_view any) {
  if (text.empty() || !any.contains(text.front())) {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

std::optional<std::int64_t> take_days(std::string_view& text) {
  const auto year = take_digits(text, 4);
  const bool has_month = year && take_char(text, "-");
  const auto month = has_month ? take_digits(text, 2) : std::nullopt;
  const bool has_day = month && take_char(text, "-");
  const auto day = has_day ? take_digits(text, 2) : std::nullopt;
  if (!day) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date(std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)});
  if (!date.ok()) {
    return std::nullopt;
  }
  return std::chrono::sys_days(date).time_since_epoch().count();
}

/// "09:05", "09:05:30", "09:05:30.25" as seconds.
std::optional<std::int64_t> take_time(std::string_view& text) {
  const auto hours = take_digits(text, 2);
  const bool has_minutes = hours && take_char(text, ":");
  const auto minutes = has_minutes ? take_digits(text, 2) : std::nullopt;
  if (!minutes || *hours > 23 || *minutes > 59) {
    return std::nullopt;
  }
  std::optional<int> seconds = 0;
  if (take_char(text, ":")) {
    seconds = take_digits(text, 2);
    if (take_char(text, ".")) {
      text.remove_prefix(std::min(text.find_first_not_of("0123456789"), text.size()));
    }
  }
  return seconds && *seconds < 61
             ? std::optional<std::int64_t>(*hours * 3600 + *minutes * 60 + *seconds)
             : std::nullopt;
}

/// "Z", "+0200", "-02:00" or nothing, as seconds.
std::optional<std::int64_t> take_offset(std::string_view& text) {
  take_char(text, " ");
  if (text.empty() || take_char(text, "Z")) {
    return 0;
  }
  const bool is_negative = text.front() == '-';
  if (!take_char(text, "+-")) {
    return std::nullopt;
  }
  const auto hours = take_digits(text, 2);
  take_char(text, ":");
  const auto minutes = hours ? take_digits(text, 2) : std::nullopt;
  if (!minutes) {
    return std::nullopt;
  }
  const std::int64_t offset = *hours * 3600 + *minutes * 60;
  return is_negative ? -offset : offset;
}

}  // namespace

CsvText::CsvText(std::string_view text) : rest_(text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (rest_.starts_with(kMark)) {
    rest_.remove_prefix(kMark.size());
  }
}

Status CsvText::take_quoted(std::string& field) {
  rest_.remove_prefix(1);
  for (;;) {
    const auto quote = rest_.find('"');
    if (quote == std::string_view::npos) {
      return fail(ErrorCode::kInvalidArgument, "a quote (\") that begins here does not end");
    }
    field.append(rest_.substr(0, quote));
    next_line_ += std::ranges::count(rest_.substr(0, quote), '\n');
    rest_.remove_prefix(quote + 1);
    if (!rest_.starts_with('"')) {
      break;
    }
    field += '"';
    rest_.remove_prefix(1);
  }
  const auto gap = std::min(rest_.find_first_of(",\n"), rest_.size());
  if (!trimmed(rest_.substr(0, gap)).empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "text follows a closing quote; write \"\" for a quote inside of a field");
  }
  rest_.remove_prefix(gap);
  return {};
}

Result<bool> CsvText::next(std::vector<std::string>& fields) {
  while (!rest_.empty() && trimmed(rest_.substr(0, rest_.find('\n'))).empty()) {
    rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size() - 1) + 1);
    ++next_line_;
  }
  if (rest_.empty()) {
    return false;
  }
  line_ = next_line_;
  std::size_t count = 0;
  for (;;) {
    if (count == fields.size()) {
      fields.emplace_back();
    }
    auto& field = fields[count++];
    field.clear();
    if (rest_.starts_with('"')) {
      ASSAY_RETURN_IF_ERROR(take_quoted(field));
    } else {
      const auto end = std::min(rest_.find_first_of(",\n"), rest_.size());
      field.assign(trimmed(rest_.substr(0, end)));
      rest_.remove_prefix(end);
    }
    if (!take_char(rest_, ",")) {
      break;
    }
  }
  next_line_ += take_char(rest_, "\n") ? 1 : 0;
  fields.resize(count);
  return true;
}

std::optional<double> number_from_text(std::string_view text) {
  double value = 0;
  text.remove_prefix(text.starts_with('+') ? 1 : 0);
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [rest, error] = std::from_chars(begin, end, value);
  const bool is_number = error == std::errc{} && rest == end && std::isfinite(value);
  return is_number ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> unix_ns_from_text(std::string_view text) {
  constexpr double kMostSeconds = 9'999'999'999;
  if (const auto seconds = number_from_text(text)) {
    const bool is_time = *seconds >= 0 && *seconds <= kMostSeconds;
    // From the year 2286 on, nanoseconds do not fit, and milliseconds look like them.
    return is_time ? std::optional(std::llround(*seconds * 1e9)) : std::nullopt;
  }
  const auto days = take_days(text);
  if (!days || *days < -36'525 || *days > 106'000) {
    return std::nullopt;
  }
  std::optional<std::int64_t> seconds = 0;
  std::optional<std::int64_t> offset = 0;
  if (take_char(text, "T ")) {
    seconds = take_time(text);
    offset = seconds ? take_offset(text) : std::nullopt;
  }
  if (!seconds || !offset || !text.empty()) {
    return std::nullopt;
  }
  return (*days * 86'400 + *seconds - *offset) * kSecondNs;
}

}  // namespace assay::history
