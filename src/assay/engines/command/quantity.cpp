#include "assay/engines/command/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/record/metric.h"

namespace assay::command {
namespace {

constexpr std::size_t kMostShownNumber = 200;

constexpr auto kUnits = std::to_array<Unit>({
    {"s", "ns", 1e9},
    {"ms", "ns", 1e6},
    {"us", "ns", 1e3},
    {"ns", "ns", 1},
    {"B", "bytes", 1},
    {"kB", "bytes", 1e3},
    {"MB", "bytes", 1e6},
    {"GB", "bytes", 1e9},
    {"KiB", "bytes", 1024},
    {"MiB", "bytes", 1024.0 * 1024},
    {"GiB", "bytes", 1024.0 * 1024 * 1024},
    {"1/s", "1/s", 1, Better::kHigher},
    {"count", "count", 1, Better::kNone},
    {"ratio", "ratio", 1, Better::kNone},
    {"%", "ratio", 0.01, Better::kNone},
    {"J", "J", 1},
    {"mJ", "J", 1e-3},
    {"W", "W", 1},
    {"mW", "W", 1e-3},
});

std::vector<std::string> unit_names() {
  std::vector<std::string> names;
  std::ranges::transform(kUnits, std::back_inserter(names),
                         [](const Unit& unit) { return std::string(unit.name); });
  return names;
}

}  // namespace

const Unit* find_unit(std::string_view name) {
  const auto* found = std::ranges::find(kUnits, name, &Unit::name);
  return found == kUnits.end() ? nullptr : found;
}

Result<Unit> unit_from_text(std::string_view key, std::string_view name) {
  if (const auto* unit = find_unit(name)) {
    return *unit;
  }
  return fail(ErrorCode::kCorrupt, fmt::format("\"{}\": unknown unit '{}'{}", key, name,
                                               suggestion_for(name, unit_names())));
}

Result<Unit> time_unit_from_text(std::string_view key, std::string_view name) {
  const auto* unit = find_unit(name);
  if (unit == nullptr || unit->kept != "ns") {
    return fail(ErrorCode::kCorrupt, fmt::format("\"{}\" is s, ms, us or ns, not '{}'", key, name));
  }
  return *unit;
}

Result<double> number_from_printed(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(std::to_address(text.begin()), end, number);
  if (error == std::errc() && rest == end && std::isfinite(number)) {
    return number;
  }
  return fail(ErrorCode::kEngine, fmt::format("'{}' is no decimal number with a point",
                                              text.substr(0, kMostShownNumber)));
}

Result<double> time_ns_from_printed(std::string_view text, const Unit& unit) {
  constexpr double kMostNs = 24.0 * 3600 * 1e9;
  const auto number = number_from_printed(text);
  const double ns = number.value_or(-1) * unit.factor;
  if (ns >= 0 && ns <= kMostNs && !std::signbit(ns)) {
    return ns;
  }
  return fail(ErrorCode::kEngine,
              fmt::format("'{}' is no time: a decimal number with a point, from 0 to a day",
                          text.substr(0, kMostShownNumber)));
}

}  // namespace assay::command
