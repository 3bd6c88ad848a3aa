#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay {

/// Targets of a CMake project.
struct CmakeBuild {
  std::filesystem::path cmake;           ///< 3.28 or newer.
  std::filesystem::path source;          ///< Folder of the project.
  std::filesystem::path folder;          ///< Gets build.log, and what is built in "build".
  std::vector<std::string> definitions;  ///< "-DNAME=VALUE"
  std::vector<std::string> targets;
  std::string failure;  ///< Begins the error of a step that fails, before the name of the log.
};

inline constexpr std::string_view kRunnerFailure =
    "the runner does not build against this installation";

/// Definitions with which Assay's own tree makes neither tests nor Python's extension.
std::vector<std::string> definitions_for_runners();

/// Configures and builds. Errors: kUnavailable, naming the log; those of run_command().
Status build_with_cmake(const CmakeBuild& build);

}  // namespace assay
