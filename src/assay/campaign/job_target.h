#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "assay/base/file_digests.h"
#include "assay/base/result.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/launch_target.h"
#include "assay/remote/job_folder.h"
#include "assay/remote/job_worker.h"

namespace assay {

/// Runs launches on a device without an agent: writes each as a job into a folder, and waits for
/// the worker's answer.
class JobTarget final : public LaunchTarget {
 public:
  struct Options {
    std::function<bool()> keep_waiting;            ///< Asked while a job is not answered.
    std::function<void(const Error&)> on_absence;  ///< No worker takes jobs.
  };

  /// `worker` outlives it.
  JobTarget(JobFolder folder, const JobWorker& worker, Options options)
      : folder_(std::move(folder)), worker_(worker), options_(std::move(options)) {}
  JobTarget(const JobTarget&) = delete;
  JobTarget& operator=(const JobTarget&) = delete;
  /// Withdraws the jobs that were named and not run.
  ~JobTarget() override;

  /// Errors: kUnsupported for conditions that a worker does not make; those of JobFolder::offer;
  /// what the worker says where it refuses the job; those of JobWatch, after which the target is
  /// lost; kTimeout when it is to stop.
  Result<LaunchResult> run(const LaunchRequest& request) override;
  bool is_alive() override { return !is_lost_; }
  [[nodiscard]] bool has_link() const override { return true; }
  [[nodiscard]] bool has_queue() const override { return true; }
  void expect(const std::vector<LaunchRequest>& requests) override;

 private:
  struct OfferedJob {
    std::string id;
    std::int64_t offered_ns = 0;
  };

  Result<Job> job_of(const LaunchRequest& request);
  /// The job's place in the folder, in which it may be since it was named.
  Result<OfferedJob> find_or_offer(const Job& job);
  void withdraw_named();
  Status wait_for_answer(const OfferedJob& offered, const SpawnLimits& limits);
  Result<LaunchResult> take(const OfferedJob& offered, const Job& job,
                            const LaunchRequest& request);

  JobFolder folder_;
  const JobWorker& worker_;
  Options options_;
  FileDigests digests_{{}};                       ///< Cached for this process only.
  std::multimap<std::string, OfferedJob> named_;  ///< Keyed by the digest of the job's document.
  bool is_lost_ = false;
};

}  // namespace assay
