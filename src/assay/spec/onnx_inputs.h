#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// A size of an input: fixed, or open and decided by what is given.
struct OnnxDimension {
  std::optional<std::int64_t> size;
  std::string name;  ///< Name of an open dimension, often "batch"; may be empty.
};

/// Input of an ONNX model.
struct OnnxInput {
  std::string name;
  std::string dtype;  ///< "float32"; empty for a type that has no name here.
  std::optional<std::vector<OnnxDimension>> shape;  ///< Absent: of any rank.
};

/// The inputs that a caller gives, without initializers, in the model's order. Reads their
/// descriptions only, not the weights. Nothing where the file is no whole model, or an input is no
/// tensor: its reader says why.
std::optional<std::vector<OnnxInput>> read_onnx_inputs(const std::filesystem::path& model);

}  // namespace assay
