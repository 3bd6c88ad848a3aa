#include "features/repository/place_lock.h"
#include "features/repository/repository_spec.h"
#include "features/watch/change_check.h"
#include "features/watch/events.h"
#include "features/watch/next_steps.h"
#include "features/watch/repository_runner.h"
#include "features/watch/step_times.h"
#include "features/watch/watch_text.h"
#include "features/watch/watch_view.h"
#include "features/watch/watcher.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <ios>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/incident_flags.h"
#include "assay/cli/interrupt.h"
#include "assay/cli/progress.h"
#include "assay/cli/verb.h"
#include "assay/cli/watch_setup.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"

namespace assay::cli {
namespace {

namespace stdfs = std::filesystem;

constexpr std::size_t kShownSteps = 20;
constexpr const char* kStopFile = "stop";

struct WatchOptions {
  WatchFlags flags;
  IncidentFlags incident;
  bool is_once = false;
  std::string duration;
  std::string since;
  bool is_dry_run = false;
  bool shows_status = false;
  bool stops = false;
  std::string events;
  std::string base;
  std::string head = "HEAD";
  std::string format = "console";
};

/// Stops on an interrupt, at the end of the time, and when the stop file appears.
class WatchProgress final : public Progress {
 public:
  WatchProgress(bool is_quiet, std::int64_t duration_ns)
      : Progress(is_quiet), end_ns_(duration_ns == 0 ? 0 : monotonic_ns() + duration_ns) {}

  void set_stop_file(stdfs::path file) { stop_file_ = std::move(file); }

  bool should_stop() override {
    std::error_code error;
    const bool is_over = end_ns_ != 0 && monotonic_ns() >= end_ns_;
    const bool is_stopped = !stop_file_.empty() && stdfs::exists(stop_file_, error);
    return is_over || is_stopped || Progress::should_stop();
  }

 private:
  std::int64_t end_ns_;
  stdfs::path stop_file_;
};

/// Prints what the watcher does, and adds it to a file as JSON lines.
class WatchLog final : public watch::WatchListener {
 public:
  WatchLog(bool is_quiet, const std::string& file) : is_quiet_(is_quiet) {
    if (!file.empty()) {
      file_.open(file, std::ios::app);
    }
  }

  void on_event(const Json& event) override {
    if (file_.is_open()) {
      auto timed = event;
      timed["time"] = iso8601_from_unix_ns(unix_time_ns());
      file_ << timed.dump() << '\n';
      file_.flush();
    }
    counts_.add(event);
    if (const auto line = watch::line_of_event(event); !line.empty() && !is_quiet_) {
      print_out("{}\n", line);
    }
  }

  /// Prints in a line what the watcher did.
  void print_summary() const {
    if (!is_quiet_) {
      print_out("{}\n", counts_.text());
    }
  }

