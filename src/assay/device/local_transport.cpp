#include "assay/device/local_transport.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/device/agent_process.h"

namespace assay {

std::filesystem::path program_folder() {
  const char* folder = std::getenv("ASSAY_BIN_DIR");
  return folder != nullptr && *folder != '\0' ? std::filesystem::path(folder) : executable_folder();
}

LocalTransport::LocalTransport(std::filesystem::path agent)
    : agent_(agent.empty() ? program_folder() / "assay-agent" : std::move(agent)) {}

Result<AgentProcess> LocalTransport::start_agent() {
  if (::access(agent_.c_str(), X_OK) != 0) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("no agent at '{}'; build it (make build), or set ASSAY_BIN_DIR to the "
                            "folder that holds assay-agent",
                            agent_.string()));
  }
  return AgentProcess::start({agent_.string()});
}

}  // namespace assay
