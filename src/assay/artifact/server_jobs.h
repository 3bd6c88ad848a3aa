#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "assay/artifact/aot_client.h"
#include "assay/artifact/aot_servers.h"
#include "assay/artifact/toolchain.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/sandbox.h"

namespace assay {

/// Jobs for the fork server of one toolchain.
struct ServerJobs {
  const Toolchain& toolchain;
  const SandboxRequest& box;
  std::vector<Json> requests;
  std::vector<std::string> labels;  ///< Names of the requests, for people.
  int parallel_jobs = 2;
  std::filesystem::path log_file;
};

/// Has the jobs done, and continues with another server where one dies, as by the kernel for its
/// memory: what is left is then done one job at a time until it is known which one ends the server.
/// That one is `crashed`, `server_lost`; the others are done as before. `on_done` hears of every
/// job once. Errors: those of AotServers::get; kTimeout (stopped); kUnavailable after several jobs
/// that ended their server, naming the last one.
Status do_server_jobs(const ServerJobs& jobs, AotServers& servers,
                      const AotClient::OnStage& on_stage, const AotClient::OnDone& on_done,
                      const std::function<bool()>& should_stop);

}  // namespace assay
