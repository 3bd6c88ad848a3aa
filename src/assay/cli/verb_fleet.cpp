#include "features/fleet/executor.h"
#include "features/fleet/fleet_worker.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/json.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/base/units.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/fleet_setup.h"
#include "assay/cli/verb.h"
#include "assay/record/job_execution.h"
#include "assay/runs/run_overview.h"
#include "assay/store/lost_executions.h"
#include "assay/store/result_store.h"

namespace assay::cli {
namespace {

struct FleetOptions {
  std::string executor;
  std::string python;
  std::string device;
  std::string reason = "drained by hand";
  std::string run;
  bool is_json = false;
  bool is_undone = false;
  StoreFlags store;
};

std::string text_of_worker(const FleetWorker& worker) {
  const auto& doing = worker.state == "busy" ? worker.job : worker.reason;
  return fmt::format(
      "{:<16} {:<9} {:>9}  {:<40} {}", worker.device, worker.state,
      worker.heartbeat_unix_ns == 0 ? "-" : age_text(worker.heartbeat_unix_ns, unix_time_ns()),
      worker.environment.device_class, printable(doing));
}

/// Time until a queue is empty, if its devices are the ones that work.
std::string remaining_text(const FleetQueue& queue, std::size_t devices) {
  return queue.expected_ns == 0 || devices == 0
             ? "time left not known"
             : "about " +
                   text_from_duration_ns(static_cast<double>(queue.expected_ns) /
                                         static_cast<double>(devices)) +
                   " left";
}

std::size_t count_working(const std::vector<FleetWorker>& workers) {
  return static_cast<std::size_t>(std::ranges::count_if(workers, [](const FleetWorker& worker) {
    return worker.state == "idle" || worker.state == "busy";
  }));
}

Json status_document(const std::vector<FleetWorker>& workers,
                     const std::vector<FleetQueue>& queues) {
  Json document{
      {"schema", "assay/fleet-status/1"}, {"devices", Json::array()}, {"runs", Json::array()}};
  for (const auto& worker : workers) {
    document["devices"].push_back({{"device", worker.device},
                                   {"host", worker.host},
                                   {"class", worker.environment.device_class},
                                   {"state", worker.state},
                                   {"reason", worker.reason},
                                   {"job", worker.job},
                                   {"job_since_unix_ns", worker.job_since_unix_ns},
                                   {"heartbeat_unix_ns", worker.heartbeat_unix_ns}});
  }
  for (const auto& queue : queues) {
    document["runs"].push_back({{"run", queue.run},
                                {"waiting", queue.waiting},
                                {"executing", queue.executing},
                                {"expected_ns", queue.expected_ns}});
  }
  return document;
}

Result<ExitCode> show_status(const FleetOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto fleet, open_executor_named(options.executor, options.python));
  ASSAY_ASSIGN_OR_RETURN(const auto workers, fleet.executor->workers());
  ASSAY_ASSIGN_OR_RETURN(const auto queues, fleet.executor->queues());
  if (options.is_json) {
    print_out("{}\n", status_document(workers, queues).dump(2));
    return ExitCode::kOk;
  }
  if (workers.empty()) {
    print_out(
        "no device has described itself to this executor; start a worker on its host: assay work "
        "--executor {}\n",
        options.executor);
  } else {
    print_out("{:<16} {:<9} {:>9}  {:<40} {}\n", "device", "state", "heartbeat", "class", "doing");
  }
  for (const auto& worker : workers) {
    print_out("{}\n", text_of_worker(worker));
  }
  for (const auto& queue : queues) {
    print_out("run {}: {} waiting, {} executing, {}\n", queue.run, queue.waiting, queue.executing,
              remaining_text(queue, count_working(workers)));
  }
  if (queues.empty()) {
    print_out("no jobs wait\n");
  }
  return ExitCode::kOk;
}

Result<ExitCode> drain_device(const FleetOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto fleet, open_executor_named(options.executor, options.python));
  ASSAY_RETURN_IF_ERROR(
      fleet.executor->drain(options.device, options.is_undone ? "" : options.reason));
  print_out("{} {}\n", options.device,
            options.is_undone ? "takes jobs again" : "takes no job after the one at hand");
  return ExitCode::kOk;
}

