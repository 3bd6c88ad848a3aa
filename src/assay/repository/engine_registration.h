#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/subject.h"
#include "assay/repository/build_cache.h"
#include "assay/repository/build_entry.h"
#include "assay/repository/repository_spec.h"

namespace assay {

/// Makes the build of a revision an installed engine, "toy@0123456789ab", which every verb finds.
/// For an installation (RunnerKind::kPrefix) a runner is built, which takes a minute or two.
/// Errors: kUnavailable (it cannot describe itself, or failed to build), kInvalidArgument (a runner
/// of another engine).
Result<EngineBuild> register_revision(const RepositorySpec& spec,
                                      const BuildEnvironment& environment,
                                      const std::string& revision, const BuildEntry& entry,
                                      const std::filesystem::path& home);

/// Keeps the builds that these engines come from while the returned object lives.
BuildCache claim_builds_of(std::span<const EngineBuild> engines, const std::filesystem::path& home);

/// Strikes off the engines whose builds are no longer in the cache; returns their references.
/// Errors: those of unregister_build().
Result<std::vector<std::string>> unregister_pruned(const std::filesystem::path& home);

}  // namespace assay
