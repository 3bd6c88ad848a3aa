#include "assay/campaign/campaign.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/enum_names.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/campaign/case_order.h"
#include "assay/campaign/engine_reference.h"
#include "assay/campaign/evaluation.h"
#include "assay/campaign/extra_cases.h"
#include "assay/campaign/iterations.h"
#include "assay/campaign/launch_order.h"
#include "assay/campaign/plan.h"
#include "assay/campaign/preparation.h"
#include "assay/campaign/stopping.h"
#include "assay/campaign/surroundings.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/run.h"
#include "assay/supervise/agent_client.h"

namespace assay {
namespace {

constexpr int kRepeats = 2;  ///< Of each evaluated sample, to tell a nondeterministic program.
constexpr int kMostIterations = 10;
constexpr std::int64_t kObserveBudgetNs = 5'000'000'000;

/// An evaluation that waits for the reference of another case.
struct Postponed {
  std::size_t cell = 0;
  LaunchYield yield;
  AttemptState* state = nullptr;
};

/// One campaign under way: the request, and what was found out so far.
class Campaign {
 public:
  Campaign(CampaignRequest request, const CampaignTools& tools, TemporaryFolder jobs)
      : request_(std::move(request)), tools_(tools), jobs_(std::move(jobs)) {
    wanted_ = request_.cases.size();
    for (auto& extra : extra_cases_of(request_)) {
      request_.cases.push_back(std::move(extra.cell));
      refusals_[request_.cases.size() - 1] = std::move(extra.refusal);
    }
  }

  Status run() {
    ASSAY_RETURN_IF_ERROR(open_run());
    ASSAY_ASSIGN_OR_RETURN(prepared_, prepare_cases(request_, tools_));
    given_ = EngineReferences(prepared_, request_.settings.against, request_.builds);
    ASSAY_RETURN_IF_ERROR(close_refused_cases());
    ASSAY_RETURN_IF_ERROR(close_cases_without_artifact());
    reopen_lost_references();
    ASSAY_RETURN_IF_ERROR(execute_steps());
    return request_.finishes_run ? tools_.store.finish_run(request_.run.id, unix_time_ns())
                                 : Status();
  }

 private:
  Status open_run() {
    ASSAY_RETURN_IF_ERROR(tools_.store.add_environment(request_.environment));
    if (!request_.is_resumed) {
      ASSAY_RETURN_IF_ERROR(tools_.store.add_run(request_.run));
    }
    for (const auto& cell : request_.cases) {
      ASSAY_RETURN_IF_ERROR(tools_.store.add_case(request_.run.id, cell));
    }
    return request_.is_resumed ? read_attempts() : Status();
  }

  Status read_attempts() {
    ASSAY_ASSIGN_OR_RETURN(const auto attempts, tools_.store.attempts_of_run(request_.run.id));
    for (const auto& attempt : attempts) {
      ASSAY_ASSIGN_OR_RETURN(const auto launches, tools_.store.launches_of_attempt(attempt.id));
      auto& state = states_.emplace_back(
          AttemptState{.attempt = attempt, .launches = static_cast<int>(launches.size())});
      for (const auto& launch : launches) {
        order_ = std::max(order_, launch.order + 1);
        count_launch(launch, state);
      }
      ASSAY_RETURN_IF_ERROR(settle(state, launches));
    }
    return {};
  }

  void count_launch(const Launch& launch, AttemptState& state) const {
    state.last_wall_ns = launch.end.wall_ns;
    state.spent_ns += launch.end.wall_ns;
    if (launch.measurement) {
      state.levels.push_back(level_of(*launch.measurement));
    }
    if (request_.settings.launches.adapts_iterations) {
      state.pilot.add(launch);
    }
  }

  /// Whether a timed case needs no further launch; one that stays wide at its end is told.
  bool has_enough(const AttemptState& state, const std::string& label) const {
    const auto& plan = request_.settings.launches;
    if (!has_enough_launches(plan, state.levels, state.spent_ns)) {
      return false;
    }
    const double reached = interval_ratio_of(state.levels);
    if (plan.interval_ratio > 0 && reached > plan.interval_ratio) {
      tools_.listener.on_note(fmt::format(
          "{}: {} launches give an interval of ±{:.2g} %, where ±{:.2g} % was asked for", label,
          state.levels.size(), reached * 100, plan.interval_ratio * 100));
    }
    return true;
  }

