#include "features/fleet/command_executor.h"

#include "features/fleet/executor.h"
#include "features/fleet/fleet_job.h"
#include "features/fleet/fleet_worker.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/shell.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/base/units.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::chrono::minutes kCommandTimeout{2};
constexpr const char* kLostEnd = ".lost";

using Placeholders = std::map<std::string, std::string>;

std::string filled(std::string text, const Placeholders& values) {
  for (const auto& [name, value] : values) {
    const auto mark = "{" + name + "}";
    for (auto at = text.find(mark); at != std::string::npos;
         at = text.find(mark, at + value.size())) {
      text.replace(at, mark.size(), value);
    }
  }
  return text;
}

std::vector<std::string> filled_words(const std::vector<std::string>& words,
                                      const Placeholders& values) {
  std::vector<std::string> argv;
  std::ranges::transform(words, std::back_inserter(argv),
                         [&](const std::string& word) { return filled(word, values); });
  return argv;
}

/// Runs one of the scheduler's commands. Errors: kUnavailable, with what it printed.
Result<std::string> run_scheduler(const std::vector<std::string>& words,
                                  const Placeholders& values) {
  const auto argv = filled_words(words, values);
  auto output = run_command({.argv = argv}, kCommandTimeout);
  if (!output) {
    return fail_with_context(std::move(output).error(), shell_command(argv));
  }
  if (output->exit_code != 0) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("{} ended with exit code {}: {}", shell_command(argv),
                            output->exit_code, printable(output->output)));
  }
  return std::move(output->output);
}

/// The first word of the last line, up to a semicolon: `sbatch --parsable` prints "ID;CLUSTER".
std::string id_from_output(const std::string& output) {
  const auto end = output.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) {
    return {};
  }
  const auto line = output.rfind('\n', end);
  const auto begin = line == std::string::npos ? 0 : line + 1;
  const auto text = output.substr(begin, end + 1 - begin);
  return text.substr(0, text.find_first_of(" \t;"));
}

/// One try at a job that the scheduler has.
struct SubmittedTry {
  std::string id;         ///< The scheduler's.
  stdfs::path id_file;    ///< Removed by whoever takes it back.
  stdfs::path lost_file;  ///< Tells drivers to come that it was lost.
  std::string job;
  int n = 0;
  std::string device;  ///< Device that it was submitted for; empty: any of a class.
  std::int64_t polled_ns = 0;
  bool has_ended = false;  ///< Once more without a part, and it is lost.
};

/// FOLDER/runs/RUN/: JOB-N.json the job, JOB-N.id the scheduler's id, JOB-N.db parts, JOB-N.lost
/// why a try was lost.
class CommandExecutor final : public Executor {
 public:
  explicit CommandExecutor(CommandExecutorOptions options) : options_(std::move(options)) {}

  Result<std::vector<FleetWorker>> workers() override {
    std::vector<FleetWorker> workers;
    std::error_code error;
    for (const auto& entry : stdfs::directory_iterator(options_.folder / "devices", error)) {
      if (entry.path().extension() == ".json") {
        ASSAY_ASSIGN_OR_RETURN(const auto document, read_json_file(entry.path()));
        auto worker = worker_from_json(document);
        if (!worker) {
          return fail_with_context(std::move(worker).error(), entry.path().string());
        }
        workers.push_back(*std::move(worker));
      }
    }
    std::ranges::sort(workers, {}, &FleetWorker::device);
    return workers;
  }

