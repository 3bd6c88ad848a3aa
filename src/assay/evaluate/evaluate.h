#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/evaluate/output_types.h"
#include "assay/evaluate/output_values.h"
#include "assay/evaluate/tolerance.h"
#include "assay/record/summary.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// Result and reference to compare. Both sides hold, for each sample, the outputs in order.
struct Evaluation {
  std::string against;  ///< Kind of the reference: "float32", "qdq", …
  std::span<const std::vector<Tensor>> results;
  std::span<const std::vector<Tensor>> references;
  /// Permitted deviation from each element of the reference; empty: the tolerances decide.
  std::span<const std::vector<Tensor>> bounds;
  TypeRules types;  ///< Types of outputs that are right although the reference has another.
  std::vector<Sensitivity> sensitivity;  ///< By output, as the reference tells; may be short.
  std::optional<OutputRange> range;      ///< Outputs of a part of the program; absent: all outputs.
  std::vector<std::size_t> constant_outputs;  ///< Equal for every input by design.
  std::vector<std::size_t> copied_outputs;    ///< Unchanged inputs by design.
  /// Inputs of each sample; empty: not known. Used with bounds only.
  std::span<const std::vector<Tensor>> inputs;
  std::optional<OutputRange> input_range;  ///< Inputs of a part of the program; absent: all.
  std::vector<TensorSpec> outputs;  ///< Names and quantization, as the program tells; may be empty.
  std::int64_t differing_elements = 0;        ///< Between executions on equal inputs.
  std::vector<std::string> random_operators;  ///< Operators of the program that draw at random.
  std::vector<std::int64_t> labels;  ///< Right class of each row, over the samples; may be empty.
};

/// Compares outputs with a reference, output by output over all samples at once, and tries the
/// tolerance on answers that are wrong for certain (controls.h).
///
/// pass: every bound holds, and for every output the controls that must fail do. fail_numeric: a
/// bound is broken, or the number, a shape or a type of the outputs differs. fail_nondeterministic:
/// repeats differ and the tolerance does not allow it. vacuous: the bounds hold, and for one output
/// at least would hold for all zeros or for another sample's output, too. not_checked: there is no
/// sample or no output, or the error bounds do not fit. `reason` is always a sentence.
///
/// Indices that differ from the reference's in the order of ties alone are right (ties.h).
///
/// Outputs with error bounds are checked against these (error_bound_ratio, at most 1 unless the
/// tolerance bounds it otherwise) and against nothing else. Outputs without a single element pass:
/// their number and shape is all that there is. The outputs of a range are named by their place in
/// it. Labels belong to the first output that has a row of class scores for each and a class for
/// each; `reason` says if none has. A quantization that does not fit its output is not_checked.
Result<AccuracyTable> evaluate_outputs(const Evaluation& evaluation,
                                       const ToleranceSet& tolerances);

/// Whether repeated executions gave different outputs, allowed or not.
bool differs_between_executions(const AccuracyTable& table);

}  // namespace assay