  /// Decides an attempt whose last launch was stored, but which was stopped before its verdict was.
  Status settle(AttemptState& state, const std::vector<Launch>& launches) {
    if (state.attempt.is_finished || launches.empty()) {
      return {};
    }
    const auto& last = launches.back();
    if (last.outcome != Outcome::kCompleted) {
      return finish_attempt(state, last.outcome, last.stage, last.reason_code, last.text);
    }
    // Outputs are judged as they come and are not stored: an evaluation is done again.
    const bool is_enough =
        state.attempt.pass == Pass::kTiming
            ? has_enough_launches(request_.settings.launches, state.levels, state.spent_ns)
            : state.attempt.pass != Pass::kEvaluate;
    return is_enough ? finish_attempt(state, Outcome::kCompleted, Stage::kDone, {}, {}) : Status();
  }

  Attempt wanted_attempt(const PreparedCase& prepared, Pass pass) const {
    return {.run = request_.run.id,
            .case_key = prepared.key,
            .subject = prepared.subject_digest,
            .device = prepared.cell.device,
            .pass = pass,
            .worker = "local",
            .n = request_.n};
  }

  /// The state of an attempt; a new one is stored, so that a resumed run finds it.
  Result<AttemptState*> state_of(const PreparedCase& prepared, Pass pass) {
    auto wanted = wanted_attempt(prepared, pass);
    if (auto* found = find_attempt(states_, wanted)) {
      return found;
    }
    wanted.id = make_uuid7();
    ASSAY_RETURN_IF_ERROR(tools_.store.put_attempt(wanted));
    states_.push_back({.attempt = std::move(wanted)});
    return &states_.back();
  }

  Status finish_attempt(AttemptState& state, Outcome outcome, Stage stage, std::string reason,
                        std::string text) {
    auto& attempt = state.attempt;
    attempt.is_finished = true;
    attempt.outcome = outcome;
    attempt.stage = stage;
    attempt.reason_code = std::move(reason);
    attempt.text = std::move(text);
    return tools_.store.put_attempt(attempt);
  }

  // ---- extra cases: cases that are evaluated only, because others need what comes of it

  [[nodiscard]] std::vector<Pass> passes_of(std::size_t cell) const {
    return cell < wanted_ ? request_.settings.passes : std::vector{Pass::kEvaluate};
  }

  Status close_refused_cases() {
    for (const auto& [cell, refusal] : refusals_) {
      if (refusal.empty()) {
        continue;
      }
      ASSAY_ASSIGN_OR_RETURN(auto* state, state_of(prepared_[cell], Pass::kEvaluate));
      if (!state->attempt.is_finished) {
        ASSAY_RETURN_IF_ERROR(
            finish_attempt(*state, Outcome::kSkipped, Stage::kStart, "unavailable", refusal));
      }
    }
    return {};
  }

  /// What a resumed run needs of finished evaluations; they are made again where it is gone.
  void reopen_lost_references() {
    for (const auto cell : given_.givers()) {
      auto* state = find_attempt(states_, wanted_attempt(prepared_[cell], Pass::kEvaluate));
      if (state == nullptr || !state->attempt.is_finished ||
          state->attempt.outcome != Outcome::kCompleted) {
        continue;
      }
      if (auto found = find_engine_reference(prepared_[cell], tools_.cache)) {
        given_.put(cell, *std::move(found));
      } else {
        state->attempt.is_finished = false;
      }
    }
  }

  /// Extra cases first, and of them and the cases those whose outputs are references.
  std::vector<Step> all_steps() const {
    auto steps = plan_steps(wanted_, request_.settings.passes, request_.settings.launches.most,
                            request_.run.seed);
    std::vector<Step> alone;
    for (std::size_t cell = wanted_; cell < prepared_.size(); ++cell) {
      alone.push_back({.cell = cell, .pass = Pass::kEvaluate, .index = 0});
    }
    steps.insert(steps.begin(), alone.begin(), alone.end());
    std::vector<Step> ordered;
    for (const bool gives : {true, false}) {
      std::ranges::copy_if(steps, std::back_inserter(ordered), [this, gives](const Step& step) {
        return gives_reference(step) == gives;
      });
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
        ASSAY_ASSIGN_OR_RETURN(auto* state, state_of(prepared, pass));
        if (state->attempt.is_finished) {
          continue;
        }
        ASSAY_RETURN_IF_ERROR(finish_attempt(*state, failure->outcome, failure->stage,
                                             failure->reason_code, failure->text));
      }
    }
    return {};
  }

