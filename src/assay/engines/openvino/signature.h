#pragma once

#include <openvino/core/model.hpp>
#include <openvino/core/node_output.hpp>
#include <openvino/core/type/element_type.hpp>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay::openvino {

/// Errors: kUnsupported for types that have no counterpart here (strings, packed integers).
Result<Dtype> dtype_from(const ov::element::Type& type);

/// Names, types and shapes of ports. A dynamic dimension is its upper bound, or kUnboundDimension
/// where it has none. `what`: "input" or "output", for names that the program does not give.
/// Errors: kUnsupported.
Result<std::vector<TensorSpec>> specs_of(const std::vector<ov::Output<const ov::Node>>& ports,
                                         std::string_view what);

/// Binds dimensions of inputs: "x:1x3x224x224;mask:1x16", or "1x3x224x224" for the only input.
/// Errors: kInvalidArgument, naming the inputs; kUnsupported where the program cannot take it.
Status reshape_inputs(ov::Model& model, std::string_view shapes);

}  // namespace assay::openvino
