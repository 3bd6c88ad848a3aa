#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

/// "20s", "1.5ms", "250us", "10ns", "2min", "1h" as nanoseconds; a unit is required ("0" is not).
/// Errors: kInvalidArgument, naming the units, or the range for more than a year.
Result<std::int64_t> duration_ns_from_text(std::string_view text);

/// "500MB", "2GiB", "4096B" as bytes, at least 1; a unit is required, in any case of its letters.
/// Errors: kInvalidArgument, naming the units, or the range.
Result<std::int64_t> bytes_from_text(std::string_view text);

/// "12.3 ms": three significant digits and the unit that fits.
std::string text_from_duration_ns(double ns);

/// "14.1 MB": decimal units, three significant digits.
std::string text_from_bytes(double bytes);

}  // namespace assay
