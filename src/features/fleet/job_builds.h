#pragma once

#include "features/fleet/artifact_store.h"
#include "features/repository/build_cache.h"
#include "features/repository/build_entry.h"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/subject.h"

namespace assay {

/// An engine build from a commit, which a job brings along.
struct JobBuild {
  std::string label;  ///< "0123456789ab"
  BuildEntry entry;
  std::vector<std::string> executables;  ///< Names of files of the entry.

  [[nodiscard]] std::string reference() const { return entry.engine + "@" + label; }
};

Json json_from_job_build(const JobBuild& build);
/// Throws Json::exception and std::invalid_argument for a field of a wrong type.
JobBuild job_build_from_json(const Json& document);

/// The build as a job takes it along; nullopt: it comes from no commit, and the device must have
/// it. `home`: the driver's. Errors: those of find_entry_of().
Result<std::optional<JobBuild>> find_job_build(const EngineBuild& build,
                                               const std::filesystem::path& home);

/// Puts the files of the build into the store. `known`: as put_files(). Errors: those of
/// ArtifactStore::put().
Status put_build(const JobBuild& build, ArtifactStore& store, std::set<std::string>& known);

/// Builds of jobs in the build cache of a host, where they stay as long as this object lives.
class BroughtBuilds {
 public:
  /// `home`: the host's.
  explicit BroughtBuilds(std::filesystem::path home);

  /// Brings the build here, unless the same bytes are here, and makes it an installed engine.
  /// Errors: those of ArtifactStore::get(), BuildCache and register_entry().
  Result<EngineBuild> bring(const JobBuild& build, ArtifactStore& store);

 private:
  Status fetch(const JobBuild& build, ArtifactStore& store);

  std::filesystem::path home_;
  BuildCache cache_;
};

}  // namespace assay
