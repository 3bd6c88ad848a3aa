#include "assay/campaign/device_campaign.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/campaign/attempts.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/case_launch.h"
#include "assay/campaign/engine_reference.h"
#include "assay/campaign/evaluation.h"
#include "assay/campaign/extra_cases.h"
#include "assay/campaign/iterations.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/launch_conditions.h"
#include "assay/campaign/launch_schedule.h"
#include "assay/campaign/launcher.h"
#include "assay/campaign/listener.h"
#include "assay/campaign/preparation.h"
#include "assay/campaign/stopping.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/conclusion.h"

namespace assay {
namespace {

constexpr int kRepeats = 2;  ///< Executions of each sample, to detect nondeterminism.
constexpr int kMostIterations = 10;
constexpr std::int64_t kObserveBudgetNs = 5'000'000'000;

/// An evaluation that waits for the reference of another case.
struct DeferredEvaluation {
  std::size_t cell = 0;
  LaunchResult result;
  AttemptState* state = nullptr;
};

/// The request, and what was found out so far.
class CampaignUnderWay final : public DeviceCampaign {
 public:
  CampaignUnderWay(CampaignRequest request, const CampaignTools& tools, TemporaryFolder jobs,
                   std::shared_ptr<LaunchOrder> order)
      : request_(std::move(request)),
        tools_(tools),
        attempts_({.run = request_.context.run.id,
                   .device = request_.context.device,
                   .n = request_.n,
                   .worker = request_.worker},
                  request_.context.settings.launches, tools.store, std::move(order)),
        launcher_(tools, request_.context.device),
        jobs_(std::move(jobs)) {
    wanted_ = request_.cases.size();
    for (auto& extra : extra_cases_of(request_)) {
      request_.cases.push_back(std::move(extra.cell));
      refusals_[request_.cases.size() - 1] = std::move(extra.refusal);
    }
  }

  Status list() override {
    for (const auto& cell : request_.cases) {
      ASSAY_RETURN_IF_ERROR(tools_.store.add_case(request_.context.run.id, cell));
    }
    return {};
  }

  Status prepare() override {
    ASSAY_ASSIGN_OR_RETURN(prepared_, prepare_cases(request_.context, request_.cases, tools_));
    references_ =
        EngineReferences(prepared_, request_.context.settings.against, request_.context.builds);
    return {};
  }

  Status execute() override {
    Status status;
    {
      const auto lock = tools_.lock_device();
      status = lock ? execute_locked() : std::unexpected(lock.error());
      // The device is free for others while the other parts of a run go on.
      launcher_.end_target();
    }
    if (!status && !tools_.listener.should_stop()) {
      tell_unfinished(status.error());
    }
    [[maybe_unused]] const auto released = attempts_.release();  // Or they end by themselves.
    return status;
  }

 private:
  Status execute_locked() {
    // Read under the lock: another process may have taken up the run.
    ASSAY_ASSIGN_OR_RETURN(const auto stored, tools_.store.get_run(request_.context.run.id));
    if (stored.finished_unix_ns != 0) {
      return {};
    }
    ASSAY_RETURN_IF_ERROR(attempts_.read());
    ASSAY_RETURN_IF_ERROR(begin_all());
    ASSAY_RETURN_IF_ERROR(close_refused_cases());
    ASSAY_RETURN_IF_ERROR(close_cases_without_artifact());
    reopen_lost_references();
    return execute_steps();
  }

  /// Puts an attempt for every pass of every case into the store before the first launch: a pass
  /// that the campaign never comes to is seen to be missing by whoever reads the store later.
  Status begin_all() {
    for (std::size_t i = 0; i < prepared_.size(); ++i) {
      for (const auto pass : passes_of(i)) {
        ASSAY_ASSIGN_OR_RETURN(auto* const state, attempts_.find_or_begin(prepared_[i], pass));
        if (pass == Pass::kTiming) {
          timed_.push_back(state);
        }
      }
    }
    return {};
  }

