#include "assay/device/text_fields.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "assay/base/fs.h"

namespace assay {
namespace {

template <class T>
std::optional<T> leading_number(std::string_view text) {
  text = trimmed(text);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  // Device trees end their strings with a zero byte.
  constexpr std::string_view kBlank{" \t\r\n\0", 5};
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::optional<std::string> read_system_text(const std::filesystem::path& path) {
  const auto text = read_file(path);
  return text ? std::optional(std::string(trimmed(*text))) : std::nullopt;
}

std::optional<std::string_view> find_field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    const auto colon = line.find(':');
    if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key) {
      return trimmed(line.substr(colon + 1));
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return std::nullopt;
}

std::optional<std::int64_t> leading_integer(std::string_view text) {
  return leading_number<std::int64_t>(text);
}

std::optional<double> leading_double(std::string_view text) { return leading_number<double>(text); }

std::optional<std::int64_t> find_integer_field(std::string_view text, std::string_view key) {
  const auto value = find_field(text, key);
  return value ? leading_integer(*value) : std::nullopt;
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace assay
