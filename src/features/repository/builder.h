#pragma once

#include "features/repository/build_cache.h"
#include "features/repository/build_entry.h"
#include "features/repository/mirror.h"
#include "features/repository/repository_spec.h"

#include <filesystem>
#include <functional>
#include <string>

#include "assay/base/result.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"

namespace assay {

struct RevisionBuildRequest {
  const RepositorySpec& spec;
  const BuildEnvironment& environment;
  std::filesystem::path home;
  bool is_rebuild = false;  ///< Builds although there is a build, or a failure.
  std::function<bool()> keep_going = {};
  std::filesystem::path lock_folder = {};  ///< For the lock of the device; empty: lock_place().
};

struct BuiltRevision {
  BuildEntry entry;
  bool is_cached = false;  ///< Nothing had to be built.
};

/// The build of a revision: out of the cache, or built now, always in the same folder, so that
/// paths in the outputs are equal. A build that fails or takes too long is an entry, too. Of two
/// processes that want the same, one builds and the other waits. The entry stays as long as
/// `cache`. Errors: those of the mirror and of run_build_steps; kExhausted.
Result<BuiltRevision> build_revision(Mirror& mirror, const BuildCache& cache,
                                     const std::string& revision,
                                     const RevisionBuildRequest& request);

/// The record of it in the store. `parent`: the record of the revision before it, or null; outputs
/// of the same digest make it `same_as`.
RevisionBuild record_of_build(const RepositorySpec& spec, const BuildEnvironment& environment,
                              const std::string& revision, const BuildEntry& entry,
                              const RevisionBuild* parent);

}  // namespace assay
