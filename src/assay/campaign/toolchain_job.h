#pragma once

#include <optional>

#include "assay/artifact/aot_client.h"
#include "assay/artifact/toolchain.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/record/sandbox.h"

namespace assay {

/// Runs one job on a fork server of the toolchain and waits for it. The server is one of
/// tools.servers, where it stays unless it fails, or else one that is started for the job with
/// `parallel_jobs`. `sandbox`: as box_of_job takes it.
/// Errors: those of AotClient::start and AotClient::run_one.
Result<AotReply> run_toolchain_job(const Toolchain& toolchain, int parallel_jobs, const Json& job,
                                   std::optional<SandboxMode> sandbox, const CampaignTools& tools);

/// Warns, once, of what the boxes of toolchains do not enforce on this machine.
void tell_gaps_of_toolchain_box();

}  // namespace assay