Result<ExitCode> cancel_run(const FleetOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto fleet, open_executor_named(options.executor, options.python));
  auto run = options.run;
  if (const auto store = options.store.open_to_read()) {
    if (const auto stored = (*store)->get_run(run)) {
      run = stored->id;  // "latest", or the beginning of an id.
    }
  }
  ASSAY_ASSIGN_OR_RETURN(const int cancelled, fleet.executor->cancel(run));
  print_out("{} job{} of run {} taken back\n", cancelled, cancelled == 1 ? "" : "s", run);
  return ExitCode::kOk;
}

Result<ExitCode> list_executions(const FleetOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.store.open_to_read());
  ASSAY_ASSIGN_OR_RETURN(const auto run, store->get_run(options.run));
  ASSAY_ASSIGN_OR_RETURN(const auto executions, store->executions_of_run(run.id));
  ASSAY_ASSIGN_OR_RETURN(const auto lost, lost_executions_of_run(*store, run.id));
  if (options.is_json) {
    print_out("{}\n", Json{{"schema", "assay/fleet-executions/1"},
                           {"run", run.id},
                           {"executions", executions},
                           {"lost", lost}}
                          .dump(2));
    return ExitCode::kOk;
  }
  for (const auto& one : executions) {
    print_out(
        "{}  try {}  {:<16} {:<24} {:>9}  {}\n", one.job.substr(0, 12), one.n + 1, one.device,
        one.worker,
        text_from_duration_ns(static_cast<double>(one.finished_unix_ns - one.started_unix_ns)),
        one.is_counted ? "counted" : "late, kept");
  }
  for (const auto& one : lost) {
    print_out("{}  try {}  {:<16} {}\n", one.job.substr(0, 12), one.n + 1,
              one.device.empty() ? "-" : one.device,
              printable(fmt::format("lost while it executed {}: {}", one.label, one.why)));
  }
  print_out("{} executions, {} lost\n", executions.size(), lost.size());
  return ExitCode::kOk;
}

void declare_executor(CLI::App& app, FleetOptions& options) {
  app.add_option("--executor", options.executor, "An executor of devices.json")->required();
  app.add_option("--python", options.python, "Python with the package assay[postgres]");
}

using Below = std::pair<CLI::App*, Execute>;

Below declare_status(CLI::App& app) {
  auto options = std::make_shared<FleetOptions>();
  auto* verb = app.add_subcommand("status", "Show devices, what each does, and what waits");
  declare_executor(*verb, *options);
  verb->add_flag("--json", options->is_json, "As JSON");
  return {verb, [options] { return show_status(*options); }};
}

Below declare_drain(CLI::App& app) {
  auto options = std::make_shared<FleetOptions>();
  auto* verb = app.add_subcommand("drain", "Let a device take no further job");
  verb->add_option("device", options->device, "A device of assay fleet status")->required();
  declare_executor(*verb, *options);
  verb->add_option("--reason", options->reason, "Shown by assay fleet status")
      ->capture_default_str();
  verb->add_flag("--undo", options->is_undone, "Let it take jobs again");
  return {verb, [options] { return drain_device(*options); }};
}

Below declare_cancel(CLI::App& app) {
  auto options = std::make_shared<FleetOptions>();
  auto* verb = app.add_subcommand("cancel", "Take the jobs of a run back");
  verb->add_option("run", options->run, "Run whose jobs are taken back")->required();
  declare_executor(*verb, *options);
  options->store.declare(*verb);
  return {verb, [options] { return cancel_run(*options); }};
}

Below declare_executions(CLI::App& app) {
  auto options = std::make_shared<FleetOptions>();
  auto* verb = app.add_subcommand("executions", "List who executed what of a run, and what counts");
  verb->add_option("run", options->run, "Stored run")->required();
  verb->add_flag("--json", options->is_json, "As JSON");
  options->store.declare(*verb);
  return {verb, [options] { return list_executions(*options); }};
}

}  // namespace

Execute declare_fleet(CLI::App& app) {
  app.require_subcommand(1);
  const std::vector<Below> below{declare_status(app), declare_drain(app), declare_cancel(app),
                                 declare_executions(app)};
  return [below]() -> Result<ExitCode> {
    const auto chosen =
        std::ranges::find_if(below, [](const Below& one) { return one.first->parsed(); });
    return chosen->second();
  };
}

}  // namespace assay::cli
