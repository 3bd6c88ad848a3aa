#include "assay/remote/job_folder.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include "assay/base/digest.h"
#include "assay/base/enum_names.h"
#include "assay/base/error_code_names.h"  // IWYU pragma: keep
#include "assay/base/file_descriptor.h"
#include "assay/base/file_digests.h"
#include "assay/base/folders.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/base/uuid.h"
#include "assay/device/process_space.h"
#include "assay/record/spawn.h"
#include "assay/remote/job_worker.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr const char* kJobSchema = "assay/job/1";
constexpr const char* kAnswerSchema = "assay/job-answer/1";
constexpr const char* kOpenJobs = "jobs";
constexpr const char* kClaimedJobs = "claimed";
constexpr const char* kAnswers = "answers";
constexpr const char* kBlobs = "blobs";

bool is_there(const stdfs::path& path) {
  std::error_code error;
  return stdfs::exists(path, error);
}

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::unexpected<Error> fail_to_use(const stdfs::path& path, const std::error_code& error) {
  const auto code =
      error == std::errc::no_space_on_device ? ErrorCode::kExhausted : ErrorCode::kUnavailable;
  return fail(code, fmt::format("cannot write '{}': {}", path.string(), error.message()));
}

/// An id behind all that this process made before.
std::string next_id() {
  thread_local std::string last;
  auto id = make_uuid7();
  while (id <= last) {
    id = make_uuid7();
  }
  last = id;
  return id;
}

Json files_of(const Job& job) {
  Json files = Json::array();
  for (const auto& file : job.files) {
    files.push_back({{"path", file.path}, {"sha256", file.sha256}});
  }
  return files;
}

/// Errors: Json::exception.
JobAnswer answer_from_json(const Json& document) {
  if (const auto error = document.find("error"); error != document.end()) {
    const auto code = find_enum<ErrorCode>(error->at("code").get<std::string>());
    return {.result = {},
            .refusal =
                Error{.code = code.value_or(ErrorCode::kInternal),
                      .message = "the device: " +
                                 printable(capped_text(error->at("message").get<std::string>()))}};
  }
  auto result = document.get<SpawnResult>();
  result.end = document.at("end").get<ProcessEnd>();
  return {.result = std::move(result), .refusal = {}};
}

/// A name that tells of a process of this machine whether it is alive: ".desk-0123456789ab-4711".
std::string staging_name(pid_t process) {
  return fmt::format(".{}-{}-{}", host_name(), process_space(), process);
}

/// True if the process that asked for a job is one of this machine that has ended.
bool is_orphan(const stdfs::path& job) {
  const auto document = read_json_file(job / "job.json");
  if (!document || !document->is_object()) {
    return false;
  }
  const auto host = document->value("/host/name"_json_pointer, Json());
  const auto space = document->value("/host/space"_json_pointer, Json());
  const auto process = document->value("/host/process"_json_pointer, Json());
  return host == host_name() && space == process_space() && process.is_number_integer() &&
         !is_process_alive(process.get<pid_t>());
}

/// True if a folder is the staging of a process of this machine that has ended.
bool is_left_staging(const stdfs::path& folder) {
  const auto name = folder.filename().string();
  const auto digits = std::string_view(name).substr(name.rfind('-') + 1);
  pid_t process = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), process);
  return read.ec == std::errc() && name == staging_name(process) && !is_process_alive(process);
}

}  // namespace

Json Job::document() const {
  return {{"schema", kJobSchema},
          {"engine", engine},
          {"build_id", build_id},
          {"files", files_of(*this)},
          {"env", env},
          {"cpus", cpus},
          {"limits", limits},
          {"frames", {{"sha256", sha256_hex(text_of(frames))}, {"bytes", frames.size()}}}};
}

Result<JobWorker> JobFolder::read_worker() const {
  const auto file = path_ / "device.json";
  const auto document = read_json_file(file);
  if (!document) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("no worker has described itself in '{}' ({}); start one there, such as "
                            "tools/job_worker.py",
                            path_.string(), document.error().message));
  }
  auto worker = job_worker_from_json(*document);
  return worker ? worker
                : fail(worker.error().code,
                       fmt::format("'{}': {}", file.string(), worker.error().message));
}

Status JobFolder::put_blob(const JobFile& file) const {
  const auto blob = path_ / kBlobs / file.sha256;
  std::error_code error;
  const auto bytes = stdfs::file_size(file.source, error);
  if (error) {
    return fail(ErrorCode::kNotFound,
                fmt::format("cannot read '{}': {}", file.source.string(), error.message()));
  }
  if (is_there(blob) && stdfs::file_size(blob, error) == bytes &&
      digests_->digest_of(blob).value_or("") == file.sha256) {
    return {};
  }
  const auto part = staging() / file.sha256;
  stdfs::create_directories(blob.parent_path(), error);
  stdfs::create_directories(part.parent_path(), error);
  stdfs::copy_file(file.source, part, stdfs::copy_options::overwrite_existing, error);
  if (error) {
    return fail_to_use(blob, error);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto copied, sha256_hex_of_file(part));
  if (copied != file.sha256) {
    stdfs::remove(part, error);
    return fail(
        ErrorCode::kCorrupt,
        fmt::format("'{}' changed after its digest was made; start again", file.source.string()));
  }
  // The file is on the disk before it has its name: whoever loses its power keeps no empty file of
  // this name.
  const FileDescriptor written(::open(part.c_str(), O_RDONLY | O_CLOEXEC));
  ::fsync(written.get());
  stdfs::rename(part, blob, error);
  return error ? fail_to_use(blob, error) : Status();
}

