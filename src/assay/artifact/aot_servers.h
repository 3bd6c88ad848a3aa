#pragma once

#include <filesystem>
#include <map>

#include "assay/artifact/aot_client.h"
#include "assay/artifact/toolchain.h"
#include "assay/base/result.h"

namespace assay {

/// The fork servers of toolchains, by their interpreter: each is started when it is first needed,
/// and ends with this. Not thread-safe.
class AotServers {
 public:
  /// The toolchain's server, which stays ours; `parallel_jobs` and `log_file` are those of its
  /// start. Errors: those of AotClient::start.
  Result<AotClient*> get(const Toolchain& toolchain, int parallel_jobs,
                         const std::filesystem::path& log_file);

  /// Ends a server that is dead or has jobs under way that nobody waits for.
  void drop(const Toolchain& toolchain);

 private:
  std::map<std::filesystem::path, AotClient> clients_;
};

}  // namespace assay
