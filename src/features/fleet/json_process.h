#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"

namespace assay {

/// A Python program of ours that answers one line of JSON with one line of JSON:
/// {"error": {"code", "message"}} or any other object.
class JsonProcess {
 public:
  /// Starts `python -m MODULE ARGUMENTS`. Errors: those of Subprocess::start.
  static Result<JsonProcess> start(const std::filesystem::path& python, std::string module,
                                   const std::vector<std::string>& arguments);

  /// Errors: the one that the program answers; kCrashed where it ended; kTimeout; kCorrupt.
  Result<Json> ask(const Json& request, std::chrono::milliseconds timeout);

 private:
  JsonProcess(std::string module, Subprocess process)
      : module_(std::move(module)), process_(std::move(process)) {}

  std::string module_;
  Subprocess process_;
};

}  // namespace assay