  Status execute_steps() {
    const auto steps = all_steps();
    std::optional<Pass> phase;
    std::shared_ptr<void> lock;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (tools_.listener.should_stop()) {
        return fail(ErrorCode::kTimeout, "stopped before all cases were measured");
      }
      const auto& step = steps[i];
      if (!lock) {
        ASSAY_ASSIGN_OR_RETURN(lock, tools_.lock_device());
      }
      if (phase != step.pass) {
        phase = step.pass;
        tools_.listener.on_phase(name_of(step.pass), count_open(steps, i, step.pass));
      }
      if (!gives_reference(step)) {
        ASSAY_RETURN_IF_ERROR(judge_postponed());
      }
      ASSAY_RETURN_IF_ERROR(execute_step(steps, i));
    }
    return judge_postponed();
  }

  bool gives_reference(const Step& step) const {
    return step.pass == Pass::kEvaluate && given_.givers().contains(step.cell);
  }

  bool is_open(const Step& step) const {
    const auto& prepared = prepared_[step.cell];
    const auto* state = find_attempt(states_, wanted_attempt(prepared, step.pass));
    // What is not timed is one launch and its judgement: without the judgement it is done again.
    return state == nullptr || (!state->attempt.is_finished &&
                                (step.pass != Pass::kTiming || step.index >= state->launches));
  }

  int count_open(const std::vector<Step>& steps, std::size_t from, Pass pass) const {
    return static_cast<int>(
        std::count_if(steps.begin() + static_cast<std::ptrdiff_t>(from), steps.end(),
                      [&](const Step& step) { return step.pass == pass && is_open(step); }));
  }

  /// Known wall times of the same cases' last launches, added up over the steps to come.
  std::int64_t remaining_ns(const std::vector<Step>& steps, std::size_t from, Pass pass) const {
    std::int64_t known = 0;
    for (std::size_t i = from; i < steps.size() && steps[i].pass == pass; ++i) {
      const auto* state = find_attempt(states_, wanted_attempt(prepared_[steps[i].cell], pass));
      if (!is_open(steps[i])) {
        continue;
      }
      if (state == nullptr || state->last_wall_ns == 0) {
        return -1;
      }
      known += state->last_wall_ns;
    }
    return known;
  }

  Status execute_step(const std::vector<Step>& steps, std::size_t index) {
    const auto& step = steps[index];
    if (!is_open(step)) {
      return {};
    }
    const auto& prepared = prepared_[step.cell];
    const auto label = label_of(prepared.cell);
    tools_.listener.on_step_started(label);
    ASSAY_ASSIGN_OR_RETURN(auto* state, state_of(prepared, step.pass));
    ASSAY_ASSIGN_OR_RETURN(const auto order, order_for(prepared, step.pass, *state));
    ASSAY_ASSIGN_OR_RETURN(auto yield, launch(order));
    auto& launch = yield.launch;
    launch.attempt = state->attempt.id;
    launch.index = state->launches++;
    launch.order = order_++;
    count_launch(launch, *state);
    ASSAY_RETURN_IF_ERROR(tools_.store.add_launch(launch));
    ASSAY_RETURN_IF_ERROR(conclude(prepared, step, yield, *state));
    tools_.listener.on_step_finished(label, launch.outcome, launch.text,
                                     remaining_ns(steps, index + 1, step.pass));
    return {};
  }

  /// Decides the attempt when its last launch, or its first failing one, is in.
  Status conclude(const PreparedCase& prepared, const Step& step, const LaunchYield& yield,
                  AttemptState& state) {
    const auto& launch = yield.launch;
    if (launch.outcome != Outcome::kCompleted) {
      return finish_attempt(state, launch.outcome, launch.stage, launch.reason_code, launch.text);
    }
    if (step.pass == Pass::kTiming && !has_enough(state, label_of(prepared.cell))) {
      return {};
    }
    if (step.pass == Pass::kEvaluate) {
      if (gives_reference(step)) {
        ASSAY_ASSIGN_OR_RETURN(auto kept,
                               keep_engine_reference(prepared, yield.outputs, tools_.cache));
        ASSAY_RETURN_IF_ERROR(tools_.store.add_reference(kept));
        given_.put(step.cell, std::move(kept));
      }
      if (awaits_reference(step.cell)) {
        postponed_.push_back({.cell = step.cell, .yield = yield, .state = &state});
        return {};
      }
      ASSAY_RETURN_IF_ERROR(evaluate(step.cell, yield, state.attempt.id));
    }
    return finish_attempt(state, Outcome::kCompleted, Stage::kDone, {}, {});
  }

