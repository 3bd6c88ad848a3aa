#pragma once

#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/record/unit.h"

namespace assay::command {

/// Null for a unit in which no program prints.
const Unit* find_program_unit(std::string_view name);

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
