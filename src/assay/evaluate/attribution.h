#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/attribution.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// Outputs of a program that gives out its layers: for each sample its own outputs, then the
/// layers'.
struct LayerOutputs {
  std::span<const LayerOrigin> layers;
  std::span<const std::vector<Tensor>> results;    ///< The engine's.
  std::span<const std::vector<Tensor>> quantized;  ///< Of the quantized graph; empty: no such.
  std::span<const std::vector<Tensor>> floating;   ///< Of the float network; empty: no such.
};

/// Follows the error through the layers. Without a quantized graph what the engine adds to the
/// float network is the backend's. Notes say which side the error of the outputs comes from, and
/// which layers add most of it. Errors: kInvalidArgument when counts or shapes differ.
Result<Attribution> attribute_error(const LayerOutputs& outputs);

}  // namespace assay