 private:
  watch::EventCounts counts_;
  bool is_quiet_;
  std::ofstream file_;
};

/// Refuses a text that no case has, as far as the cases are known before something is built.
Status check_wanted_cases(const std::string& only, WatchSetup& setup) {
  if (only.empty()) {
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto builds,
                         setup.store->engine_builds_of(setup.spec.repository.id()));
  for (const auto& build : builds) {
    if (build.environment == setup.environment.name && build.outcome == BuildOutcome::kBuilt) {
      const auto labels = setup.runner->labels_of_cases(build);
      if (labels) {
        return watch::check_only(only, setup.spec.spec.string(), *labels);
      }
    }
  }
  return {};
}

Result<watch::WatchFilter> read_filter(const WatchOptions& options, WatchSetup& setup,
                                       const std::vector<Revision>& revisions) {
  ASSAY_RETURN_IF_ERROR(check_wanted_cases(options.flags.only, setup));
  ASSAY_ASSIGN_OR_RETURN(const auto position, setup.position_of(options.since, revisions));
  return watch::WatchFilter{.only = options.flags.only, .since_position = position};
}

Result<watch::Watcher> make_watcher(const WatchOptions& options, WatchSetup& setup,
                                    watch::WatchListener& listener,
                                    std::vector<Revision> revisions) {
  constexpr std::string_view kPinned = "pinned:";
  std::string pinned;
  const auto& reference = setup.spec.policy.reference;
  if (reference.starts_with(kPinned)) {
    ASSAY_ASSIGN_OR_RETURN(pinned, setup.mirror->resolve(reference.substr(kPinned.size())));
  }
  ASSAY_ASSIGN_OR_RETURN(auto filter, read_filter(options, setup, revisions));
  return watch::Watcher::make({.spec = setup.spec,
                               .environment = setup.environment,
                               .store = *setup.store,
                               .runner = *setup.runner,
                               .listener = listener,
                               .now_unix_ns = unix_time_ns,
                               .pinned = std::move(pinned),
                               .filter = std::move(filter)},
                              std::move(revisions));
}

/// Sleeps until the next look at the repository. False: asked to stop.
bool wait_for_commits(WatchProgress& progress, std::int64_t poll_ns) {
  const auto until_ns = monotonic_ns() + poll_ns;
  while (monotonic_ns() < until_ns) {
    if (progress.should_stop()) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  return true;
}

Result<ExitCode> end_after(const Error& error) {
  if (error.code != ErrorCode::kTimeout) {
    return std::unexpected(error);
  }
  log_line(LogLevel::kInfo, "stopped; the next assay watch goes on from here");
  return is_interrupted() ? ExitCode::kInterrupted : ExitCode::kOk;
}

Result<ExitCode> watch_on(const WatchOptions& options, WatchSetup& setup, watch::Watcher& watcher,
                          WatchProgress& progress) {
  while (!progress.should_stop()) {
    const auto has_worked = watcher.take_step();
    if (!has_worked) {
      return end_after(has_worked.error());
    }
    if (*has_worked) {
      continue;
    }
    if (options.is_once || !wait_for_commits(progress, setup.spec.policy.poll_ns)) {
      break;
    }
    ASSAY_RETURN_IF_ERROR(setup.fetch());
    ASSAY_ASSIGN_OR_RETURN(auto revisions, setup.newest(setup.spec.policy.horizon));
    ASSAY_RETURN_IF_ERROR(setup.store->add_revisions(revisions));
    ASSAY_ASSIGN_OR_RETURN(const auto position, setup.position_of(options.since, revisions));
    watcher.set_revisions(std::move(revisions), position);
  }
  return is_interrupted() ? ExitCode::kInterrupted : ExitCode::kOk;
}

Result<ExitCode> watch_repository(const WatchOptions& options, WatchSetup& setup,
                                  WatchProgress& progress) {
  const auto folder = watch_folder(setup.spec.repository);
  const auto lock = PlaceLock::acquire(folder / "watch.lock", [] { return false; });
  if (!lock) {
    return lock.error().code != ErrorCode::kTimeout
               ? std::unexpected(lock.error())
               : fail(ErrorCode::kUnavailable,
                      fmt::format("another process watches {}; assay watch {} --stop ends it",
                                  setup.spec.repository.url, setup.spec.origin));
  }
  std::error_code error;
  stdfs::remove(folder / kStopFile, error);
  progress.set_stop_file(folder / kStopFile);
  WatchLog log(options.flags.is_quiet, options.events);
  ASSAY_ASSIGN_OR_RETURN(const auto revisions, setup.newest(setup.spec.policy.horizon));
  ASSAY_ASSIGN_OR_RETURN(auto watcher, make_watcher(options, setup, log, revisions));
  ASSAY_RETURN_IF_ERROR(setup.store->add_revisions(revisions));
  ASSAY_ASSIGN_OR_RETURN(const auto code, watch_on(options, setup, watcher, progress));
  log.print_summary();
  return code;
}

/// Prints what is to be done; with `has_state` after what is known.
Result<ExitCode> print_plan(const WatchOptions& options, WatchSetup& setup, bool has_state) {
  ASSAY_ASSIGN_OR_RETURN(auto revisions, setup.newest(setup.spec.policy.horizon));
  ASSAY_ASSIGN_OR_RETURN(auto filter, read_filter(options, setup, revisions));
  ASSAY_ASSIGN_OR_RETURN(const auto view,
                         watch::read_view(*setup.store, setup.spec, setup.environment,
                                          std::move(revisions), std::move(filter)));
  const auto steps = watch::plan_steps(view.state(0), setup.spec.policy.step,
                                       setup.spec.policy.share_of_verification, kShownSteps);
  ASSAY_ASSIGN_OR_RETURN(const auto times, watch::read_step_times(*setup.store, setup.spec,
                                                                  setup.environment.name, view));
  const auto seconds = watch::expected_seconds(steps, times, view);
  print_out("{}", has_state ? watch::text_of_status(view, steps, seconds, unix_time_ns())
                            : watch::text_of_plan(steps, view.revisions, seconds));
  return ExitCode::kOk;
}

Result<ExitCode> stop_watcher(const WatchOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto spec, read_repository_file(options.flags.file));
  const auto file = watch_folder(spec.repository) / kStopFile;
  ASSAY_RETURN_IF_ERROR(write_file_atomically(file, ""));
  print_out("the watcher of {} stops after its launch at hand\n", spec.repository.url);
  return ExitCode::kOk;
}

Result<Revision> find_revision(WatchSetup& setup, const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const auto hash, setup.mirror->resolve(name));
  ASSAY_ASSIGN_OR_RETURN(const auto revisions,
                         setup.mirror->log({.tip = hash, .since = {}, .limit = 1}));
  return revisions.front();
}

ExitCode exit_code_of(watch::ChangeVerdict verdict) {
  switch (verdict) {
    case watch::ChangeVerdict::kWorse:
      return ExitCode::kFindings;
    case watch::ChangeVerdict::kUndecided:
      return ExitCode::kInconclusive;
    default:
      return ExitCode::kOk;
  }
}

Result<ExitCode> check_one_change(const WatchOptions& options, WatchSetup& setup) {
  ASSAY_ASSIGN_OR_RETURN(const auto base, find_revision(setup, options.base));
  ASSAY_ASSIGN_OR_RETURN(const auto head, find_revision(setup, options.head));
  auto check = watch::check_change(base, head, setup.incident_tools());
  if (!check) {
    return std::unexpected(check.error());
  }
  if (options.format == "json") {
    print_out("{}\n", watch::document_of_change(*check).dump(2));
  } else {
    print_out("{}", options.format == "md" ? watch::markdown_of_change(*check, setup.spec)
                                           : watch::text_of_change_check(*check));
  }
  return exit_code_of(check->verdict);
}

Result<ExitCode> execute_watch(const WatchOptions& options) {
  if (options.stops) {
    return stop_watcher(options);
  }
  if (options.incident.is_given()) {
    return change_incident(options.flags, options.incident);
  }
  std::int64_t duration_ns = 0;
  if (!options.duration.empty()) {
    ASSAY_ASSIGN_OR_RETURN(duration_ns, duration_ns_from_text(options.duration));
  }
  catch_interrupts();
  const bool only_prints = options.is_dry_run || options.shows_status;
  WatchProgress progress(options.flags.is_quiet || only_prints, duration_ns);
  ASSAY_ASSIGN_OR_RETURN(const auto setup, WatchSetup::open(options.flags, progress));
  if (!options.shows_status) {
    ASSAY_RETURN_IF_ERROR(setup->runner->check_spec());
  }
  if (only_prints) {
    return print_plan(options, *setup, options.shows_status);
  }
  return options.base.empty() ? watch_repository(options, *setup, progress)
                              : check_one_change(options, *setup);
}

}  // namespace

