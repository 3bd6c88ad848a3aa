#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "assay/base/result.h"
#include "assay/campaign/launch_target.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/run.h"
#include "assay/remote/job_folder.h"
#include "assay/remote/job_worker.h"

namespace assay {

/// A device without an agent as campaigns use it: what its worker tells of it, and targets that
/// send it jobs through a folder. Not thread-safe.
class JobDevice {
 public:
  /// Errors: those of JobFolder::read_worker(); kUnavailable for a malformed description of an
  /// engine.
  static Result<std::unique_ptr<JobDevice>> open(const std::filesystem::path& folder);

  [[nodiscard]] const Environment& environment() const { return worker_.environment; }
  [[nodiscard]] const InstalledBuilds& installed() const { return installed_; }
  /// Class that its first engine reports; empty: it has no engine.
  [[nodiscard]] std::string triple() const;

  /// A target, which must not outlive this. Errors: kUnavailable once no worker took a job.
  Result<std::unique_ptr<LaunchTarget>> connect(std::function<bool()> keep_waiting);

 private:
  JobDevice(JobFolder folder, JobWorker worker)
      : folder_(std::move(folder)), worker_(std::move(worker)) {}

  JobFolder folder_;
  JobWorker worker_;
  InstalledBuilds installed_;
  std::optional<Error> absence_;
};

}  // namespace assay
