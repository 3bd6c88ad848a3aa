#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/evaluate/output_values.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// How far a result lies from its reference, in units of what each element may be off.
struct BoundRatio {
  double ratio = 0;       ///< Largest |candidate - reference| / bound; at most 1 where all is well.
  std::size_t worst = 0;  ///< The element that it comes from.
};

/// Holds each element against a bound of its own. A bound of 0 asks for the very number (0 / 0 is
/// 0, x / 0 is infinite); an infinite bound takes anything, and the element is not looked at. NaN
/// must answer NaN and an infinity the same infinity: everything else there, and a NaN or an
/// infinity in the place of a number, is an infinite ratio.
/// `exact`: candidate - reference of each element where doubles do not hold the elements; empty:
/// their difference. All that is given has the same size (checked). Pure; O(n).
BoundRatio bound_ratio_between(std::span<const double> candidate, std::span<const double> reference,
                               std::span<const double> bounds, std::span<const double> exact = {});

/// Puts the bounds of output `index` into `values`. `bounds`: for each sample its outputs, of the
/// reference's shapes. Errors: kInvalidArgument when they do not fit the reference, or one of them
/// is negative or NaN.
Status gather_bounds(std::span<const std::vector<Tensor>> bounds, std::size_t index,
                     OutputValues& values);

/// Widens the bounds of a float32 output to those of float16 or bfloat16, in which it was computed:
/// by the ratio of their precisions, up to a 64th of the output's root mean square, and by one unit
/// in the last place of the reference, for inputs and result are rounded as well. Other outputs and
/// infinite bounds stay. O(n).
void widen_bounds(Dtype computed_in, OutputValues& values);

/// "sample 0, element [1, 3]: 2.5, expected 2 ± 0.25": the element of the result that is furthest
/// off. The bounds are there.
std::string describe_worst_element(const OutputValues& values);

}  // namespace assay
