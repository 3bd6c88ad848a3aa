#pragma once

#include <string>

#include "assay/base/result.h"

namespace assay {

/// The beginning of a repository file for a user to go on with.
struct RepositorySkeleton {
  std::string engine;     ///< Name of the engine: that of the repository.
  std::string text;       ///< JSON with comments, which read_repository_file accepts.
  std::string how_built;  ///< A sentence that says how the build was found.
};

/// Makes the skeleton for a folder or an address. A folder with CMakeLists.txt or Makefile gets the
/// build of its first program, another one a build to replace. Runs nothing and uses no network.
/// Errors: kNotFound (no such folder), kInvalidArgument (a folder that is no checkout, a name that
/// no engine can have).
Result<RepositorySkeleton> make_repository_skeleton(const std::string& repository);

}  // namespace assay
