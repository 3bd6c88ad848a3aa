#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/sandbox.h"

namespace assay {

/// Record of what a job read, written by the toolchain next to the job's files and kept with the
/// cache entry; docs/contracts/artifacts.md has its fields.
inline constexpr const char* kDependencyFile = "dependencies.json";

/// Place of a job: what its paths and variables are relative to.
struct DependencyScope {
  std::vector<std::string> folders;  ///< Those of the files that its request names, in its order.
  std::string work_folder;           ///< The current one of the server.
  bool is_boxed = false;             ///< In a sandbox, which passes on few variables.
};

/// Scope of a job that the request describes.
DependencyScope dependency_scope(const Json& request, const SandboxRequest& box);

/// The document for the cache: paths below a folder of the scope become relative to it, so that a
/// project that was moved finds its entries. Errors: kCorrupt.
Result<Json> dependencies_in_scope(Json recorded, const DependencyScope& scope);

/// Digest of names and contents, never of when they were read: two entries of one key with equal
/// dependencies are the same.
std::string digest_of_dependencies(const Json& dependencies);

/// The first dependency that differs from what was recorded, as "'util.py' changed"; absent: an
/// entry with these dependencies is what the job would make now. A file whose size, inode and time
/// of change are as recorded is not read again.
std::optional<std::string> find_change(const Json& dependencies, const DependencyScope& scope);

}  // namespace assay
