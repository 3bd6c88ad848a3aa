#include "assay/engines/command/quantity.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/record/metric.h"
#include "assay/record/unit.h"

namespace assay::command {
namespace {

constexpr std::size_t kMostShownNumber = 200;

/// True if the numbers of programs are kept in the unit that stands for it.
bool is_program_unit(const Unit& unit) {
  return std::ranges::find(program_metric_units(), unit.kept) != program_metric_units().end();
}

std::vector<std::string> unit_names() {
  std::vector<std::string> names;
  for (const auto& unit : units() | std::views::filter(is_program_unit)) {
    names.emplace_back(unit.name);
  }
  return names;
}

}  // namespace

const Unit* find_program_unit(std::string_view name) {
  const auto* unit = find_unit(name);
  return unit != nullptr && is_program_unit(*unit) ? unit : nullptr;
}

Result<Unit> unit_from_text(std::string_view key, std::string_view name) {
  if (const auto* unit = find_program_unit(name)) {
    return *unit;
  }
  return fail(ErrorCode::kCorrupt, fmt::format("\"{}\": unknown unit '{}'{}", key, name,
                                               suggestion_for(name, unit_names())));
}

Result<Unit> time_unit_from_text(std::string_view key, std::string_view name) {
  const auto* unit = find_program_unit(name);
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
