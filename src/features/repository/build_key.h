#pragma once

#include "features/repository/repository_spec.h"

#include <string>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

/// Versions of what builds use: compilers, linker, cmake, ninja, make, libc, and the programs that
/// the commands of the environment name. By name; what is not installed is absent.
Json tool_versions(const BuildEnvironment& environment);

/// Digest of all that the bytes of a build depend on, and nothing else: not the commit, so that a
/// revert and a change of documents find the build that is there. Of the processor only where the
/// commands ask for the one of this machine (-march=native).
std::string build_key(const Repository& repository, const std::string& content_digest,
                      const BuildEnvironment& environment, const Json& tools);

/// A program as execvp finds it. Errors: kUnavailable when it is not there.
Result<std::string> find_program(const std::string& name);

}  // namespace assay
