#include "assay/campaign/toolchain_job.h"

#include <fmt/ranges.h>
#include <mutex>
#include <optional>

#include "assay/artifact/aot_client.h"
#include "assay/artifact/aot_servers.h"
#include "assay/artifact/cache.h"
#include "assay/artifact/job_box.h"
#include "assay/artifact/toolchain.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/record/sandbox.h"
#include "assay/supervise/sandbox.h"

namespace assay {

Result<AotReply> run_toolchain_job(const Toolchain& toolchain, int parallel_jobs, const Json& job,
                                   std::optional<SandboxMode> sandbox, const CampaignTools& tools) {
  AotServers own;
  auto& servers = tools.servers == nullptr ? own : *tools.servers;
  auto box = box_of_job(job, toolchain, sandbox);
  if (box.mode != SandboxMode::kOff && box.writable.empty()) {
    ASSAY_RETURN_IF_ERROR(servers.open_staging(toolchain, tools.cache, box));  // As builds have.
  }
  ASSAY_ASSIGN_OR_RETURN(auto* client, servers.get(toolchain, box, parallel_jobs,
                                                   tools.cache.folder() / "server.log"));
  auto reply = client->run_one(job);
  if (!reply) {
    servers.drop(toolchain, box);
  }
  return reply;
}

void tell_gaps_of_toolchain_box() {
  static std::once_flag is_told;
  std::call_once(is_told, [] {
    const auto report = promise_sandbox(SandboxMode::kOn);
    if (report && !report->missing.empty()) {
      log_line(LogLevel::kWarning, fmt::format("the sandbox of the toolchain does not enforce: {}",
                                               fmt::join(report->missing, ", ")));
    }
  });
}

}  // namespace assay
