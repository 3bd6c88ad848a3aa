#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay {

/// One target of Assay's sources, without tests and without Python's extension.
struct CmakeBuild {
  std::filesystem::path cmake;           ///< 3.28 or newer.
  std::filesystem::path source;          ///< Assay's source tree.
  std::filesystem::path folder;          ///< Gets build.log, and what is built in "build".
  std::vector<std::string> definitions;  ///< "-DNAME=VALUE"
  std::string target;
};

/// Configures and builds. Errors: kUnavailable, naming the log; those of run_command().
Status build_with_cmake(const CmakeBuild& build);

}  // namespace assay
