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
  std::span<const std::vector<Tensor>> quantized;  ///< Layers of the quantized graph; empty: none.
  std::span<const std::vector<Tensor>> floating;   ///< Layers of the float network; empty: none.
};

/// Follows the error through the layers. Without a quantized graph what the engine adds to the
/// float network is the backend's. Notes say which side the error of the outputs comes from, and
/// which layers add most of it. Errors: kInvalidArgument when counts or shapes differ.
Result<Attribution> attribute_error(const LayerOutputs& outputs);

/// Measures the noise that each layer adds to exact inputs: `outputs` are those of the layers'
/// pieces alone, computed from the same inputs by the engine and by both references. Sets
/// LayerNoise::alone by the layers' names, with notes on the worst. Errors: kInvalidArgument when
/// counts or shapes differ.
Status judge_alone(const LayerOutputs& outputs, Attribution& found);

/// Adds a note on the first layer, in the order in which they are computed, where what the engine
/// adds leaves an SQNR below `least_db`; none where all layers keep it.
void note_first_beyond(double least_db, Attribution& found);

}  // namespace assay
