#include "assay/campaign/toolchain_job.h"

#include "assay/artifact/aot_client.h"
#include "assay/artifact/aot_servers.h"
#include "assay/artifact/cache.h"
#include "assay/artifact/toolchain.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"

namespace assay {

Result<AotReply> run_toolchain_job(const Toolchain& toolchain, int parallel_jobs, const Json& job,
                                   const CampaignTools& tools) {
  AotServers own;
  auto& servers = tools.servers == nullptr ? own : *tools.servers;
  ASSAY_ASSIGN_OR_RETURN(
      auto* client, servers.get(toolchain, parallel_jobs, tools.cache.folder() / "server.log"));
  auto reply = client->run_one(job);
  if (!reply) {
    servers.drop(toolchain);
  }
  return reply;
}

}  // namespace assay
