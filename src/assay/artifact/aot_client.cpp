#include "assay/artifact/aot_client.h"

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <signal.h>

#include "assay/artifact/toolchain.h"
#include "assay/base/enum_names.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/python_command.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/base/units.h"
#include "assay/record/axes.h"
#include "assay/record/boxed_command.h"
#include "assay/record/sandbox.h"

namespace assay {
namespace {

constexpr const char* kTimeoutVariable = "ASSAY_BUILD_TIMEOUT";
constexpr std::chrono::milliseconds kTick{200};

/// A field of an event as text; "" when it is absent or null.
std::string text_of(const Json& event, const char* name) {
  const auto found = event.find(name);
  return found != event.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Stage stage_from(const Json& event) {
  return find_enum<Stage>(text_of(event, "stage")).value_or(Stage::kNone);
}

AotReply reply_from(const Json& event) {
  const auto outcome = find_enum<Outcome>(text_of(event, "outcome"));
  return {.conclusion = {.outcome = outcome.value_or(Outcome::kHarnessError),
                         .stage = stage_from(event),
                         .reason_code = text_of(event, "reason_code"),
                         .text = text_of(event, "text")},
          .result = event.value("result", Json())};
}

/// Which of our jobs an event is about; an event about none (a line that it could not read) has no
/// id.
std::optional<std::size_t> find_job(const Json& event, std::size_t jobs) {
  const auto id = text_of(event, "id");
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), index);
  return error == std::errc{} && index < jobs ? std::optional(index) : std::nullopt;
}

std::unexpected<Error> server_died(const std::filesystem::path& python, const SandboxRequest& box,
                                   int exit_code, const std::filesystem::path& log_file) {
  if (box.mode == SandboxMode::kOff) {
    return fail(
        ErrorCode::kUnavailable,
        fmt::format(
            "the ahead-of-time server of '{}' did not start; try: {} -m assay.toolchain.server",
            python.string(), python.string()));
  }
  return fail(ErrorCode::kUnavailable,
              fmt::format("the ahead-of-time server of '{}' did not start{}; its log is '{}'; "
                          "--sandbox=off does without a sandbox",
                          python.string(),
                          exit_code == kNoBox ? ": there is no sandbox for it"
                                              : ", perhaps for files that its sandbox keeps closed",
                          log_file.string()));
}

std::unexpected<Error> server_slow(const std::filesystem::path& python,
                                   std::chrono::milliseconds limit) {
  const auto limit_ns = std::chrono::duration<double, std::nano>(limit).count();
  return fail(ErrorCode::kUnavailable,
              fmt::format("the ahead-of-time server of '{}' was not ready {} after its start: the "
                          "machine is busy, or its disk reads torch for the first time; try again",
                          python.string(), text_from_duration_ns(limit_ns)));
}

Result<std::optional<TemporaryFolder>> folder_for(const SandboxRequest& box) {
  if (box.mode == SandboxMode::kOff) {
    return std::nullopt;
  }
  ASSAY_ASSIGN_OR_RETURN(auto folder, TemporaryFolder::make("assay-box"));
  return std::optional(std::move(folder));
}

}  // namespace

Result<AotClient> AotClient::start(const Toolchain& toolchain, const SandboxRequest& box,
                                   int parallel_jobs, const std::filesystem::path& log_file,
                                   std::chrono::milliseconds limit) {
  auto argv = python_module_argv(toolchain.python, "assay.toolchain.server",
                                 {"--jobs", std::to_string(parallel_jobs)});
  ASSAY_ASSIGN_OR_RETURN(auto folder, folder_for(box));
  if (folder) {
    argv = boxed_command(box, folder->path().string(), std::move(argv));
  }
  ASSAY_ASSIGN_OR_RETURN(auto process, Subprocess::start({.argv = std::move(argv),
                                                          .env = python_environment(),
                                                          .stderr_file = log_file.string()}));
  AotClient client(std::move(folder), std::move(process));
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!client.process_.is_at_end() && std::chrono::steady_clock::now() < end) {
    ASSAY_ASSIGN_OR_RETURN(const auto event, client.next_event());
    if (event && text_of(*event, "event") == "ready") {
      return client;
    }
  }
  const bool has_ended = client.process_.is_at_end();
  client.process_.kill(SIGKILL);
  const int exit_code = client.process_.wait();
  return has_ended ? server_died(toolchain.python, box, exit_code, log_file)
                   : server_slow(toolchain.python, limit);
}

Result<std::int64_t> build_timeout_ns() {
  const char* asked = std::getenv(kTimeoutVariable);
  auto timeout = duration_ns_from_text(asked == nullptr || *asked == '\0' ? "30min" : asked);
  if (!timeout) {
    return fail_with_context(std::move(timeout).error(), kTimeoutVariable);
  }
  return timeout;
}

Result<std::optional<Json>> AotClient::next_event() {
  ASSAY_ASSIGN_OR_RETURN(const auto line, process_.read_line(kTick));
  if (!line) {
    return std::nullopt;
  }
  ASSAY_ASSIGN_OR_RETURN(auto event, parse_json(*line, "ahead-of-time server"));
  return event;
}

Result<std::vector<AotReply>> AotClient::run(const std::vector<Json>& jobs, const OnStage& on_stage,
                                             const OnDone& on_done,
                                             const std::function<bool()>& should_stop) {
  ASSAY_ASSIGN_OR_RETURN(const auto timeout_ns, build_timeout_ns());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Json job = jobs[i];
    job["id"] = std::to_string(i);
    if (!job.contains("timeout_ns")) {
      job["timeout_ns"] = timeout_ns;
    }
    ASSAY_RETURN_IF_ERROR(process_.write(job.dump() + "\n"));
  }
  std::vector<AotReply> replies(jobs.size());
  for (std::size_t left = jobs.size(); left > 0;) {
    if (should_stop && should_stop()) {
      return fail(ErrorCode::kTimeout, "interrupted while artifacts were being built");
    }
    ASSAY_ASSIGN_OR_RETURN(const auto event, next_event());
    if (!event) {
      if (process_.is_at_end()) {
        return fail(ErrorCode::kCrashed,
                    "the ahead-of-time server died; see server.log in the cache folder");
      }
      continue;
    }
    const auto index = find_job(*event, jobs.size());
    if (!index) {
      continue;
    }
    const auto job = static_cast<int>(*index);
    if (text_of(*event, "event") == "stage" && on_stage) {
      on_stage(job, stage_from(*event));
    } else if (text_of(*event, "event") == "done") {
      replies[*index] = reply_from(*event);
      --left;
      if (on_done) {
        on_done(job, replies[*index]);
      }
    }
  }
  return replies;
}

Result<AotReply> AotClient::run_one(const Json& job) {
  ASSAY_ASSIGN_OR_RETURN(auto replies, run({job}, {}, {}, {}));
  return replies.front();
}

}  // namespace assay