  /// Writes into the attempts of cases that stay open why they do, for who reads the store later. A
  /// store that takes no more has been told already.
  void tell_unfinished(const Error& error) {
    for (std::size_t i = 0; i < prepared_.size(); ++i) {
      for (const auto pass : passes_of(i)) {
        auto state = attempts_.find_or_begin(prepared_[i], pass);
        if (state && !(*state)->attempt.is_finished) {
          (*state)->attempt.text = "this case did not finish: " + error.message;
          [[maybe_unused]] const auto stored = tools_.store.put_attempt((*state)->attempt);
        }
      }
    }
  }

  /// True if a timed case needs no further launch; one that stays wide at its end is reported.
  bool has_enough(const AttemptState& state, const std::string& label) const {
    if (!attempts_.has_enough(state)) {
      return false;
    }
    const auto& plan = request_.context.settings.launches;
    const double reached = interval_ratio_of(state.levels);
    if (plan.interval_ratio > 0 && std::isnan(reached)) {
      tools_.listener.on_note(fmt::format(
          "{}: its launches told no times, so no interval decided their number", label));
    } else if (plan.interval_ratio > 0 && reached > plan.interval_ratio) {
      tools_.listener.on_note(
          fmt::format("{}: {} launches give an interval of ±{:.2g} %, but ±{:.2g} % was requested",
                      label, state.levels.size(), reached * 100, plan.interval_ratio * 100));
    }
    return true;
  }

  // ---- extra cases: cases that are evaluated only, because others need what comes of it

  [[nodiscard]] std::vector<Pass> passes_of(std::size_t cell) const {
    return cell < wanted_ ? request_.context.settings.passes : std::vector{Pass::kEvaluate};
  }

  Status close_refused_cases() {
    for (const auto& [cell, refusal] : refusals_) {
      if (refusal.empty()) {
        continue;
      }
      ASSAY_ASSIGN_OR_RETURN(auto* state,
                             attempts_.find_or_begin(prepared_[cell], Pass::kEvaluate));
      if (!state->attempt.is_finished) {
        ASSAY_RETURN_IF_ERROR(attempts_.finish(*state, {.outcome = Outcome::kSkipped,
                                                        .stage = Stage::kStart,
                                                        .reason_code = "unavailable",
                                                        .text = refusal}));
      }
    }
    return {};
  }

  /// Reopens finished evaluations whose outputs a resumed run needs and no longer finds.
  void reopen_lost_references() {
    for (const auto cell : references_.providers()) {
      auto* state = attempts_.find(prepared_[cell], Pass::kEvaluate);
      if (state == nullptr || !state->attempt.is_finished ||
          state->attempt.outcome != Outcome::kCompleted) {
        continue;
      }
      if (auto found = find_engine_reference(prepared_[cell], tools_.cache)) {
        references_.put(cell, *std::move(found));
      } else {
        state->attempt.is_finished = false;
      }
    }
  }

  /// Extra cases first, and of them and the cases those whose outputs are references.
  std::vector<ScheduledLaunch> all_steps() const {
    auto steps =
        schedule_launches(wanted_, request_.context.settings.passes,
                          request_.context.settings.launches.most, request_.context.run.seed);
    std::vector<ScheduledLaunch> alone;
    for (std::size_t cell = wanted_; cell < prepared_.size(); ++cell) {
      alone.push_back({.cell = cell, .pass = Pass::kEvaluate, .index = 0});
    }
    steps.insert(steps.begin(), alone.begin(), alone.end());
    std::vector<ScheduledLaunch> ordered;
    for (const bool gives : {true, false}) {
      std::ranges::copy_if(
          steps, std::back_inserter(ordered),
          [this, gives](const ScheduledLaunch& step) { return gives_reference(step) == gives; });
    }
    return ordered;
  }

  /// A case that could not be made, or that nothing here can run, is decided before any launch.
  Status close_cases_without_artifact() {
    for (std::size_t i = 0; i < prepared_.size(); ++i) {
      const auto& prepared = prepared_[i];
      const auto failure = why_not_launched(prepared);
      if (!failure) {
        continue;
      }
      for (const auto pass : passes_of(i)) {
        ASSAY_ASSIGN_OR_RETURN(auto* state, attempts_.find_or_begin(prepared, pass));
        if (state->attempt.is_finished) {
          continue;
        }
        ASSAY_RETURN_IF_ERROR(attempts_.finish(*state, *failure));
      }
    }
    return {};
  }

