#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/evaluate/output_values.h"

namespace assay {

/// A wrong answer made on purpose, put in the place of the result: a check that lets it pass proves
/// nothing.
struct Control {
  std::string name;  ///< "all_zeros", "other_sample", "rolled", "one_element", "unchanged"
  bool is_mandatory = false;
  bool is_excused = false;  ///< Its absence is no fault of the check.
  /// Values that replace the result; absent when the control is no wrong answer for this output.
  std::optional<std::vector<double>> candidate;
  std::string why_absent;
};

/// The controls of one output, always all in this order, the last where inputs are known. All are
/// absent and excused where the output has no elements: its shape is all that there is.
/// - all_zeros (mandatory): absent when the reference is all zeros itself, and excused then where
///   the output is constant by its nature;
/// - other_sample (mandatory): the reference of the next sample with the same shape; absent with
///   one sample, or when the reference is the same for all of them. Excused with one sample, and
///   where the output is constant by its nature;
/// - rolled: every sample's elements moved on by one along the last axis;
/// - one_element (mandatory where there are error bounds): the largest element of the first sample
///   that has a finite one with a finite bound, off by the reference's rms; with bounds by 1 where
///   that is zero. Excused where all is NaN and infinite;
/// - unchanged (mandatory): the input of the output's shape that is nearest to the reference, as a
///   backend answers that takes the operator for a copy. Absent and excused where no input has the
///   shape, and where the output is a copy by its nature.
std::vector<Control> make_controls(const OutputValues& values);

}  // namespace assay
