#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/evaluate/tolerance.h"
#include "assay/record/summary.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// What is compared. Both sides hold, for each sample, the outputs in order.
struct Evaluation {
  std::string against;  ///< Kind of the reference: "float32", "qdq", …
  std::span<const std::vector<Tensor>> results;
  std::span<const std::vector<Tensor>> references;
  std::vector<TensorSpec> outputs;  ///< Names and quantization, as the program tells; may be empty.
  std::int64_t differing_elements = 0;  ///< Between two executions on the same inputs.
  std::vector<std::int64_t> labels;  ///< Right class of each row, over the samples; may be empty.
};

/// Compares outputs with a reference, output by output over all samples at once, and tries the
/// tolerance on answers that are wrong for certain (controls.h).
///
/// pass: every bound holds, the controls that must fail do. fail_numeric: a bound is broken, or a
/// number or shape of outputs differs. fail_nondeterministic: repeats differ and the tolerance does
/// not allow it. vacuous: the bounds hold, and would hold for all zeros or for another sample's
/// output too. not_checked: there is no sample or no output. `reason` is always a sentence.
/// Errors: kInvalidArgument when a quantization does not fit its output.
Result<AccuracyTable> evaluate_outputs(const Evaluation& evaluation,
                                       const ToleranceSet& tolerances);

}  // namespace assay
