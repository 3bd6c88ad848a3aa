#include "assay/fleet/run_on_fleet.h"

#include <chrono>
#include <cstddef>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/listener.h"
#include "assay/campaign/run_context.h"
#include "assay/compare/compare.h"
#include "assay/fleet/executor.h"
#include "assay/fleet/fleet_job.h"
#include "assay/fleet/fleet_plan.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/job_execution.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

constexpr std::chrono::milliseconds kPatience{500};

/// The driver of one run.
class Drive {
 public:
  Drive(const FleetRequest& request, const FleetTools& tools)
      : request_(request), tools_(tools), store_(tools.campaign.store) {}

  Result<FleetEnd> run() {
    ASSAY_RETURN_IF_ERROR(open_run());
    ASSAY_RETURN_IF_ERROR(read_done());
    auto open = request_;
    for (auto& group : open.groups) {
      erase_done(group);
    }
    ASSAY_ASSIGN_OR_RETURN(const auto jobs, plan_jobs(open, tools_));
    progress_ = {.done = 0, .total = static_cast<int>(jobs.size())};
    listener().on_phase("fleet", "case", progress_);
    for (const auto& job : jobs) {
      ASSAY_RETURN_IF_ERROR(tools_.executor.submit(job));
      waiting_.emplace(job.id, job);
    }
    ASSAY_RETURN_IF_ERROR(wait_for_all());
    end_.waiting = static_cast<int>(waiting_.size());
    if (waiting_.empty() && end_.open.empty() && request_.groups.front().campaign.finishes_run) {
      ASSAY_RETURN_IF_ERROR(store_.finish_run(run_id(), unix_time_ns()));
    }
    return std::move(end_);
  }

 private:
  CampaignListener& listener() { return tools_.campaign.listener; }
  [[nodiscard]] const RunContext& context() const {
    return request_.groups.front().campaign.context;
  }
  [[nodiscard]] const std::string& run_id() const { return context().run.id; }

  Status open_run() {
    ASSAY_RETURN_IF_ERROR(store_.add_environment(context().environment));
    if (context().is_resumed) {
      return store_.claim_run(run_id());
    }
    ASSAY_RETURN_IF_ERROR(store_.add_run(context().run));
    for (const auto& group : request_.groups) {
      if (group.comparison) {
        ASSAY_RETURN_IF_ERROR(
            store_.put_comparison(planned_comparison(group.campaign, *group.comparison)));
      }
    }
    return {};
  }

  /// Its launches are those of the device that makes it; the plan is kept for `is_resumed`.
  static Comparison planned_comparison(const CampaignRequest& sides, const ComparisonPlan& plan) {
    return new_comparison(
        {.context = sides.context, .a = sides.cases.front(), .b = sides.cases.back()}, plan);
  }

  /// A driver that died may have merged a part that it did not accept.
  Status read_done() {
    ASSAY_ASSIGN_OR_RETURN(const auto executions, store_.executions_of_run(run_id()));
    for (const auto& execution : executions) {
      if (execution.is_counted && execution.accepted_unix_ns == 0) {
        ASSAY_ASSIGN_OR_RETURN([[maybe_unused]] const bool counts,
                               store_.accept_execution(execution.id));
      }
      done_.insert(execution.job);
    }
    return {};
  }

  void erase_done(FleetGroup& group) const {
    std::vector<Case> open;
    for (const auto& cases : group.cases_of_jobs()) {
      if (!done_.contains(job_id_of(run_id(), group.device, cases, group.campaign.n))) {
        open.insert(open.end(), cases.begin(), cases.end());
      }
    }
    group.campaign.cases = std::move(open);
  }

  Status wait_for_all() {
    while (!waiting_.empty()) {
      if (listener().should_stop()) {
        end_.is_stopped = true;
        return {};
      }
      listener().on_wait();
      ASSAY_ASSIGN_OR_RETURN(const auto event, tools_.executor.next(kPatience));
      if (event) {
        ASSAY_RETURN_IF_ERROR(hear(*event));
      }
    }
    return {};
  }

  Status hear(const FleetEvent& event) {
    switch (event.kind) {
      case FleetEvent::Kind::kStarted:
        tell_start(event);
        return {};
      case FleetEvent::Kind::kDone:
        return take_in(event);
      case FleetEvent::Kind::kLost:
        return try_again(event);
    }
    return {};
  }

  void tell_start(const FleetEvent& event) {
    const auto found = waiting_.find(event.job);
    if (found != waiting_.end()) {
      listener().on_step_started(
          found->second.label + (event.device.empty() ? "" : " on " + event.device), "");
    }
  }

  Status take_in(const FleetEvent& event) {
    auto executions = take_in_part(event.part, store_);
    if (!executions) {
      return fail_with_context(std::move(executions).error(),
                               fmt::format("taking in '{}'", event.part.string()));
    }
    for (const auto& execution : *executions) {
      end_.late += execution.is_counted ? 0 : 1;
      close_job(execution);
    }
    return tools_.executor.forget(event.part);
  }

  void close_job(const JobExecution& execution) {
    const auto node = waiting_.extract(execution.job);
    if (node.empty()) {
      return;
    }
    ++progress_.done;
    listener().on_step_finished(fmt::format("{} on {}", node.mapped().label, execution.device),
                                Outcome::kCompleted, "");
    listener().on_progress(progress_);
  }

  /// Another try, until there were enough.
  Status try_again(const FleetEvent& event) {
    const auto found = waiting_.find(event.job);
    if (found == waiting_.end() || found->second.n != event.n) {
      return {};  // It has a result, or a later try.
    }
    auto& job = found->second;
    listener().on_note(fmt::format("{}: try {} was lost: {}", job.label, job.n + 1, event.why));
    if (job.n + 1 >= request_.most_tries) {
      end_.open.push_back({.label = job.label, .why = event.why});
      waiting_.erase(found);
      return {};
    }
    ++job.n;
    return tools_.executor.submit(job);
  }

  const FleetRequest& request_;
  const FleetTools& tools_;
  ResultStore& store_;
  std::set<std::string> done_;               ///< Ids of jobs that have a result.
  std::map<std::string, FleetJob> waiting_;  ///< By id.
  PhaseProgress progress_;
  FleetEnd end_;
};

}  // namespace

std::vector<std::vector<Case>> FleetGroup::cases_of_jobs() const {
  if (comparison && !campaign.cases.empty()) {
    return {campaign.cases};
  }
  std::vector<std::vector<Case>> jobs;
  std::map<std::string, std::size_t> places;  ///< In `jobs`, by the key of their cases.
  for (const auto& cell : campaign.cases) {
    const auto [place, is_new] = places.emplace(case_key(cell), jobs.size());
    if (is_new) {
      jobs.emplace_back();
    }
    jobs[place->second].push_back(cell);
  }
  return jobs;
}

Result<FleetEnd> run_on_fleet(const FleetRequest& request, const FleetTools& tools) {
  return Drive(request, tools).run();
}

}  // namespace assay
