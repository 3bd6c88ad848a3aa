#pragma once

#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/record/metric.h"

namespace assay::command {

/// A unit in which programs print: its name, and what Assay keeps of it.
struct Unit {
  std::string_view name;           ///< "ms"
  std::string_view kept;           ///< "ns": one of program_metric_units().
  double factor = 1;               ///< As many of `kept` make one of it: 1e6.
  Better better = Better::kLower;  ///< The better direction, unless a program says.
};

/// Null for a unit that is not known.
const Unit* find_unit(std::string_view name);

/// A unit that a document names under `key`. Errors: kCorrupt with did-you-mean.
Result<Unit> unit_from_text(std::string_view key, std::string_view name);
/// Accepts units of time alone.
Result<Unit> time_unit_from_text(std::string_view key, std::string_view name);

/// A whole decimal number with a point, "12.5" or "1e3"; nothing else is one: neither "1,5" nor
/// "nan" nor "0x10". Errors: kEngine.
Result<double> number_from_printed(std::string_view text);

/// A number that is a time from 0 to a day, in ns. Errors: kEngine.
Result<double> time_ns_from_printed(std::string_view text, const Unit& unit);

}  // namespace assay::command
