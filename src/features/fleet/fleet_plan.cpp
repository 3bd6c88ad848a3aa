#include "features/fleet/fleet_plan.h"

#include "features/compare/side_runner.h"
#include "features/fleet/artifact_store.h"
#include "features/fleet/fleet_job.h"
#include "features/fleet/job_builds.h"
#include "features/fleet/job_files.h"
#include "features/fleet/run_on_fleet.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/expected_duration.h"
#include "assay/campaign/extra_cases.h"
#include "assay/campaign/preparation.h"
#include "assay/campaign/run_context.h"
#include "assay/record/case.h"
#include "assay/record/case_id.h"
#include "assay/record/subject.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

/// A campaign of some of the cases, as a job makes it.
CampaignRequest campaign_of(const CampaignRequest& all, const std::vector<Case>& cases) {
  auto one = all;
  one.cases = cases;
  return one;
}

std::vector<Case> with_extra_cases(const CampaignRequest& one) {
  auto cases = one.cases;
  for (auto& extra : extra_cases_of(one)) {
    cases.push_back(std::move(extra.cell));
  }
  return cases;
}

/// Everything once, however many jobs need it.
class PreparedCases {
 public:
  Status prepare(const FleetGroup& group, const CampaignTools& tools) {
    const auto& request = group.campaign;
    std::set<CaseId> ids;
    std::vector<Case> cases;
    for (const auto& together : group.cases_of_jobs()) {
      for (auto& needed : with_extra_cases(campaign_of(request, together))) {
        if (ids.insert(case_id_from(needed)).second) {
          cases.push_back(std::move(needed));
        }
      }
    }
    ASSAY_ASSIGN_OR_RETURN(auto prepared, prepare_cases(request.context, cases, tools));
    for (auto& one : prepared) {
      auto id = case_id_from(one.cell);
      by_id_.emplace(std::move(id), std::move(one));
    }
    return {};
  }

  [[nodiscard]] const PreparedCase& get(const Case& cell) const {
    return by_id_.at(case_id_from(cell));
  }

 private:
  std::map<CaseId, PreparedCase> by_id_;
};

bool is_used(const EngineBuild& build, const std::vector<PreparedCase>& prepared) {
  return std::ranges::any_of(prepared, [&](const PreparedCase& one) {
    return one.cell.engine_build == build.reference();
  });
}

std::string label_of_job(const FleetGroup& group, const std::vector<Case>& cases) {
  const auto first = label_of(cases.front());
  if (group.comparison) {
    return fmt::format("{} against {}", label_of(cases.back()), first);
  }
  return cases.size() == 1 ? first : fmt::format("{} on {} builds", first, cases.size());
}

/// The builds of a job with those of them that it brings, whose files are put into the store.
Status add_builds(const FleetRequest& request, const RunContext& context, ArtifactStore& artifacts,
                  std::set<std::string>& known, FleetJob& job) {
  for (const auto& build : context.builds) {
    if (!is_used(build, job.prepared)) {
      continue;
    }
    job.builds.push_back(build);
    ASSAY_ASSIGN_OR_RETURN(auto brought, find_job_build(build, request.home));
    if (brought) {
      ASSAY_RETURN_IF_ERROR(put_build(*brought, artifacts, known));
      job.brought.push_back(*std::move(brought));
    }
  }
  return {};
}

FleetJob job_of_cases(const FleetRequest& request, const FleetGroup& group,
                      const std::vector<Case>& cases, const PreparedCases& prepared) {
  const auto one = campaign_of(group.campaign, cases);
  const auto& context = one.context;
  FleetJob job{.id = job_id_of(context.run.id, group.device, one.cases, one.n),
               .run = context.run,
               .described = context.environment,
               .device = group.device,
               .cases = one.cases,
               .comparison = group.comparison,
               .attempt = one.n,
               .settings = context.settings,
               .artifact_store = request.artifact_store,
               .deadline_ns = request.job_deadline_ns,
               .label = label_of_job(group, cases)};
  for (const auto& needed : with_extra_cases(one)) {
    job.prepared.push_back(prepared.get(needed));
  }
  return job;
}

Result<std::int64_t> expected_ns_of(const FleetJob& job, ResultStore& store) {
  if (job.comparison) {
    return expected_comparison_ns(store, job.cases, *job.comparison);
  }
  std::int64_t sum_ns = 0;
  for (const auto& cell : job.cases) {
    ASSAY_ASSIGN_OR_RETURN(const auto ns, expected_duration_ns(store, cell, job.settings));
    sum_ns += ns;
  }
  return sum_ns;
}

/// Orders by time; jobs of equal or unknown time have a fixed order.
std::pair<std::int64_t, std::string> place_in_order(const FleetJob& job) {
  constexpr auto kUnknown = std::numeric_limits<std::int64_t>::max();
  return {job.expected_ns == 0 ? kUnknown : job.expected_ns, job.id};
}

}  // namespace

Result<std::vector<FleetJob>> plan_jobs(const FleetRequest& request, const FleetTools& tools) {
  std::vector<FleetJob> jobs;
  std::set<std::string> known;
  for (const auto& group : request.groups) {
    PreparedCases prepared;
    ASSAY_RETURN_IF_ERROR(prepared.prepare(group, tools.campaign));
    for (const auto& cases : group.cases_of_jobs()) {
      auto& job = jobs.emplace_back(job_of_cases(request, group, cases, prepared));
      ASSAY_ASSIGN_OR_RETURN(job.expected_ns, expected_ns_of(job, tools.campaign.store));
      ASSAY_RETURN_IF_ERROR(
          add_builds(request, group.campaign.context, tools.artifacts, known, job));
      for (const auto& one : job.prepared) {
        if (job.comparison) {
          ASSAY_RETURN_IF_ERROR(check_has_program(one));
        }
        ASSAY_RETURN_IF_ERROR(put_files(one, tools.artifacts, known));
      }
    }
  }
  std::ranges::sort(jobs, std::ranges::greater(), place_in_order);
  return jobs;
}

}  // namespace assay
