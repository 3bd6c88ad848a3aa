#pragma once

#include "features/repository/build_cache.h"
#include "features/repository/build_entry.h"
#include "features/repository/repository_spec.h"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/subject.h"

namespace assay {

/// Makes the build of a revision an installed engine, "toy@0123456789ab", which every verb finds.
/// For an installation (RunnerKind::kPrefix) a runner is built, which takes a minute or two.
/// Errors: kUnavailable (it cannot describe itself, or failed to build), kInvalidArgument (a runner
/// of another engine).
Result<EngineBuild> register_revision(const RepositorySpec& spec,
                                      const BuildEnvironment& environment,
                                      const std::string& revision, const BuildEntry& entry,
                                      const std::filesystem::path& home);

/// True if the outputs of an entry work on other machines of this platform: those of
/// RunnerKind::kCommand and RunnerKind::kProgram.
bool is_portable(const BuildEntry& entry);

/// Makes an entry of the build cache an installed engine under the label, as register_revision().
/// Errors: also kUnsupported for an entry that is not portable.
Result<EngineBuild> register_entry(const std::string& label, const BuildEntry& entry,
                                   const std::filesystem::path& home);

/// The entry of the build cache that an engine comes from, without a look at its files; nullopt: it
/// comes from elsewhere. Errors: those of read_build_document().
Result<std::optional<BuildEntry>> find_entry_of(const EngineBuild& engine,
                                                const std::filesystem::path& home);

/// Keeps the builds that these engines come from while the returned object lives.
BuildCache claim_builds_of(std::span<const EngineBuild> engines, const std::filesystem::path& home);

/// Strikes off the engines whose builds are no longer in the cache; returns their references.
/// Errors: those of unregister_build().
Result<std::vector<std::string>> unregister_pruned(const std::filesystem::path& home);

}  // namespace assay
