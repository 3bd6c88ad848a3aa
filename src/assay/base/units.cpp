#include "assay/base/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "assay/base/result.h"

namespace assay {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array<Unit, 7> kDurations = {
    {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}}};
constexpr std::array<Unit, 4> kShownDurations = {{{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
constexpr std::array<Unit, 4> kBytes = {{{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}}};

std::string text_from_quantity(double value, std::span<const Unit> units) {
  if (!std::isfinite(value)) {
    return fmt::format("{}", value);
  }
  const Unit* unit = units.data();
  for (const auto& candidate : units) {
    if (std::abs(value) >= candidate.factor) {
      unit = &candidate;
    }
  }
  const double scaled = value / unit->factor;
  const int decimals = std::abs(scaled) >= 100 || scaled == std::floor(scaled) ? 0
                       : std::abs(scaled) >= 10                                ? 1
                                                                               : 2;
  return fmt::format("{:.{}f} {}", scaled, decimals, unit->name);
}

}  // namespace

Result<std::int64_t> duration_ns_from_text(std::string_view text) {
  double value = 0;
  const auto* end = text.data() + text.size();
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): `end` bounds it.
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  const auto* found = std::ranges::find(kDurations, unit, &Unit::name);
  if (error != std::errc{} || found == kDurations.end() || value < 0) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not a duration; write a number and a unit (ns, us, ms, s, "
                            "min, h), such as 20s",
                            text));
  }
  return static_cast<std::int64_t>(std::llround(value * found->factor));
}

std::string text_from_duration_ns(double ns) { return text_from_quantity(ns, kShownDurations); }

std::string text_from_bytes(double bytes) { return text_from_quantity(bytes, kBytes); }

}  // namespace assay
