#include "assay/record/frequency_target.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "assay/base/result.h"

namespace assay {
namespace {

using Kind = FrequencyTarget::Kind;

constexpr double kKhzPerGhz = 1e6;
constexpr double kKhzPerMhz = 1e3;
constexpr double kMostKhz = 1e8;

/// Kilohertz of "1.8GHz"; 0 for what is none.
std::int64_t khz_from_text(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 3> kUnits = {
      {{"GHz", kKhzPerGhz}, {"MHz", kKhzPerMhz}, {"kHz", 1}}};
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  unit.remove_prefix(unit.starts_with(' ') ? 1 : 0);
  for (const auto& [name, khz] : kUnits) {
    const double value = number * khz;
    if (error == std::errc() && unit == name && value >= 1 && value <= kMostKhz) {
      return std::llround(value);
    }
  }
  return 0;
}

}  // namespace

Result<FrequencyTarget> frequency_target_from_text(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, Kind>, 4> kNames = {
      {{"leave", Kind::kLeave}, {"max", Kind::kMax}, {"min", Kind::kMin}, {"mid", Kind::kMid}}};
  for (const auto& [name, kind] : kNames) {
    if (text == name) {
      return FrequencyTarget{.kind = kind};
    }
  }
  if (const auto khz = khz_from_text(text); khz > 0) {
    return FrequencyTarget{.kind = Kind::kValue, .khz = khz};
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is no frequency; write \"leave\", \"max\", \"min\", \"mid\", or a "
                          "value such as \"1.8GHz\"",
                          text));
}

std::string text_from_khz(std::int64_t khz) {
  const auto value = static_cast<double>(khz);
  return value >= kKhzPerGhz ? fmt::format("{:.10g} GHz", value / kKhzPerGhz)
                             : fmt::format("{:.10g} MHz", value / kKhzPerMhz);
}

}  // namespace assay