  Result<Submission> submit(const FleetJob& job) override {
    const auto folder = folder_of(job.run.id);
    runs_.insert(folder);
    const auto name = fmt::format("{}-{}", job.id, job.n);
    const auto id_file = folder / (name + ".id");
    std::error_code ignored;
    if (stdfs::exists(folder / (name + kLostEnd), ignored)) {
      return Submission::kLostBefore;
    }
    if (const auto known = read_file(id_file)) {
      add_try(id_from_output(*known), job);
      return Submission::kFollowed;
    }
    const auto job_file = folder / (name + ".json");
    ASSAY_RETURN_IF_ERROR(write_file_atomically(job_file, json_from_job(job).dump()));
    ASSAY_ASSIGN_OR_RETURN(
        const auto output,
        run_scheduler(options_.submit, placeholders_of(job, job_file, folder / (name + ".db"))));
    const auto id = id_from_output(output);
    if (id.empty()) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("{} printed no id for the job", options_.submit.front()));
    }
    // A driver that dies before this line submits the job again, and one of two executions counts.
    ASSAY_RETURN_IF_ERROR(write_file_atomically(id_file, id + "\n"));
    add_try(id, job);
    return Submission::kQueued;
  }

  Result<std::optional<FleetEvent>> next(std::chrono::milliseconds timeout) override {
    if (auto part = find_part()) {
      return part;
    }
    ASSAY_ASSIGN_OR_RETURN(auto lost, poll_oldest());
    if (!lost) {
      std::this_thread::sleep_for(timeout);
    }
    return lost;
  }

  Status forget(const stdfs::path& part) override {
    std::error_code error;
    stdfs::remove(part, error);
    return error ? fail(ErrorCode::kUnavailable,
                        fmt::format("cannot remove '{}': {}", part.string(), error.message()))
                 : Status();
  }

  Result<int> cancel(const std::string& run) override {
    if (options_.cancel.empty()) {
      return fail(ErrorCode::kUnsupported,
                  "the executor has no \"cancel\" command; take the jobs back in the scheduler");
    }
    int cancelled = 0;
    std::error_code error;
    for (const auto& entry : stdfs::directory_iterator(folder_of(run), error)) {
      if (entry.path().extension() == ".id") {
        ASSAY_ASSIGN_OR_RETURN(const auto text, read_file(entry.path()));
        // A job that has ended cannot be cancelled, and need not be.
        cancelled += run_scheduler(options_.cancel, {{"id", id_from_output(text)}}) ? 1 : 0;
        stdfs::remove(entry.path(), error);
      }
    }
    return cancelled;
  }

  Result<std::vector<FleetQueue>> queues() override {
    std::vector<FleetQueue> queues;
    std::error_code error;
    for (const auto& run : stdfs::directory_iterator(options_.folder / "runs", error)) {
      FleetQueue queue{.run = run.path().filename().string()};
      for (const auto& entry : stdfs::directory_iterator(run.path(), error)) {
        queue.waiting += entry.path().extension() == ".id" ? 1 : 0;
      }
      if (queue.waiting > 0) {
        queues.push_back(std::move(queue));
      }
    }
    return queues;
  }

  Status drain(const std::string& device, const std::string& /*reason*/) override {
    return fail(ErrorCode::kUnsupported,
                fmt::format("the scheduler of this executor drains '{}' by a command of its own, "
                            "such as scontrol update nodename=NODE state=drain",
                            device));
  }

 private:
  [[nodiscard]] stdfs::path folder_of(const std::string& run) const {
    return options_.folder / "runs" / run;
  }

  [[nodiscard]] Placeholders placeholders_of(const FleetJob& job, const stdfs::path& job_file,
                                             const stdfs::path& out) const {
    std::vector<std::string> command{options_.assay,    "work",  "--job",
                                     job_file.string(), "--out", out.string()};
    if (!job.device.name.empty()) {
      command.insert(command.end(), {"--device", job.device.name});
    }
    return {{"job", job_file.string()},
            {"out", out.string()},
            {"command", shell_command(command)},
            {"class", job.device.device_class},
            {"device", job.device.name},
            {"name", job.label},
            {"run", job.run.id},
            {"seconds", std::to_string(job.deadline_ns / 1'000'000'000)}};
  }

  /// A part of any run that jobs were submitted for, also of a try that was given up.
  std::optional<FleetEvent> find_part() const {
    for (const auto& folder : runs_) {
      std::error_code error;
      for (const auto& entry : stdfs::directory_iterator(folder, error)) {
        const auto& path = entry.path();
        if (path.extension() == ".db" && !path.filename().string().starts_with('.')) {
          return FleetEvent{.kind = FleetEvent::Kind::kDone, .part = path};
        }
      }
    }
    return std::nullopt;
  }

  /// Asks for the try that was asked for longest ago, if it is due.
  Result<std::optional<FleetEvent>> poll_oldest() {
    if (options_.poll.empty() || tries_.empty() ||
        monotonic_ns() - tries_.front().polled_ns < options_.poll_every_ns) {
      return std::nullopt;
    }
    auto one = std::move(tries_.front());
    tries_.pop_front();
    one.polled_ns = monotonic_ns();
    if (is_with_scheduler(one) || !std::exchange(one.has_ended, true)) {
      tries_.push_back(std::move(one));  // Its part may appear between two looks.
      return std::nullopt;
    }
    std::error_code ignored;
    if (!stdfs::exists(one.id_file, ignored)) {
      return FleetEvent{.kind = FleetEvent::Kind::kCancelled, .job = one.job, .n = one.n};
    }
    const auto why = fmt::format("the scheduler's job {} ended without a part", one.id);
    ASSAY_RETURN_IF_ERROR(write_file_atomically(one.lost_file, why + "\n"));
    return FleetEvent{.kind = FleetEvent::Kind::kLost,
                      .job = one.job,
                      .n = one.n,
                      .device = one.device,
                      .why = why};
  }

  void add_try(const std::string& id, const FleetJob& job) {
    const auto name = folder_of(job.run.id) / fmt::format("{}-{}", job.id, job.n);
    tries_.push_back({.id = id,
                      .id_file = name.string() + ".id",
                      .lost_file = name.string() + kLostEnd,
                      .job = job.id,
                      .n = job.n,
                      .device = job.device.name});
  }

  /// A command that cannot be run, or does not end, tells nothing, and nothing is lost. One that
  /// fails says that the job is unknown: schedulers do for a job that they forgot. A scheduler that
  /// is down may fail alike; the job is then executed twice, and one execution counts.
  [[nodiscard]] bool is_with_scheduler(const SubmittedTry& one) const {
    const auto answer =
        run_command({.argv = filled_words(options_.poll, {{"id", one.id}})}, kCommandTimeout);
    return !answer || (answer->exit_code == 0 &&
                       answer->output.find_first_not_of(" \t\r\n") != std::string::npos);
  }

  CommandExecutorOptions options_;
  std::set<stdfs::path> runs_;
  std::deque<SubmittedTry> tries_;
};

std::vector<std::string> words_in(const Json& entry, const char* key) {
  return entry.value(key, std::vector<std::string>());
}

}  // namespace

Result<CommandExecutorOptions> command_options_from_json(const Json& entry) {
  try {
    CommandExecutorOptions options{.folder = entry.value("folder", ""),
                                   .submit = words_in(entry, "submit"),
                                   .poll = words_in(entry, "poll"),
                                   .cancel = words_in(entry, "cancel"),
                                   .assay = entry.value("assay", "assay")};
    if (!options.folder.is_absolute()) {
      return fail(ErrorCode::kInvalidArgument,
                  "\"folder\" must be an absolute folder that all hosts see");
    }
    if (options.submit.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  "\"submit\" must be the words of a command, such as [\"sbatch\", "
                  "\"--parsable\", \"--wrap\", \"{command}\"]");
    }
    if (entry.contains("poll_every")) {
      ASSAY_ASSIGN_OR_RETURN(options.poll_every_ns,
                             duration_ns_from_text(entry.at("poll_every").get<std::string>()));
    }
    return options;
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalidArgument, error.what());
  }
}

std::unique_ptr<Executor> make_command_executor(CommandExecutorOptions options) {
  return std::make_unique<CommandExecutor>(std::move(options));
}

}  // namespace assay
