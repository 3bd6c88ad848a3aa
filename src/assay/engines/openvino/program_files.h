#pragma once

#include <filesystem>

#include "assay/base/result.h"
#include "assay/engine/engine.h"

namespace assay::openvino {

/// The files that a program is read from.
struct ProgramFiles {
  std::filesystem::path entry;    ///< .xml, .onnx or .tflite
  std::filesystem::path weights;  ///< .bin of an .xml; empty: none.
};

/// Looks at what can be told before OpenVINO reads it; its own words on damaged files are poor.
/// The weights of an .xml are the .bin among the request's data, else the one next to it. Errors:
/// kInvalidArgument for another kind of file, kNotFound, kCorrupt, kUnavailable.
Result<ProgramFiles> find_program_files(const LoadRequest& request);

}  // namespace assay::openvino
