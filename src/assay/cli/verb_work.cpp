#include "features/fleet/artifact_store.h"
#include "features/fleet/execute_job.h"
#include "features/fleet/fleet_job.h"
#include "features/fleet/fleet_worker.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include <unistd.h>

#include "assay/artifact/cache.h"
#include "assay/artifact/toolchain.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/cli/canary.h"
#include "assay/cli/device_flag.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/progress.h"
#include "assay/cli/serve_queue.h"
#include "assay/cli/verb.h"
#include "assay/device/process_space.h"
#include "assay/record/sandbox.h"
#include "assay/remote/device_choice.h"

namespace assay::cli {
namespace {

struct WorkOptions {
  std::string job;
  std::string device = kLocalDevice;
  std::string name;
  std::string out;
  std::string artifacts;
  std::string executor;
  std::string python;
  std::string canary;
  bool is_describing = false;
  bool must_be_ready = false;
  bool is_quiet = false;
};

/// A job names this machine as the fleet knows it.
std::string device_to_open(const WorkOptions& options) {
  const bool is_this_machine = options.device == options.name || options.device == host_name();
  return is_this_machine ? std::string(kLocalDevice) : options.device;
}

/// Devices of a fleet need names of their own; "local" is a device of every host.
std::string name_in_fleet(const WorkOptions& options) {
  if (!options.name.empty()) {
    return options.name;
  }
  return options.device == kLocalDevice ? host_name() : options.device;
}

Result<WorkingDevice> open_working_device(const WorkOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(auto device,
                         open_campaign_device(device_to_open(options), SandboxMode::kOff));
  if (options.must_be_ready && !device.not_ready.empty()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("device '{}' is not ready: {}", name_in_fleet(options),
                            fmt::join(device.not_ready, "; ")));
  }
  WorkingDevice working{
      .name = name_in_fleet(options),
      .environment = device.environment,
      .builds = device.installed.builds,
      .home = device.name == kLocalDevice ? assay_home() : std::filesystem::path(),
      .meter = device.meter,
      .connect = device.connect,
      .lock = device.lock};
  if (!options.canary.empty()) {
    working.check_health = [canary = options.canary, name = working.name,
                            device = std::move(device)] {
      return check_canary(canary, name, device);
    };
  }
  return working;
}

Result<ExitCode> describe_device(const WorkOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto device, open_working_device(options));
  if (options.must_be_ready && device.check_health) {
    ASSAY_RETURN_IF_ERROR(device.check_health());
  }
  const FleetWorker worker{.device = device.name,
                           .host = host_name(),
                           .environment = device.environment,
                           .builds = device.builds};
  const auto text = json_from_worker(worker).dump(2) + "\n";
  if (options.out.empty() || options.out == "-") {
    print_out("{}", text);
  } else {
    ASSAY_RETURN_IF_ERROR(write_file_atomically(options.out, text));
  }
  return ExitCode::kOk;
}

Result<ExitCode> work_on_job(const WorkOptions& options) {
  if (options.out.empty()) {
    return fail(ErrorCode::kInvalidArgument, "--out must name the file of the results, part.db");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto document, read_json_file(options.job));
  ASSAY_ASSIGN_OR_RETURN(const auto job, job_from_json(document));
  ASSAY_ASSIGN_OR_RETURN(const auto device, open_working_device(options));
  const auto& reference = options.artifacts.empty() ? job.artifact_store : options.artifacts;
  ASSAY_ASSIGN_OR_RETURN(const auto artifacts,
                         open_artifact_store(reference, default_python(options.python)));
  Progress progress(options.is_quiet);
  const ArtifactCache cache(assay_home() / "cache");
  const auto out = std::filesystem::absolute(options.out);
  ASSAY_ASSIGN_OR_RETURN(const auto part,
                         execute_job(job, device,
                                     {.cache = cache,
                                      .artifacts = *artifacts,
                                      .listener = progress,
                                      .worker = fmt::format("{}:{}", host_name(), ::getpid())},
                                     out));
  print_out("{}\n", part.string());
  return ExitCode::kOk;
}

Result<ExitCode> execute_work(const WorkOptions& options) {
  const int asked = (options.job.empty() ? 0 : 1) + (options.is_describing ? 1 : 0) +
                    (options.executor.empty() ? 0 : 1);
  if (asked != 1) {
    return fail(ErrorCode::kInvalidArgument,
                "give one of --executor NAME (serve its queue), --job FILE (execute one job) and "
                "--describe (print what the device is)");
  }
  if (options.is_describing) {
    return describe_device(options);
  }
  if (!options.job.empty()) {
    return work_on_job(options);
  }
  return serve_queue({.executor = options.executor,
                      .device = options.device,
                      .name = name_in_fleet(options),
                      .artifacts = options.artifacts,
                      .python = options.python,
                      .canary = options.canary});
}

}  // namespace

Execute declare_work(CLI::App& app) {
  auto options = std::make_shared<WorkOptions>();
  app.add_option("--executor", options->executor,
                 "Serve the jobs of this executor of devices.json for the device until stopped");
  app.add_option("--job", options->job, "Execute one job and write its results to --out");
  app.add_flag("--describe", options->is_describing,
               "Print the description of the device, which drivers plan by");
  app.add_flag("--ready", options->must_be_ready,
               "Fail if the device's gate is shut, or its canary fails");
  app.add_option("--device", options->device,
                 "Device to work with: a name of assay device list, or ssh:HOST, adb:SERIAL")
      ->default_str("this machine");
  app.add_option("--name", options->name,
                 "Name of the device in the fleet [default: that of --device, or of this host]");
  app.add_option("--out", options->out, "File of the job's results, or of the description");
  app.add_option("--artifacts", options->artifacts,
                 "Artifact store, if it has another place here than the job says: a folder, or "
                 "s3://BUCKET/PREFIX");
  app.add_option("--canary", options->canary,
                 "Finished program that the device must run to be given jobs, and again when a job "
                 "fails: then it tells whether the device is at fault");
  app.add_option("--python", options->python,
                 "Python with the package assay[postgres], assay[ray] or assay[s3]");
  app.add_flag("--quiet,-q", options->is_quiet, "Do not report progress on stderr");
  return [options] { return execute_work(*options); };
}

}  // namespace assay::cli
