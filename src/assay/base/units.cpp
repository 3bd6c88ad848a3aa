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

constexpr auto kDurations = std::to_array<Unit>({{"ns", 1},
                                                 {"us", 1e3},
                                                 {"µs", 1e3},
                                                 {"ms", 1e6},
                                                 {"s", 1e9},
                                                 {"min", 60e9},
                                                 {"h", 3600e9},
                                                 {"d", 86400e9}});
constexpr std::array<Unit, 4> kShownDurations = {{{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
constexpr auto kSizes = std::to_array<Unit>({{"b", 1},
                                             {"kb", 1e3},
                                             {"mb", 1e6},
                                             {"gb", 1e9},
                                             {"tb", 1e12},
                                             {"kib", 0x1p10},
                                             {"mib", 0x1p20},
                                             {"gib", 0x1p30},
                                             {"tib", 0x1p40}});
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

/// One kind of quantity with its units.
struct QuantityKind {
  std::span<const Unit> units;
  double least;
  double most;
  std::string_view is_not;  ///< Message for a malformed text: "'x' …".
  std::string_view range;   ///< "'x' …": for a number that is too small or too large.
};

constexpr QuantityKind kDurationKind{
    .units = kDurations,
    .least = 0,
    .most = 8760 * 3600e9,
    .is_not =
        "is not a duration; write a number and a unit (ns, us, ms, s, min, h, d), such as 20s",
    .range = "is out of range; a duration is from 0s to 8760h (a year)"};
constexpr QuantityKind kSizeKind{
    .units = kSizes,
    .least = 1,
    .most = 1e15,
    .is_not =
        "is not a size; write a number and a unit (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), "
        "such as 500MB",
    .range = "is out of range; a size is from 1B to 1000TB"};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return lower;
}

Result<std::int64_t> quantity_from_text(std::string_view text, const QuantityKind& kind) {
  double value = 0;
  const auto* end = text.data() + text.size();
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): `end` bounds it.
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  const auto found = std::ranges::find(kind.units, lower_case(unit), &Unit::name);
  if (error == std::errc::invalid_argument || found == kind.units.end()) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("'{}' {}", text, kind.is_not));
  }
  const double scaled = std::round(value * found->factor);
  // Written so that NaN is out of range; infinity and what no double holds are, too.
  if (error != std::errc{} || !(scaled >= kind.least && scaled <= kind.most)) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("'{}' {}", text, kind.range));
  }
  return static_cast<std::int64_t>(scaled);
}

}  // namespace

Result<std::int64_t> duration_ns_from_text(std::string_view text) {
  return quantity_from_text(text, kDurationKind);
}

Result<std::int64_t> bytes_from_text(std::string_view text) {
  return quantity_from_text(text, kSizeKind);
}

std::string text_from_duration_ns(double ns) { return text_from_quantity(ns, kShownDurations); }

std::string text_from_bytes(double bytes) { return text_from_quantity(bytes, kBytes); }

}  // namespace assay
