#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

/// Names of the files in which an ONNX model keeps tensors of its own (external data), as the
/// model writes them, each once, in the order in which the model first refers to them. Looks at
/// initializers, sparse ones, attributes, nested graphs, functions and training information.
///
/// Reads the protobuf wire format and skips what it does not need: O(fields) reads, little memory
/// whatever the size of the model. A file that is damaged, or none of ONNX, yields what was found
/// before the damage; its engine says what is wrong with it.
/// Source: onnx/onnx.proto, TensorProto.external_data and the messages that hold tensors.
std::vector<std::string> read_external_files(const std::filesystem::path& model);

}  // namespace assay