Execute declare_watch(CLI::App& app) {
  auto options = std::make_shared<WatchOptions>();
  options->flags.declare(app);
  auto* once = app.add_flag("--once", options->is_once,
                            "End when nothing is left to do, instead of waiting for commits");
  app.add_option("--for", options->duration, "Time to watch, such as 2h [default: until stopped]")
      ->excludes(once);
  app.add_option("--since", options->since, "Measure only commits after this one");
  app.add_option("--only", options->flags.only, "Measure only cases with this text in their label");
  app.add_flag("--dry-run", options->is_dry_run,
               "Print the next 20 steps with their times and reasons, and do none");
  app.add_flag("--status", options->shows_status,
               "Print the state of the history, its incidents and what comes next");
  app.add_flag("--stop", options->stops, "Ask the watcher of the repository to end");
  options->incident.declare(app);
  app.add_option("--events", options->events,
                 "File to which each step and incident is added as "
                 "a line of JSON");
  auto* base =
      app.add_option("--base", options->base, "Check one change instead: the commit before it");
  app.add_option("--head", options->head, "With --base: the commit with the change")
      ->capture_default_str()
      ->needs(base);
  app.add_option("--format", options->format,
                 "With --base: format of the result: console, json or md")
      ->capture_default_str()
      ->check(CLI::IsMember({"console", "json", "md"}));
  return [options] { return execute_watch(*options); };
}

}  // namespace assay::cli
