#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/evaluate/output_values.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// Which types an engine may give where they are not those of the reference.
struct TypeRules {
  /// The model's own type of each output, where the reference is wider than the model (float64).
  /// Absent or too short: the reference's type.
  std::vector<std::optional<Dtype>> own;
  /// The recipe computes a float32 model in this type, so outputs may have it, too.
  std::optional<Dtype> cast;
  /// The reference was written by somebody else, so its numbers may be wider or narrower than the
  /// program's: floating for floating, integer for integer.
  bool is_any_width = false;
};

/// "sample 0, output 1: the type is float32, the reference has int64": the first output in the
/// range whose type is not the one that is asked for; absent where all are right. Integers with
/// quantization parameters (`specs`) stand for floating values. The tensors exist and agree in
/// number.
std::optional<std::string> find_type_difference(std::span<const std::vector<Tensor>> results,
                                                std::span<const std::vector<Tensor>> references,
                                                OutputRange range, const TypeRules& rules,
                                                std::span<const TensorSpec> specs);

}  // namespace assay
