#include "features/fleet/execute_job.h"

#include "features/compare/compare.h"
#include "features/compare/comparison_request.h"
#include "features/fleet/artifact_store.h"
#include "features/fleet/fleet_job.h"
#include "features/fleet/job_builds.h"
#include "features/fleet/job_files.h"

#include <algorithm>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/preparation.h"
#include "assay/campaign/remote_target.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/case_id.h"
#include "assay/record/job_execution.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/store/result_store.h"
#include "assay/store/store_files.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

const EngineBuild* find_build(const std::vector<EngineBuild>& builds, const EngineBuild& wanted) {
  const auto found = std::ranges::find_if(builds, [&](const EngineBuild& build) {
    return build.reference() == wanted.reference() && build.build_id == wanted.build_id;
  });
  return found == builds.end() ? nullptr : &*found;
}

/// The builds of the device that the job is for: the extra cases that they give are the driver's.
std::vector<EngineBuild> builds_of_job(const FleetJob& job, const WorkingDevice& device) {
  std::vector<EngineBuild> builds;
  for (const auto& wanted : job.builds) {
    if (const auto* build = find_build(device.builds, wanted)) {
      builds.push_back(*build);
    }
  }
  return builds;
}

/// The job's cases are this device's.
CampaignRequest request_from_job(const FleetJob& job, const WorkingDevice& device,
                                 const JobExecution& execution) {
  CampaignRequest request{.context = {.run = job.run,
                                      .device = device.name,
                                      .environment = device.environment,
                                      .builds = builds_of_job(job, device),
                                      .settings = job.settings},
                          .cases = job.cases,
                          .finishes_run = false,
                          .n = job.attempt,
                          .worker = execution.id};
  request.context.settings.meter = device.meter;
  for (auto& cell : request.cases) {
    cell.device = device.name;
  }
  return request;
}

/// Hands out what the driver made, once it was brought here.
class JobPreparation {
 public:
  JobPreparation(const FleetJob& job, const CampaignRequest& request, ResultStore& store)
      : job_(job), request_(request), store_(store) {}

  Status bring(const WorkerTools& tools) {
    for (auto prepared : job_.prepared) {
      const auto id = id_of(prepared.cell);
      ASSAY_RETURN_IF_ERROR(get_files(prepared, tools.artifacts, tools.cache));
      brought_.emplace(id, std::move(prepared));
    }
    return {};
  }

  Result<std::vector<PreparedCase>> hand_out(const std::vector<Case>& cases) {
    std::vector<PreparedCase> prepared;
    for (const auto& cell : cases) {
      const auto found = brought_.find(id_of(cell));
      if (found == brought_.end()) {
        return fail(ErrorCode::kCorrupt,
                    fmt::format("the job has nothing for its case {}; use one version of assay for "
                                "the driver and its workers",
                                label_of(cell)));
      }
      auto one = found->second;
      one.cell.device = request_.context.device;
      complete(one);
      ASSAY_RETURN_IF_ERROR(store_prepared(store_, request_.context.run.id, one));
      prepared.push_back(std::move(one));
    }
    return prepared;
  }

 private:
  static CaseId id_of(const Case& cell) {
    auto id = case_id_from(cell);
    id.device.clear();
    return id;
  }

  /// The build is that of this device.
  void complete(PreparedCase& prepared) const {
    const auto& builds = request_.context.builds;
    const auto found =
        std::ranges::find(builds, prepared.cell.engine_build, &EngineBuild::reference);
    prepared.build = found == builds.end() ? EngineBuild{.name = prepared.cell.engine} : *found;
    if (prepared.pieces) {
      auto pieces = *prepared.pieces;
      pieces.build = prepared.build;
      pieces.cell.device = prepared.cell.device;
      prepared.pieces = std::make_shared<const PreparedCase>(std::move(pieces));
    }
  }

  const FleetJob& job_;
  const CampaignRequest& request_;
  ResultStore& store_;
  std::map<CaseId, PreparedCase> brought_;
};

/// The device may be at fault.
bool has_failed(const Attempt& attempt) {
  return attempt.outcome != Outcome::kCompleted && attempt.outcome != Outcome::kUnsupported &&
         attempt.outcome != Outcome::kSkipped;
}

/// A device whose gate stayed shut measured nothing, and what one that does not work measured says
/// nothing of the cases; another one may. Errors: kUnavailable.
Status check_was_well(const WorkingDevice& device, ResultStore& store, const std::string& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto attempts, store.attempts_of_run(run));
  const auto found = std::ranges::find(attempts, kDeviceNotReady, &Attempt::reason_code);
  if (found != attempts.end()) {
    return fail(ErrorCode::kUnavailable, found->text);
  }
  return device.check_health && std::ranges::any_of(attempts, has_failed) ? device.check_health()
                                                                          : Status();
}

