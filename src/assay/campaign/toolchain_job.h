#pragma once

#include "assay/artifact/aot_client.h"
#include "assay/artifact/toolchain.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"

namespace assay {

/// One job of the toolchain's fork server, waited for: that of tools.servers, or one of its own. A
/// kept server that fails is ended. `parallel_jobs`: of a server that has to be started.
/// Errors: those of AotClient::start and AotClient::run_one.
Result<AotReply> run_toolchain_job(const Toolchain& toolchain, int parallel_jobs, const Json& job,
                                   const CampaignTools& tools);

}  // namespace assay