Result<std::string> JobFolder::offer(const Job& job) const {
  for (const auto& file : job.files) {
    ASSAY_RETURN_IF_ERROR(put_blob(file));
  }
  auto id = next_id();
  auto document = job.document();
  document["job"] = id;
  document["host"] = {{"name", host_name()}, {"space", process_space()}, {"process", ::getpid()}};
  const auto part = staging() / id;
  ASSAY_RETURN_IF_ERROR(write_file_atomically(part / "frames", text_of(job.frames)));
  ASSAY_RETURN_IF_ERROR(write_file_atomically(part / "job.json", document.dump(2) + "\n"));
  std::error_code error;
  stdfs::create_directories(path_ / kOpenJobs, error);
  stdfs::rename(part, path_ / kOpenJobs / id, error);
  if (error) {
    return fail_to_use(part, error);
  }
  stdfs::remove(staging(), error);  // Empty now; the next job makes it again.
  return id;
}

stdfs::path JobFolder::staging() const { return path_ / staging_name(::getpid()); }

JobState JobFolder::state_of(const std::string& id) const {
  const auto answer = path_ / kAnswers / id / "answer.json";
  if (is_there(answer)) {
    return JobState::kAnswered;
  }
  if (is_there(path_ / kOpenJobs / id)) {
    return JobState::kOpen;
  }
  if (is_there(path_ / kClaimedJobs / id)) {
    return JobState::kClaimed;
  }
  return is_there(answer) ? JobState::kAnswered : JobState::kGone;
}

std::optional<stdfs::file_time_type> JobFolder::last_sign_of_life(const std::string& id) const {
  std::error_code error;
  const auto time = stdfs::last_write_time(path_ / kClaimedJobs / id / "alive", error);
  return error ? std::nullopt : std::optional(time);
}

std::optional<stdfs::file_time_type> JobFolder::last_work() const {
  std::optional<stdfs::file_time_type> last;
  const auto look_at = [&last](const stdfs::path& path) {
    std::error_code error;
    const auto time = stdfs::last_write_time(path, error);
    last = error ? last : std::max(last.value_or(time), time);
  };
  look_at(path_ / kClaimedJobs);
  for (const auto& job : folders_in(path_ / kClaimedJobs)) {
    look_at(job / "alive");
  }
  return last;
}

Result<JobAnswer> JobFolder::take_answer(const std::string& id, const SpawnLimits& limits) const {
  auto answer = read_answer(id, limits);
  remove_from(kAnswers, id);
  return answer;
}

Result<JobAnswer> JobFolder::read_answer(const std::string& id, const SpawnLimits& limits) const {
  const auto folder = path_ / kAnswers / id;
  const auto document = read_json_file(folder / "answer.json");
  if (!document || !document->is_object()) {
    return fail(ErrorCode::kCorrupt, document ? "it is no object" : document.error().message);
  }
  try {
    if (document->at("schema") != kAnswerSchema) {
      return fail(ErrorCode::kCorrupt, fmt::format("it has schema {}, this build reads {}",
                                                   document->at("schema").dump(), kAnswerSchema));
    }
    if (document->at("job") != id) {
      return fail(ErrorCode::kCorrupt, "it is of job " + document->at("job").dump());
    }
    auto answer = answer_from_json(*document);
    if (answer.refusal) {
      return answer;
    }
    ASSAY_ASSIGN_OR_RETURN(
        const auto output,
        read_file(folder / "output", static_cast<std::size_t>(limits.output_bytes)));
    if (document->at("output").at("sha256") != sha256_hex(output)) {
      return fail(ErrorCode::kCorrupt, "its output is not the one whose digest it tells");
    }
    const auto bytes = std::as_bytes(std::span(output));
    answer.result.output.assign(bytes.begin(), bytes.end());
    return answer;
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kCorrupt, error.what());
  }
}

void JobFolder::remove_from(const char* state, const std::string& id) const {
  const auto gone = path_ / state / (".gone-" + id);
  std::error_code error;
  stdfs::rename(path_ / state / id, gone, error);
  stdfs::remove_all(gone, error);
}

void JobFolder::withdraw(const std::string& id) const {
  for (const auto* state : {kOpenJobs, kClaimedJobs, kAnswers}) {
    remove_from(state, id);
  }
}

void JobFolder::withdraw_orphans() const {
  for (const auto& folder : folders_in(path_)) {
    if (is_left_staging(folder)) {
      std::error_code error;
      stdfs::remove_all(folder, error);
    }
  }
  for (const auto* state : {kOpenJobs, kClaimedJobs}) {
    for (const auto& job : folders_in(path_ / state)) {
      if (is_orphan(job)) {
        withdraw(job.filename().string());
      }
    }
  }
}

Status JobFolder::clear() const {
  withdraw_orphans();
  for (const auto* part : {kOpenJobs, kClaimedJobs, kAnswers, kBlobs}) {
    std::error_code error;
    stdfs::remove_all(path_ / part, error);
    if (error) {
      return fail_to_use(path_ / part, error);
    }
  }
  return {};
}

}  // namespace assay