  Status execute_steps() {
    const auto steps = all_steps();
    std::optional<Pass> phase;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (tools_.listener.should_stop()) {
        return fail(ErrorCode::kTimeout, "stopped before all cases were measured");
      }
      const auto& step = steps[i];
      if (phase != step.pass) {
        phase = step.pass;
        begin_phase(steps, i);
      }
      ASSAY_RETURN_IF_ERROR(execute_step(steps, i));
      const bool gives_last = i + 1 == steps.size() || !gives_reference(steps[i + 1]);
      ASSAY_RETURN_IF_ERROR(evaluate_deferred(gives_last));
    }
    return launcher_.check_end();
  }

  void begin_phase(const std::vector<ScheduledLaunch>& steps, std::size_t first) {
    const auto pass = steps[first].pass;
    const auto& plan = request_.context.settings.launches;
    progress_ = {.total = count_open(steps, first, pass),
                 .is_limit = pass == Pass::kTiming && plan.least < plan.most};
    tools_.listener.on_phase(name_of(pass), "launch", progress_);
  }

  /// A timed case that has enough, or that failed, takes the rest of its launches from the total.
  void tell_progress(const std::vector<ScheduledLaunch>& steps, std::size_t next, Pass pass) {
    ++progress_.done;
    if (pass == Pass::kTiming) {
      const auto rest = rest_of_timing();
      progress_.total = progress_.done + rest.launches;
      progress_.remaining_ns = rest.ns;
    } else {
      progress_.remaining_ns = remaining_ns(steps, next, pass);
    }
    tools_.listener.on_progress(progress_);
  }

  struct TimingRest {
    int launches = 0;     ///< At most.
    std::int64_t ns = 0;  ///< From the last launch of each case; -1: unknown.
  };

  /// Adds up by case and not by step: a case has up to most_launches steps.
  TimingRest rest_of_timing() const {
    TimingRest rest;
    for (const auto* state : timed_) {
      const int launches =
          state->attempt.is_finished
              ? 0
              : std::max(request_.context.settings.launches.most - state->launches + state->lost,
                         0);
      const bool is_known = rest.ns >= 0 && (launches == 0 || state->last_wall_ns > 0);
      rest.launches += launches;
      rest.ns = is_known ? rest.ns + launches * state->last_wall_ns : -1;
    }
    return rest;
  }

  bool gives_reference(const ScheduledLaunch& step) const {
    return step.pass == Pass::kEvaluate && references_.providers().contains(step.cell);
  }

  bool is_open(const ScheduledLaunch& step) const {
    return attempts_.is_open(prepared_[step.cell], step);
  }

  int count_open(const std::vector<ScheduledLaunch>& steps, std::size_t from, Pass pass) const {
    return static_cast<int>(std::count_if(
        steps.begin() + static_cast<std::ptrdiff_t>(from), steps.end(),
        [&](const ScheduledLaunch& step) { return step.pass == pass && is_open(step); }));
  }

  /// Known wall times of the same cases' last launches, added up over the steps to come.
  std::int64_t remaining_ns(const std::vector<ScheduledLaunch>& steps, std::size_t from,
                            Pass pass) const {
    std::int64_t known = 0;
    for (std::size_t i = from; i < steps.size() && steps[i].pass == pass; ++i) {
      if (!is_open(steps[i])) {
        continue;
      }
      const auto* state = attempts_.find(prepared_[steps[i].cell], pass);
      if (state == nullptr || state->last_wall_ns == 0) {
        return -1;
      }
      known += state->last_wall_ns;
    }
    return known;
  }

