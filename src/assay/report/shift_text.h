#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "assay/record/comparison.h"
#include "assay/record/stored_comparison.h"

namespace assay::report {

/// B against A as people read it: a share of A, or where that means nothing, a difference in the
/// metric's unit.
struct Shift {
  bool is_share = true;
  double value = 0;           ///< B / A - 1, or B - A.
  std::optional<double> low;  ///< Absent: too little was measured to bound it.
  std::optional<double> high;
  std::string unit;  ///< That of the metric.
};

Shift shift_of(const PairEstimate& estimate);
Shift shift_of(const StoredChange& change, std::string_view unit);

/// The unit of the numbers that have none of their own, for the head of a column: "% time" where
/// all shares are of times, "%" of shares, nothing where there is no share.
std::string unit_of_shifts(std::span<const Shift> shifts);

/// "+2.0" of a share, whose unit is in the head of the column; "+3.00 count" of a difference.
std::string text_of_shift(const Shift& shift);

/// As text_of_shift, with the unit of a share: "+2.0 % time".
std::string full_text_of_shift(const Shift& shift);

/// "[+1.2, +2.9]", in the unit of the value.
std::string text_of_bounds(const Shift& shift);

}  // namespace assay::report
