#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/executor/method_meta.h>
#include <vector>

#include "assay/base/result.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay::et {

/// Errors: kUnsupported, naming the type.
Result<Dtype> dtype_from(::executorch::aten::ScalarType type);
::executorch::aten::ScalarType scalar_type_from(Dtype dtype);

/// Inputs of a method; for dynamic shapes the upper bound that it was planned for.
/// Errors: kUnsupported for an input that is no tensor.
Result<std::vector<TensorSpec>> inputs_of(const ::executorch::runtime::MethodMeta& meta);

/// Outputs of a method; integers, floats and bools become tensors of rank 0.
/// Errors: kUnsupported for other outputs.
Result<std::vector<TensorSpec>> outputs_of(const ::executorch::runtime::MethodMeta& meta);

/// Names of the backends that the method delegates to, each once.
std::vector<std::string> backends_of(const ::executorch::runtime::MethodMeta& meta);

}  // namespace assay::et
