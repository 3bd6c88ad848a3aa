#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

/// One side of a gate: ">=0.99", "<=12ms", "<14MB".
struct Bound {
  enum class Relation : std::uint8_t { kLess, kAtMost, kGreater, kAtLeast, kEqual };
  Relation relation = Relation::kAtMost;
  double value = 0;  ///< Value in the metric's unit.

  /// NaN meets no bound.
  [[nodiscard]] bool is_met_by(double measured) const;
};

/// Reads <, <=, >, >= or == and a number. With `unit` "ns" a duration unit is required, with
/// "bytes" one of B, kB, MB and GB unless the number is 0, with any other unit only a number is
/// right. Errors: kInvalidArgument, with an example.
Result<Bound> bound_from_text(std::string_view text, std::string_view unit);

}  // namespace assay
