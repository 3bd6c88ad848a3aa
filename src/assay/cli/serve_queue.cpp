#include "assay/cli/serve_queue.h"

#include "features/fleet/open_executor.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include <signal.h>

#include "assay/artifact/toolchain.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/python_command.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/interrupt.h"
#include "assay/remote/inventory.h"

namespace assay::cli {
namespace {

/// Ends with its first SIGTERM, once the current job is done or was given back.
ExitCode wait_for_worker(Subprocess& process) {
  bool is_told = false;
  while (!process.has_ended(std::chrono::milliseconds(500))) {
    if (is_interrupted() && !std::exchange(is_told, true)) {
      process.kill(SIGTERM);
    }
  }
  const int code = process.wait();
  return is_told ? ExitCode::kInterrupted : static_cast<ExitCode>(code);
}

}  // namespace

Result<ExitCode> serve_queue(const QueueWorker& worker) {
  ASSAY_ASSIGN_OR_RETURN(const auto inventory, Inventory::read(Inventory::default_file()));
  ASSAY_ASSIGN_OR_RETURN(const auto entry, inventory.get_executor(worker.executor));
  const auto kind = entry.value("kind", "");
  if (!has_workers(kind)) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("executor '{}' of kind '{}' starts jobs on its hosts itself; only "
                            "kinds postgres and ray have workers",
                            worker.executor, kind));
  }
  const Json options{
      {"entry", entry},
      {"device", worker.device},
      {"name", worker.name},
      {"artifacts", worker.artifacts},
      {"canary",
       worker.canary.empty() ? std::string() : std::filesystem::absolute(worker.canary).string()},
      {"assay", (executable_folder() / "assay").string()}};
  ASSAY_ASSIGN_OR_RETURN(
      auto process, Subprocess::start({.argv = python_module_argv(default_python(worker.python),
                                                                  "assay.fleet." + kind + "_worker",
                                                                  {options.dump()}),
                                       .env = python_environment(),
                                       .leads_group = true}));
  return wait_for_worker(process);
}

}  // namespace assay::cli