  /// Whether it is held against what another case is still to give: engines may give references to
  /// each other.
  bool awaits_reference(std::size_t cell) const {
    return std::ranges::any_of(request_.settings.against, [&](const std::string& kind) {
      const auto giver = given_.giver_of(cell, kind);
      if (!giver || *giver == cell || given_.find(cell, kind)) {
        return false;
      }
      const auto* state = find_attempt(states_, wanted_attempt(prepared_[*giver], Pass::kEvaluate));
      return state == nullptr || !state->attempt.is_finished;
    });
  }

  Status judge_postponed() {
    for (const auto& [cell, yield, state] : std::exchange(postponed_, {})) {
      ASSAY_RETURN_IF_ERROR(evaluate(cell, yield, state->attempt.id));
      ASSAY_RETURN_IF_ERROR(finish_attempt(*state, Outcome::kCompleted, Stage::kDone, {}, {}));
    }
    return {};
  }

  Status evaluate(std::size_t cell, const LaunchYield& yield, const std::string& attempt) {
    return evaluate_case({.settings = request_.settings,
                          .tools = tools_,
                          .prepared = prepared_,
                          .given = given_,
                          .launch = [this](const LaunchOrder& order) { return launch(order); },
                          .text_of = [this](std::size_t giver) { return text_of(giver); }},
                         cell, yield, attempt);
  }

  std::string text_of(std::size_t cell) const {
    const auto* state = find_attempt(states_, wanted_attempt(prepared_[cell], Pass::kEvaluate));
    return state == nullptr ? "it was not run" : state->attempt.text;
  }

  Result<LaunchOrder> order_for(const PreparedCase& prepared, Pass pass,
                                const AttemptState& state) const {
    auto order = order_of_case(prepared, pass, request_.settings);
    order.repeat = kRepeats;
    order.iterations = observed_iterations(prepared);
    if (pass == Pass::kProfile && request_.settings.profile_iterations > 0) {
      order.iterations = request_.settings.profile_iterations;
      order.time_budget_ns = request_.settings.plan.time_budget_ns;
    }
    if (pass == Pass::kMemory) {
      order.leak_loads = request_.settings.leak_loads;
      order.leak_inferences = request_.settings.leak_inferences;
      order.time_budget_ns = request_.settings.plan.time_budget_ns;
    }
    if (pass == Pass::kTiming) {
      if (const auto found = state.pilot.iterations()) {
        order.plan = with_iterations(order.plan, *found);
      }
      ASSAY_RETURN_IF_ERROR(apply_scenario(prepared.cell, state.launches, request_.environment.cpus,
                                           request_.builds, jobs_.path(), order));
    }
    return order;
  }

  /// Iterations of a memory or profile pass: as many as fit its budget by the pace of the
  /// evaluation.
  int observed_iterations(const PreparedCase& prepared) const {
    const auto* evaluated = find_attempt(states_, wanted_attempt(prepared, Pass::kEvaluate));
    if (evaluated == nullptr || evaluated->last_wall_ns == 0) {
      return kMostIterations;
    }
    const auto inferences = std::max(1, prepared.cell.inputs.count * kRepeats);
    const auto inference_ns = std::max<std::int64_t>(evaluated->last_wall_ns / inferences, 1);
    return static_cast<int>(
        std::clamp<std::int64_t>(kObserveBudgetNs / inference_ns, 1, kMostIterations));
  }

  /// Runs a launch; an agent that died meanwhile is started again once, and the launch with it.
  Result<LaunchYield> launch(const LaunchOrder& order) {
    for (int tries = 0;; ++tries) {
      if (!agent_) {
        ASSAY_ASSIGN_OR_RETURN(agent_, tools_.connect_agent());
      }
      auto yield = run_launch(*agent_, order);
      if (yield || tries > 0) {
        return yield;
      }
      agent_.reset();
    }
  }

  CampaignRequest request_;                      ///< With extra cases behind its cases.
  std::size_t wanted_ = 0;                       ///< Cases without extra cases.
  std::map<std::size_t, std::string> refusals_;  ///< Of extra cases; empty: none.
  EngineReferences given_;
  std::vector<Postponed> postponed_;
  const CampaignTools& tools_;
  std::vector<PreparedCase> prepared_;
  AttemptStates states_;
  std::optional<AgentClient> agent_;
  TemporaryFolder jobs_;  ///< Of programs that run beside.
  int order_ = 0;
};

}  // namespace

Status run_campaign(const CampaignRequest& request, const CampaignTools& tools) {
  ASSAY_ASSIGN_OR_RETURN(auto jobs, TemporaryFolder::make("assay-jobs"));
  return Campaign(request, tools, std::move(jobs)).run();
}

}  // namespace assay
