#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "assay/base/result.h"

namespace assay::command {

/// A build of an engine, as the folder of it lies in the build cache: the outputs and build.json
/// (assay/engine-build/1).
struct BuildFolder {
  std::filesystem::path folder;                          ///< Absolute.
  std::map<std::string, std::filesystem::path> outputs;  ///< Paths below `folder`, keyed by name.
};

/// Errors: kNotFound; kUnavailable for a build that failed, with its log; kCorrupt for another
/// schema, and for an output that is not below the folder.
Result<BuildFolder> read_build_folder(const std::filesystem::path& folder);

}  // namespace assay::command
