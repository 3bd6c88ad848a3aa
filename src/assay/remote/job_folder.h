#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/file_digests.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/spawn.h"
#include "assay/remote/job_worker.h"

namespace assay {

/// A file that a job needs.
struct JobFile {
  std::string path;              ///< Place in the folder in which the worker executes the job.
  std::filesystem::path source;  ///< Here.
  std::string sha256;
};

/// A process that a device without an agent is to make: assay-runner-NAME --job IN --out OUT.
struct Job {
  std::string engine;    ///< "executorch@1.5.1"
  std::string build_id;  ///< The build, as the worker described it.
  std::vector<JobFile> files;
  std::map<std::string, std::string> env;  ///< Added to the worker's own.
  std::vector<int> cpus;                   ///< Affinity; empty: all.
  SpawnLimits limits;
  std::vector<std::byte> frames;  ///< Content of IN. Its paths begin in the job's folder.

  /// The job's document without who asks for it: equal for equal work.
  [[nodiscard]] Json document() const;
};

enum class JobState : std::uint8_t { kOpen, kClaimed, kAnswered, kGone };

/// A worker's word on a job: how its process ended, or why there was none.
struct JobAnswer {
  SpawnResult result;
  std::optional<Error> refusal;
};

/// A folder through which jobs go to a device and answers come back: docs/contracts/jobs.md. Files
/// and folders appear whole, by renaming; several hosts may use one folder.
class JobFolder {
 public:
  explicit JobFolder(std::filesystem::path path) : path_(std::move(path)) {}

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Errors: kUnavailable where there is no device.json, with what to start; those of
  /// job_worker_from_json().
  [[nodiscard]] Result<JobWorker> read_worker() const;

  /// Puts a job there, its files by their digests, each once; one that is damaged there is put
  /// again. Returns its id; ids sort in the order of the calls. Errors: kUnavailable, kExhausted;
  /// kNotFound for a file that is not here; kCorrupt for one with another digest.
  [[nodiscard]] Result<std::string> offer(const Job& job) const;

  [[nodiscard]] JobState state_of(const std::string& id) const;

  /// Changes with each sign of life of a claimed job; nullopt: none yet.
  [[nodiscard]] std::optional<std::filesystem::file_time_type> last_sign_of_life(
      const std::string& id) const;

  /// Changes whenever the worker claims or answers a job, of whatever host, and with its signs of
  /// life; nullopt: none yet.
  [[nodiscard]] std::optional<std::filesystem::file_time_type> last_work() const;

  /// Reads the answer of an answered job and removes it. Errors: kCorrupt for an answer that is not
  /// whole, is of another job, or breaks the limit of its output.
  [[nodiscard]] Result<JobAnswer> take_answer(const std::string& id,
                                              const SpawnLimits& limits) const;

  /// Removes a job that nobody waits for any more; a worker that executes it drops its answer.
  void withdraw(const std::string& id) const;

  /// Removes the jobs of processes of this machine that ended without doing so. A container is a
  /// machine of its own here, whatever its host name is.
  void withdraw_orphans() const;

  /// Removes all jobs, answers and files; device.json stays. Errors: kUnavailable.
  [[nodiscard]] Status clear() const;

 private:
  [[nodiscard]] Result<JobAnswer> read_answer(const std::string& id,
                                              const SpawnLimits& limits) const;
  /// By way of another name: a worker sees the whole of it or nothing.
  void remove_from(const char* state, const std::string& id) const;
  /// Where this process makes what it shows whole.
  [[nodiscard]] std::filesystem::path staging() const;
  [[nodiscard]] Status put_blob(const JobFile& file) const;

  std::filesystem::path path_;
  std::shared_ptr<FileDigests> digests_ = std::make_shared<FileDigests>(std::filesystem::path());
};

}  // namespace assay
