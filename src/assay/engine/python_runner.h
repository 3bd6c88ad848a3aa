#pragma once

#include <filesystem>
#include <string>

#include "assay/base/result.h"
#include "assay/record/subject.h"

namespace assay {

struct PythonRunnerRequest {
  std::string name;              ///< "onnxruntime"; of an engine of the user's what it says itself.
  std::string label;             ///< "1.20"
  std::string engine;            ///< "onnxruntime", or "FILE.py:Class".
  std::filesystem::path python;  ///< Whose packages hold the engine, and that runs it.
  std::filesystem::path source;  ///< Assay's source tree.
  std::filesystem::path home;
};

/// Makes a runner that starts the interpreter, in <home>/engines/<name>@<label>, asks it to
/// describe itself and registers it. Errors: kInvalidArgument (it calls itself by another name),
/// kNotFound, kUnavailable with what the runner said.
Result<EngineBuild> add_python_runner(const PythonRunnerRequest& request);

}  // namespace assay