  Status execute_step(const std::vector<ScheduledLaunch>& steps, std::size_t index) {
    const auto& step = steps[index];
    if (!is_open(step)) {
      return {};
    }
    const auto& prepared = prepared_[step.cell];
    const auto label = label_of(prepared.cell);
    tools_.listener.on_step_started(label, "");
    ASSAY_ASSIGN_OR_RETURN(auto* state, attempts_.find_or_begin(prepared, step.pass));
    if (index >= first_unnamed_) {
      ASSAY_RETURN_IF_ERROR(launcher_.expect([&] { return upcoming_launches(steps, index); }));
    }
    ASSAY_ASSIGN_OR_RETURN(const auto request, launch_request_for(prepared, step.pass, *state));
    ASSAY_RETURN_IF_ERROR(attempts_.lease(*state, longest_launch_ns(request)));
    ASSAY_ASSIGN_OR_RETURN(auto result, launcher_.run(request));
    ASSAY_RETURN_IF_ERROR(attempts_.add_launch(*state, result.launch));
    ASSAY_RETURN_IF_ERROR(conclude(prepared, step, result, *state));
    tools_.listener.on_step_finished(label, result.launch.outcome, result.launch.text);
    tell_progress(steps, index + 1, step.pass);
    return {};
  }

  /// The launches from a step on that no result to come changes, most likely.
  Result<std::vector<LaunchRequest>> upcoming_launches(const std::vector<ScheduledLaunch>& steps,
                                                       std::size_t index) {
    std::vector<LaunchRequest> requests;
    std::map<std::size_t, int> planned;  // By case.
    for (std::size_t i = index; i < steps.size() && steps[i].pass == steps[index].pass; ++i) {
      const auto& step = steps[i];
      if (!is_open(step)) {
        continue;
      }
      const auto* known = attempts_.find(prepared_[step.cell], step.pass);
      auto state = known == nullptr ? AttemptState{} : *known;
      auto& more = planned[step.cell];
      if (more > 0 && state.launches + more >= foreseen_launches(state)) {
        break;
      }
      state.launches += more++;
      ASSAY_ASSIGN_OR_RETURN(auto request,
                             launch_request_for(prepared_[step.cell], step.pass, state));
      requests.push_back(std::move(request));
      first_unnamed_ = i + 1;
    }
    return requests;
  }

  /// The number of launches that a timed case has for sure, with its current plan.
  int foreseen_launches(const AttemptState& state) const {
    constexpr int kLearning = 3;
    const auto& plan = request_.context.settings.launches;
    const bool is_learning = plan.adapts_iterations && state.launches < kLearning;
    return is_learning ? std::min(plan.least, kLearning) : plan.least;
  }

  /// Decides the attempt when its last launch, or its first failing one, is in.
  Status conclude(const PreparedCase& prepared, const ScheduledLaunch& step,
                  const LaunchResult& result, AttemptState& state) {
    const auto& launch = result.launch;
    if (launch.outcome != Outcome::kCompleted) {
      return attempts_.finish(state, conclusion_from(launch));
    }
    if (step.pass == Pass::kTiming && !has_enough(state, label_of(prepared.cell))) {
      return {};
    }
    if (step.pass == Pass::kEvaluate) {
      if (gives_reference(step)) {
        ASSAY_ASSIGN_OR_RETURN(auto kept,
                               keep_engine_reference(prepared, result.outputs, tools_.cache));
        ASSAY_RETURN_IF_ERROR(store_reference(tools_.store, request_.context.run.id, kept));
        references_.put(step.cell, std::move(kept));
      }
      if (awaits_reference(step.cell)) {
        deferred_.push_back({.cell = step.cell, .result = result, .state = &state});
        return {};
      }
      return evaluate(step.cell, result, state);
    }
    return attempts_.finish(state, Conclusion::completed());
  }

  /// True if its reference is to come from another case: engines may give references to
  /// each other.
  bool awaits_reference(std::size_t cell) const {
    return std::ranges::any_of(request_.context.settings.against, [&](const std::string& kind) {
      const auto provider = references_.find_provider(cell, kind);
      if (!provider || *provider == cell || references_.find(cell, kind)) {
        return false;
      }
      const auto* state = attempts_.find(prepared_[*provider], Pass::kEvaluate);
      return state == nullptr || !state->attempt.is_finished;
    });
  }

  /// Judges those whose references have come, as their outputs take memory; with `all` the others,
  /// too, as nothing more will come.
  Status evaluate_deferred(bool all) {
    auto waiting = std::exchange(deferred_, {});
    for (auto& one : waiting) {
      if (!all && awaits_reference(one.cell)) {
        deferred_.push_back(std::move(one));
      } else {
        ASSAY_RETURN_IF_ERROR(evaluate(one.cell, one.result, *one.state));
      }
    }
    return {};
  }

