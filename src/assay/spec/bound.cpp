#include "assay/spec/bound.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <expected>
#include <fmt/format.h>
#include <string_view>
#include <system_error>
#include <utility>

#include "assay/base/result.h"
#include "assay/base/units.h"

namespace assay {
namespace {

using Relation = Bound::Relation;

// Longer signs first, so that "<=" is not read as "<".
constexpr std::array<std::pair<std::string_view, Relation>, 5> kSigns = {
    {{"<=", Relation::kAtMost},
     {">=", Relation::kAtLeast},
     {"==", Relation::kEqual},
     {"<", Relation::kLess},
     {">", Relation::kGreater}}};

constexpr std::array<std::pair<std::string_view, double>, 4> kByteUnits = {
    {{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}}};

std::unexpected<Error> refuse(std::string_view text, std::string_view example) {
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format("'{}' is not a bound; write <, <=, >, >= or == and a value, such as \"{}\"", text,
                  example));
}

std::unexpected<Error> refuse_without_unit(std::string_view text, std::string_view example) {
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' lacks the unit of its value; write one behind the number, such as "
                          "\"{}\"",
                          text, example));
}

std::string_view without_spaces_in_front(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

bool has_unit(std::string_view metric_unit) {
  return metric_unit == "ns" || metric_unit == "bytes";
}

/// A bare number other than 0, which is the same in every unit.
bool lacks_unit(std::string_view text) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.begin(), text.end(), value);
  return error == std::errc{} && rest == text.end() && value != 0;
}

Result<double> value_from_text(std::string_view text, std::string_view unit) {
  if (unit == "ns") {
    ASSAY_ASSIGN_OR_RETURN(const auto ns, duration_ns_from_text(text));
    return static_cast<double>(ns);
  }
  double value = 0;
  const auto [rest, error] = std::from_chars(text.begin(), text.end(), value);
  const auto used = static_cast<std::size_t>(rest - text.begin());
  const auto suffix = without_spaces_in_front(text.substr(used));
  const auto* found =
      std::ranges::find(kByteUnits, suffix, &decltype(kByteUnits)::value_type::first);
  const bool is_unit_right = suffix.empty() || (unit == "bytes" && found != kByteUnits.end());
  if (error != std::errc{} || !is_unit_right) {
    return fail(ErrorCode::kInvalidArgument, "not a number");
  }
  value *= suffix.empty() ? 1 : found->second;
  if (!std::isfinite(value)) {  // Every measurement would meet it, or none.
    return fail(ErrorCode::kInvalidArgument, "not a finite number");
  }
  return value;
}

}  // namespace

bool Bound::is_met_by(double measured) const {
  switch (relation) {
    case Relation::kLess:
      return measured < value;
    case Relation::kAtMost:
      return measured <= value;
    case Relation::kGreater:
      return measured > value;
    case Relation::kAtLeast:
      return measured >= value;
    case Relation::kEqual:
      return measured == value;
  }
  return false;
}

Result<Bound> bound_from_text(std::string_view text, std::string_view unit) {
  const std::string_view example = unit == "ns" ? "<=12ms" : unit == "bytes" ? "<=14MB" : ">=0.99";
  const auto trimmed = without_spaces_in_front(text);
  const auto* sign = std::ranges::find_if(
      kSigns, [trimmed](const auto& entry) { return trimmed.starts_with(entry.first); });
  if (sign == kSigns.end()) {
    return refuse(text, example);
  }
  const auto number = without_spaces_in_front(trimmed.substr(sign->first.size()));
  if (has_unit(unit) && lacks_unit(number)) {
    return refuse_without_unit(text, example);
  }
  const auto value = value_from_text(number, unit);
  if (!value) {
    return refuse(text, example);
  }
  return Bound{.relation = sign->second, .value = *value};
}

}  // namespace assay
