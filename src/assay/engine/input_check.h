#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "assay/base/result.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// "input 0 ('x') is float32 1x4, the program takes float32 1x3".
std::string input_mismatch_text(std::size_t index, const TensorSpec& spec, const TensorView& input);

/// Errors: kInvalidArgument with both counts.
Status check_input_count(std::size_t given, std::size_t taken);

/// That there is an input for each spec, of its type and shape; an unbound dimension takes any
/// size. Errors: kInvalidArgument, naming both sides.
Status check_inputs(std::span<const TensorView> inputs, std::span<const TensorSpec> specs);

}  // namespace assay