/// The cases as a campaign, or as both sides of a comparison.
Status run_cases(const FleetJob& job, const CampaignRequest& request, const CampaignTools& tools) {
  if (!job.comparison) {
    return run_campaign(request, tools);
  }
  if (request.cases.size() != 2) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("job {} is a comparison of {} cases; a comparison has two sides",
                            job.id, request.cases.size()));
  }
  const ComparisonRequest sides{.context = request.context,
                                .a = request.cases.front(),
                                .b = request.cases.back(),
                                .finishes_run = request.finishes_run,
                                .worker = request.worker};
  const auto comparison = run_comparison(sides, *job.comparison, tools);
  return comparison ? Status() : std::unexpected(comparison.error());
}

Status run_job(const FleetJob& job, const WorkingDevice& device, const WorkerTools& tools,
               JobExecution& execution, ResultStore& store) {
  const auto request = request_from_job(job, device, execution);
  JobPreparation preparation(job, request, store);
  ASSAY_RETURN_IF_ERROR(preparation.bring(tools));
  ASSAY_RETURN_IF_ERROR(store.add_environment(job.described));
  const CampaignTools campaign{
      .store = store,
      .cache = tools.cache,
      .toolchain_of = {},
      .connect_target = device.connect,
      .lock_device = device.lock,
      .listener = tools.listener,
      .prepare = [&](const std::vector<Case>& cases) { return preparation.hand_out(cases); }};
  ASSAY_RETURN_IF_ERROR(run_cases(job, request, campaign));
  ASSAY_RETURN_IF_ERROR(check_was_well(device, store, job.run.id));
  ASSAY_RETURN_IF_ERROR(store.add_run_device(job.run.id, device.name, device.environment));
  execution.finished_unix_ns = unix_time_ns();
  return store.add_execution(execution);
}

/// The device with the builds that the job brings, in place of its own of that reference.
Result<WorkingDevice> equip(WorkingDevice device, const FleetJob& job, BroughtBuilds& brought,
                            ArtifactStore& artifacts) {
  for (const auto& build : job.brought) {
    ASSAY_ASSIGN_OR_RETURN(auto added, brought.bring(build, artifacts));
    std::erase_if(device.builds,
                  [&](const EngineBuild& own) { return own.reference() == added.reference(); });
    device.builds.push_back(std::move(added));
  }
  return device;
}

/// Gives the part its place, where nothing that lies there is replaced.
Result<stdfs::path> show_part(const stdfs::path& part, const stdfs::path& out,
                              const std::string& execution) {
  std::error_code error;
  auto place = out;
  stdfs::create_hard_link(part, place, error);
  if (error == std::errc::file_exists) {
    place = out.parent_path() /
            fmt::format("{}-{}{}", out.stem().string(), execution, out.extension().string());
    stdfs::create_hard_link(part, place, error);
  }
  if (error) {  // A file system without links.
    stdfs::rename(part, place, error);
  }
  if (error) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot write '{}': {}", place.string(), error.message()));
  }
  stdfs::remove(part, error);
  return place;
}

}  // namespace

Status check_can_execute(const FleetJob& job, const WorkingDevice& device) {
  if (!job.device.name.empty() && job.device.name != device.name) {
    return fail(ErrorCode::kUnsupported, fmt::format("job {} is for device '{}', this is '{}'",
                                                     job.id, job.device.name, device.name));
  }
  if (job.device.device_class != device.environment.device_class) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("job {} is for class {}, and device '{}' is {}", job.id,
                            job.device.device_class, device.name, device.environment.device_class));
  }
  for (const auto& wanted : job.builds) {
    const bool is_brought = std::ranges::find(job.brought, wanted.reference(),
                                              &JobBuild::reference) != job.brought.end();
    if (is_brought && device.home.empty()) {
      return fail(
          ErrorCode::kUnsupported,
          fmt::format("job {} brings {}, which only the host itself can execute, and device "
                      "'{}' is behind it",
                      job.id, wanted.reference(), device.name));
    }
    if (!is_brought && find_build(device.builds, wanted) == nullptr) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("job {} needs {} with build id {}, which device '{}' does not have; "
                              "install the same build on all devices of a class",
                              job.id, wanted.reference(), wanted.build_id, device.name));
    }
  }
  return {};
}

Result<stdfs::path> execute_job(const FleetJob& job, const WorkingDevice& device,
                                const WorkerTools& tools, const stdfs::path& out) {
  ASSAY_RETURN_IF_ERROR(check_can_execute(job, device));
  BroughtBuilds brought(device.home);
  ASSAY_ASSIGN_OR_RETURN(const auto equipped, equip(device, job, brought, tools.artifacts));
  JobExecution execution{.id = make_uuid7(),
                         .run = job.run.id,
                         .job = job.id,
                         .n = job.n,
                         .worker = tools.worker,
                         .device = device.name,
                         .started_unix_ns = unix_time_ns()};
  // Beside its place, so that it can be moved there.
  const auto part = out.parent_path() / fmt::format(".{}.db", execution.id);
  Status status;
  {
    ASSAY_ASSIGN_OR_RETURN(const auto store, open_sqlite_store(part));
    status = run_job(job, equipped, tools, execution, *store);
  }
  if (!status) {
    remove_store_files(part);
    return std::unexpected(std::move(status).error());
  }
  std::error_code ignored;
  stdfs::remove(part.string() + "-runs", ignored);
  return show_part(part, out, execution.id);
}

}  // namespace assay
