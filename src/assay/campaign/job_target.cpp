#include "assay/campaign/job_target.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/file_digests.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/campaign/job_watch.h"
#include "assay/campaign/launch.h"
#include "assay/engine/program_places.h"
#include "assay/record/artifact_role.h"
#include "assay/record/axes.h"
#include "assay/record/sandbox.h"
#include "assay/record/spawn.h"
#include "assay/remote/job_folder.h"
#include "assay/wire/clock_slack.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::chrono::milliseconds kBetweenLooks{50};
constexpr const char* kProgramFolder = "program";

/// Names the first condition of a launch that a worker does not make; empty: there is none.
std::string_view find_refused_condition(const LaunchRequest& request) {
  const auto& surroundings = request.surroundings;
  if (!request.prefix.empty()) {
    return "counting instructions";
  }
  if (!surroundings.companions.empty()) {
    return "a program beside the measured one";
  }
  if (surroundings.page_cache == "cold") {
    return "a cold page cache";
  }
  if (surroundings.cool_below_celsius > 0) {
    return "waiting for a temperature";
  }
  if (request.sandbox == SandboxMode::kRequired) {
    return "a required sandbox";
  }
  const auto places =
      read_program_places(stdfs::path(request.artifact.folder) / request.artifact.entry);
  return places && !places->empty() ? "a program that names files of its own" : "";
}

Result<JobFile> file_at(const std::string& path, const stdfs::path& source, FileDigests& digests) {
  ASSAY_ASSIGN_OR_RETURN(auto digest, digests.digest_of(source));
  return JobFile{.path = path, .source = source, .sha256 = std::move(digest)};
}

/// A time that cannot have passed since the job was there is the worker's invention.
Status check_wall(const SpawnResult& result, std::int64_t passed_ns) {
  const auto most_ns = passed_ns + wire::clock_slack_ns(passed_ns, 0, 0);
  if (result.end.wall_ns >= 0 && result.end.wall_ns <= most_ns) {
    return {};
  }
  return fail(ErrorCode::kCorrupt,
              fmt::format("the process is said to have run for {}, and only {} had passed",
                          text_from_duration_ns(static_cast<double>(result.end.wall_ns)),
                          text_from_duration_ns(static_cast<double>(passed_ns))));
}

LaunchResult malformed_launch(const Error& error) {
  return failed_launch({.outcome = Outcome::kHarnessError,
                        .stage = Stage::kFetch,
                        .reason_code = "malformed_answer",
                        .text = "the worker's answer cannot be true: " + error.message});
}

}  // namespace

Result<LaunchResult> JobTarget::run(const LaunchRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto job, job_of(request));
  ASSAY_ASSIGN_OR_RETURN(const auto offered, find_or_offer(job));
  if (const auto answered = wait_for_answer(offered, job.limits); !answered) {
    folder_.withdraw(offered.id);
    is_lost_ = true;
    return std::unexpected(answered.error());
  }
  return take(offered, job, request);
}

void JobTarget::expect(const std::vector<LaunchRequest>& requests) {
  std::multimap<std::string, OfferedJob> wanted;
  for (const auto& request : requests) {
    const auto job = job_of(request);
    const auto offered = job ? find_or_offer(*job) : std::unexpected(job.error());
    if (!offered) {
      break;  // run() tells why.
    }
    wanted.emplace(digest_of_json(job->document()), *offered);
  }
  withdraw_named();
  named_ = std::move(wanted);
}

JobTarget::~JobTarget() { withdraw_named(); }

void JobTarget::withdraw_named() {
  for (const auto& [digest, offered] : named_) {
    folder_.withdraw(offered.id);
  }
  named_.clear();
}

Result<Job> JobTarget::job_of(const LaunchRequest& request) {
  if (const auto refused = find_refused_condition(request); !refused.empty()) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} does not work through a folder of jobs", refused));
  }
  Job job{.engine = request.build.reference(), .build_id = request.build.build_id};
  auto there = request;
  const stdfs::path folder(request.artifact.folder);
  there.artifact.folder = kProgramFolder;
  for (const auto& file : request.artifact.files) {
    if (file.role == kNamedRole) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(auto placed, file_at(fmt::format("{}/{}", kProgramFolder, file.name),
                                                folder / file.name, digests_));
    job.files.push_back(std::move(placed));
  }
  const auto bring = [&](std::string& file, const std::string& into) -> Status {
    const stdfs::path source(file);
    file = fmt::format("{}/{}", into, source.filename().string());
    ASSAY_ASSIGN_OR_RETURN(auto placed, file_at(file, source, digests_));
    job.files.push_back(std::move(placed));
    return {};
  };
  for (std::size_t i = 0; i < there.libraries.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(bring(there.libraries[i], fmt::format("libraries/{}", i)));
  }
  if (!there.inputs.file.empty()) {
    ASSAY_RETURN_IF_ERROR(bring(there.inputs.file, "inputs"));
  }
  const auto spawn = spawn_from_launch(there);
  job.env = spawn.env;
  job.cpus = spawn.cpus;
  job.limits = spawn.limits;
  job.frames = job_bytes(there);
  return job;
}

Result<JobTarget::OfferedJob> JobTarget::find_or_offer(const Job& job) {
  // Equal jobs have equal digests, and stand in the order in which they were offered.
  const auto [found, last] = named_.equal_range(digest_of_json(job.document()));
  if (found != last) {
    auto offered = std::move(found->second);
    named_.erase(found);
    return offered;
  }
  const auto offered_ns = monotonic_ns();
  ASSAY_ASSIGN_OR_RETURN(auto id, folder_.offer(job));
  return OfferedJob{.id = std::move(id), .offered_ns = offered_ns};
}

Status JobTarget::wait_for_answer(const OfferedJob& offered, const SpawnLimits& limits) {
  JobWatch watch(worker_, limits, monotonic_ns());
  while (true) {
    const auto state = folder_.state_of(offered.id);
    if (state == JobState::kAnswered) {
      return {};
    }
    const auto sign =
        state == JobState::kOpen ? folder_.last_work() : folder_.last_sign_of_life(offered.id);
    const auto fine = watch.check(state, sign, monotonic_ns());
    if (!fine) {
      const auto code = fine.error().code;
      const Error error{.code = code,
                        .message = fmt::format("device 'folder:{}': {}", folder_.path().string(),
                                               fine.error().message)};
      if (code == ErrorCode::kUnavailable) {
        options_.on_absence(error);
      }
      return std::unexpected(error);
    }
    if (!options_.keep_waiting()) {
      return fail(ErrorCode::kTimeout, "stopped while a job waited for its answer");
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

Result<LaunchResult> JobTarget::take(const OfferedJob& offered, const Job& job,
                                     const LaunchRequest& request) {
  auto answer = folder_.take_answer(offered.id, job.limits);
  if (!answer) {
    return malformed_launch(answer.error());
  }
  if (answer->refusal) {
    return std::unexpected(*answer->refusal);
  }
  auto& result = answer->result;
  if (const auto possible = check_wall(result, monotonic_ns() - offered.offered_ns); !possible) {
    return malformed_launch(possible.error());
  }
  if (request.sandbox == SandboxMode::kOn && !result.end.sandbox) {
    result.end.sandbox = SandboxReport{.mode = SandboxMode::kOn,
                                       .missing = {"all of it (the worker of a folder has none)"}};
  }
  return result_from_answer(result, request);
}

}  // namespace assay
