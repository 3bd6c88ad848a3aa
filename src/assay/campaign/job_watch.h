#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "assay/base/result.h"
#include "assay/record/spawn.h"
#include "assay/remote/job_folder.h"
#include "assay/remote/job_worker.h"

namespace assay {

/// Decides when a job that was not answered is lost. Pure: the caller brings the time.
class JobWatch {
 public:
  using SignOfLife = std::optional<std::filesystem::file_time_type>;

  JobWatch(const JobWorker& worker, const SpawnLimits& limits, std::int64_t now_ns);

  /// Takes what the folder shows now. `sign`: of an open job that of any work of the worker
  /// (JobFolder::last_work), of a claimed one its own. Errors: kUnavailable where no worker claims
  /// the job in time; kCrashed where one did and gives no sign of life or no answer in time, or the
  /// job is gone.
  Status check(JobState state, SignOfLife sign, std::int64_t now_ns);

 private:
  [[nodiscard]] std::int64_t allowed_ns() const;
  [[nodiscard]] Error loss(std::int64_t waited_ns) const;

  const JobWorker& worker_;
  std::int64_t limit_ns_;
  JobState state_ = JobState::kOpen;
  std::int64_t since_ns_;  ///< When it came into that state.
  SignOfLife sign_;
  std::int64_t sign_ns_;  ///< When the last sign of life came.
};

}  // namespace assay
