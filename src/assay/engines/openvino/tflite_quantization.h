#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay::openvino {

/// An input or an output of a .tflite as the file declares it.
struct TfliteTensor {
  std::string name;
  std::optional<Quantization> quantization;  ///< For integers that stand for real values.
};

struct TfliteSignature {
  std::vector<TfliteTensor> inputs;
  std::vector<TfliteTensor> outputs;
};

/// The first subgraph's signature in a file's bytes. Never reads outside of them; absent where they
/// are no whole file.
/// Source: tensorflow/compiler/mlir/lite/schema/schema.fbs, a FlatBuffer.
std::optional<TfliteSignature> find_tflite_signature(std::span<const std::byte> bytes);

/// Adds scales and zero points to a report's inputs and outputs, by name or else by place: OpenVINO
/// drops them when it reads the file. To be called after the load is timed, because it reads pages
/// of the file.
void add_tflite_quantization(const std::filesystem::path& file, LoadReport& report);

}  // namespace assay::openvino
