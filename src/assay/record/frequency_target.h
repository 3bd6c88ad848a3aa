#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

/// The frequency that the cores of a device shall have while it is timed.
struct FrequencyTarget {
  enum class Kind : std::uint8_t { kLeave, kMax, kMin, kMid, kValue };
  Kind kind = Kind::kLeave;
  std::int64_t khz = 0;  ///< For kValue.
};

/// "leave", "max", "min", "mid", or a value such as "1.8GHz", "998.4 MHz", "300000kHz". Errors:
/// kInvalidArgument, naming the forms.
Result<FrequencyTarget> frequency_target_from_text(std::string_view text);

/// "1.8 GHz", "998.4 MHz": all digits down to a kilohertz.
std::string text_from_khz(std::int64_t khz);

}  // namespace assay
