#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/subject.h"

namespace assay {

struct RunnerBuildRequest {
  std::string name;              ///< "executorch"
  std::string label;             ///< "mine"
  std::filesystem::path prefix;  ///< An installation with the engine's CMake package.
  std::filesystem::path python;  ///< Or an interpreter whose site-packages hold it.
  std::filesystem::path cmake;   ///< 3.28 or newer.
  std::filesystem::path source;  ///< Assay's source tree.
  std::filesystem::path home;
  std::vector<std::string> definitions = {};  ///< Further ones, "-DNAME=VALUE".
};

/// Compiles the shipped runner source against another installation of an engine, into
/// <home>/engines/<name>@<label>, asks the runner to describe itself and registers it. Takes a
/// minute or two; the compiler's words go to build.log there. Errors: kNotFound (no CMake package
/// in the prefix, telling where it looked), kUnsupported (no such runner), kUnavailable (it does
/// not build or start).
Result<EngineBuild> build_runner(const RunnerBuildRequest& request);

/// Assay's source tree: $ASSAY_SOURCE_DIR, else share/assay/source next to the installation's bin,
/// else the one this build came from. Errors: kUnavailable.
Result<std::filesystem::path> find_source_folder();

}  // namespace assay
