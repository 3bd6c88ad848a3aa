#include "features/fleet/run_on_fleet.h"

#include "features/compare/compare.h"
#include "features/fleet/executor.h"
#include "features/fleet/fleet_job.h"
#include "features/fleet/fleet_plan.h"

#include <chrono>
#include <cstddef>
#include <expected>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/listener.h"
#include "assay/campaign/run_context.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/job_execution.h"
#include "assay/record/lost_execution.h"
#include "assay/store/lost_executions.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

constexpr std::chrono::milliseconds kPatience{500};

/// A job without a result.
struct WaitingJob {
  FleetJob job;
  std::string device;  ///< Device that executes it; empty: none yet, or unknown.
  int lost = 0;        ///< Tries that were lost while this driver waited.
};

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
      waiting_.emplace(job.id, WaitingJob{.job = job});
    }
    auto status = submit_all(jobs);
    if (status) {
      status = wait_for_all();
    }
    // A signal to the whole group may have ended or interrupted the executor's own process.
    end_.is_stopped = !waiting_.empty() && listener().should_stop();
    if (!status && !end_.is_stopped) {
      return std::unexpected(status.error());
    }
    if (!status) {
      log_line(LogLevel::kDebug, status.error().message);
    }
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
    ASSAY_ASSIGN_OR_RETURN(const auto lost, lost_executions_of_run(store_, run_id()));
    for (const auto& one : lost) {
      lost_.emplace(one.job, one.n, one.device);
    }
    return {};
  }

  /// An earlier driver may have lost tries of it, which are none of this driver's.
  Status submit(WaitingJob& waiting) {
    while (true) {
      ASSAY_ASSIGN_OR_RETURN(const auto submission, tools_.executor.submit(waiting.job));
      if (submission != Submission::kLostBefore) {
        return {};
      }
      ++waiting.job.n;
    }
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

  Status submit_all(const std::vector<FleetJob>& jobs) {
    for (const auto& job : jobs) {
      ASSAY_RETURN_IF_ERROR(submit(waiting_.at(job.id)));
    }
    return {};
  }

  Status wait_for_all() {
    while (!waiting_.empty() && !listener().should_stop()) {
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
      case FleetEvent::Kind::kSilent:
        return note_silent(event);
      case FleetEvent::Kind::kLost:
        return try_again(event);
      case FleetEvent::Kind::kCancelled:
        give_up(event);
        return {};
    }
    return {};
  }

  void tell_start(const FleetEvent& event) {
    const auto found = waiting_.find(event.job);
    if (found != waiting_.end()) {
      found->second.device = event.device;
      listener().on_step_started(label_on(found->second.job, event.device), "");
    }
  }

  static std::string label_on(const FleetJob& job, const std::string& device) {
    return job.label + (device.empty() ? "" : " on " + device);
  }

  /// The try that the event is about; null if it has a result, or a later try.
  WaitingJob* find_try(const FleetEvent& event) {
    const auto found = waiting_.find(event.job);
    return found == waiting_.end() || found->second.job.n != event.n ? nullptr : &found->second;
  }

  Status note_silent(const FleetEvent& event) {
    auto* const waiting = find_try(event);
    if (waiting == nullptr) {
      return {};
    }
    listener().on_note(fmt::format("{} was lost while it executed {} ({}); another device takes it",
                                   event.device, waiting->job.label, event.why));
    return keep_lost(waiting->job, event.device, event.why);
  }

  /// Once, whoever told it.
  Status keep_lost(const FleetJob& job, const std::string& device, const std::string& why) {
    if (!lost_.emplace(job.id, job.n, device).second) {
      return {};
    }
    listener().on_step_finished(label_on(job, device), Outcome::kSkipped, why);
    LostExecution lost{.job = job.id,
                       .n = job.n,
                       .label = job.label,
                       .device = device,
                       .why = why,
                       .lost_unix_ns = unix_time_ns()};
    for (const auto& cell : job.cases) {
      lost.cases.push_back(case_key(cell));
    }
    return add_lost_execution(store_, run_id(), lost);
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
    listener().on_step_finished(label_on(node.mapped().job, execution.device), Outcome::kCompleted,
                                "");
    listener().on_progress(progress_);
  }

  /// Another try, until there were enough.
  Status try_again(const FleetEvent& event) {
    auto* const waiting = find_try(event);
    if (waiting == nullptr) {
      return {};
    }
    auto& job = waiting->job;
    const auto device = event.device.empty() ? waiting->device : event.device;
    listener().on_note(fmt::format("{}: try {} was lost{}: {}", job.label, job.n + 1,
                                   device.empty() ? "" : " on " + device, event.why));
    ASSAY_RETURN_IF_ERROR(keep_lost(job, device, event.why));
    if (++waiting->lost >= request_.most_tries) {
      end_.open.push_back({.label = job.label, .why = event.why});
      waiting_.erase(event.job);
      return {};
    }
    ++job.n;
    waiting->device.clear();
    return submit(*waiting);
  }

  /// Nobody will execute it; --resume submits it again.
  void give_up(const FleetEvent& event) {
    if (const auto* waiting = find_try(event); waiting != nullptr) {
      end_.open.push_back(
          {.label = waiting->job.label, .why = "it was taken back with assay fleet cancel"});
      waiting_.erase(event.job);
    }
  }

  const FleetRequest& request_;
  const FleetTools& tools_;
  ResultStore& store_;
  std::set<std::string> done_;                 ///< Ids of jobs that have a result.
  std::map<std::string, WaitingJob> waiting_;  ///< Keyed by id.
  /// Job, try and device of what the store has as lost.
  std::set<std::tuple<std::string, int, std::string>> lost_;
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