  /// Judges an evaluation and ends its attempt.
  Status evaluate(std::size_t cell, const LaunchResult& result, AttemptState& state) {
    ASSAY_ASSIGN_OR_RETURN(
        const auto failure,
        evaluate_case(
            {.settings = request_.context.settings,
             .tools = tools_,
             .prepared = prepared_,
             .references = references_,
             .launch = [this](const LaunchRequest& request) { return launcher_.run(request); },
             .text_of = [this](std::size_t provider) { return text_of(provider); }},
            cell, result, state.attempt.id));
    return failure.empty() ? attempts_.finish(state, Conclusion::completed())
                           : attempts_.finish(state, {.outcome = Outcome::kHarnessError,
                                                      .stage = Stage::kReference,
                                                      .reason_code = "not_judged",
                                                      .text = failure});
  }

  std::string text_of(std::size_t cell) const {
    const auto* state = attempts_.find(prepared_[cell], Pass::kEvaluate);
    return state == nullptr ? "it was not run" : state->attempt.text;
  }

  Result<LaunchRequest> launch_request_for(const PreparedCase& prepared, Pass pass,
                                           const AttemptState& state) const {
    auto request = launch_request_from_case(prepared, pass, request_.context.settings);
    request.repeat = kRepeats;
    request.iterations = observed_iterations(prepared);
    if (pass == Pass::kProfile && request_.context.settings.profile_iterations > 0) {
      request.iterations = request_.context.settings.profile_iterations;
      request.time_budget_ns = request_.context.settings.plan.time_budget_ns;
    }
    if (pass == Pass::kMemory) {
      request.leak_loads = request_.context.settings.leak_loads;
      request.leak_inferences = request_.context.settings.leak_inferences;
      request.time_budget_ns = request_.context.settings.plan.time_budget_ns;
    }
    if (pass == Pass::kTiming) {
      if (const auto found = state.pilot.iterations()) {
        request.plan = with_iterations(request.plan, *found);
      }
      ASSAY_RETURN_IF_ERROR(
          apply_scenario(prepared.cell, state.launches, request_.context, jobs_.path(), request));
    }
    return request;
  }

  /// Iterations of a memory or profile pass: as many as fit its budget by the pace of the
  /// evaluation.
  int observed_iterations(const PreparedCase& prepared) const {
    const auto* evaluated = attempts_.find(prepared, Pass::kEvaluate);
    if (evaluated == nullptr || evaluated->last_wall_ns == 0) {
      return kMostIterations;
    }
    const auto inferences = std::max(1, prepared.cell.inputs.count * kRepeats);
    const auto inference_ns = std::max<std::int64_t>(evaluated->last_wall_ns / inferences, 1);
    return static_cast<int>(
        std::clamp<std::int64_t>(kObserveBudgetNs / inference_ns, 1, kMostIterations));
  }

  CampaignRequest request_;                      ///< With extra cases behind its cases.
  std::size_t wanted_ = 0;                       ///< Cases without extra cases.
  std::map<std::size_t, std::string> refusals_;  ///< Reason for each refused extra case.
  EngineReferences references_;
  std::vector<DeferredEvaluation> deferred_;
  const CampaignTools& tools_;
  std::vector<PreparedCase> prepared_;
  Attempts attempts_;
  std::vector<const AttemptState*> timed_;  ///< The timing attempts of the cases.
  Launcher launcher_;
  PhaseProgress progress_;
  std::size_t first_unnamed_ = 0;  ///< Step whose launch a target with a queue was not told.
  TemporaryFolder jobs_;           ///< Folder of the companion programs.
};

}  // namespace

Result<std::unique_ptr<DeviceCampaign>> DeviceCampaign::make(CampaignRequest request,
                                                             const CampaignTools& tools,
                                                             std::shared_ptr<LaunchOrder> order) {
  ASSAY_ASSIGN_OR_RETURN(auto jobs, TemporaryFolder::make("assay-jobs"));
  return std::make_unique<CampaignUnderWay>(std::move(request), tools, std::move(jobs),
                                            std::move(order));
}

}  // namespace assay
