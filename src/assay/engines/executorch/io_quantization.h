#pragma once

#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/engines/executorch/loaded_program.h"
#include "assay/tensor/tensor.h"

namespace assay::et {

/// Adds the parameters of integers that stand for real numbers, where constant methods of the
/// program tell them: "input0_scale" and "input0_zp", "output0_scale" and so on, as ExecuTorch's
/// QuantizeInputs and QuantizeOutputs write them; "METHOD_input0_scale" for methods other than
/// forward. `side` is "input" or "output". Specs of floating values stay as they are.
/// Errors: those of loading and executing such a method.
Status add_quantization(const LoadedProgram& program, std::string_view method,
                        std::string_view side, std::vector<TensorSpec>& specs);

}  // namespace assay::et
