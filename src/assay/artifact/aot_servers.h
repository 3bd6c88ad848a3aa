#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "assay/artifact/aot_client.h"
#include "assay/artifact/cache.h"
#include "assay/artifact/toolchain.h"
#include "assay/base/result.h"
#include "assay/record/sandbox.h"

namespace assay {

/// Names the server of a toolchain for jobs in a box: one server has one box.
std::string server_key(const Toolchain& toolchain, const SandboxRequest& box);

/// The fork servers of toolchains, by interpreter and box: each is started when it is first needed,
/// and ends with this. Not thread-safe.
class AotServers {
 public:
  AotServers() = default;
  AotServers(const AotServers&) = delete;
  AotServers& operator=(const AotServers&) = delete;
  ~AotServers();

  /// The server, which stays ours; `parallel_jobs` and `log_file` are those of its start. Errors:
  /// those of AotClient::start.
  Result<AotClient*> get(const Toolchain& toolchain, const SandboxRequest& box, int parallel_jobs,
                         const std::filesystem::path& log_file);

  /// Ends a server that is dead, has abandoned jobs under way, or is not needed again.
  void drop(const Toolchain& toolchain, const SandboxRequest& box);

  /// Opens a staging folder of the cache for writing in `box`: one for all jobs of its server, so
  /// that what runs in one box cannot write to what another one makes.
  /// Errors: those of ArtifactCache::make_staging_folder.
  Status open_staging(const Toolchain& toolchain, const ArtifactCache& cache, SandboxRequest& box);

 private:
  std::map<std::string, AotClient> clients_;
  std::map<std::string, std::filesystem::path> staging_;
};

}  // namespace assay
