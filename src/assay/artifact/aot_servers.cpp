#include "assay/artifact/aot_servers.h"

#include <filesystem>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "assay/artifact/aot_client.h"
#include "assay/artifact/cache.h"
#include "assay/artifact/toolchain.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/sandbox.h"

namespace assay {

std::string server_key(const Toolchain& toolchain, const SandboxRequest& box) {
  return fmt::format("{}\n{}", toolchain.python.string(), Json(box).dump());
}

AotServers::~AotServers() {
  clients_.clear();
  for (const auto& [key, folder] : staging_) {
    std::error_code ignored;
    std::filesystem::remove(folder,
                            ignored);  // Remains of failed jobs stay in it, with their logs.
  }
}

Result<AotClient*> AotServers::get(const Toolchain& toolchain, const SandboxRequest& box,
                                   int parallel_jobs, const std::filesystem::path& log_file) {
  const auto key = server_key(toolchain, box);
  auto found = clients_.find(key);
  if (found == clients_.end()) {
    ASSAY_ASSIGN_OR_RETURN(auto client, AotClient::start(toolchain, box, parallel_jobs, log_file));
    found = clients_.emplace(key, std::move(client)).first;
  }
  return &found->second;
}

void AotServers::drop(const Toolchain& toolchain, const SandboxRequest& box) {
  clients_.erase(server_key(toolchain, box));
}

Status AotServers::open_staging(const Toolchain& toolchain, const ArtifactCache& cache,
                                SandboxRequest& box) {
  auto& folder = staging_[server_key(toolchain, box)];
  if (folder.empty()) {
    ASSAY_ASSIGN_OR_RETURN(folder, cache.make_staging_folder("box"));
  }
  box.writable = {std::filesystem::absolute(folder).string()};
  return {};
}

}  // namespace assay
