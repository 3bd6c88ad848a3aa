#include "assay/artifact/aot_servers.h"

#include <filesystem>
#include <utility>

#include "assay/artifact/aot_client.h"
#include "assay/artifact/toolchain.h"
#include "assay/base/result.h"

namespace assay {

Result<AotClient*> AotServers::get(const Toolchain& toolchain, int parallel_jobs,
                                   const std::filesystem::path& log_file) {
  auto found = clients_.find(toolchain.python);
  if (found == clients_.end()) {
    ASSAY_ASSIGN_OR_RETURN(auto client, AotClient::start(toolchain, parallel_jobs, log_file));
    found = clients_.emplace(toolchain.python, std::move(client)).first;
  }
  return &found->second;
}

void AotServers::drop(const Toolchain& toolchain) { clients_.erase(toolchain.python); }

}  // namespace assay
