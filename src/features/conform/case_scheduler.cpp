#include "features/conform/case_scheduler.h"

#include "features/conform/availability.h"
#include "features/conform/case_verdict.h"
#include "features/conform/known_gaps.h"
#include "features/conform/plan.h"

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/output_evaluation.h"
#include "assay/campaign/run_context.h"
#include "assay/record/case.h"
#include "assay/record/case_id.h"
#include "assay/record/conformance.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

constexpr int kJointTry = 0;
constexpr int kFirstAlone = 1;
constexpr int kSecondAlone = 2;

/// A unit, and the how-manieth try at it.
struct Task {
  ConformUnit unit;
  int n = kJointTry;
};

int try_of(const ConformUnit& unit) { return unit.is_joint() ? kJointTry : kFirstAlone; }

/// A case wherever it was judged, and which try at it. In a fleet it is any device of a class.
using AttemptKey = std::pair<CaseId, int>;

AttemptKey key_of_attempt(const Case& cell, int n) {
  auto id = case_id_from(cell);
  id.device.clear();
  return {std::move(id), n};
}

class CaseScheduler {
 public:
  CaseScheduler(const ConformPlan& plan, const RunContext& context, const CampaignTools& tools,
                const ExecuteCases& execute)
      : plan_(plan), context_(context), tools_(tools), execute_(execute) {
    judged_.states.resize(plan.cells.size());
  }

  Result<Judged> run() {
    ASSAY_ASSIGN_OR_RETURN(judged_.unavailable,
                           probe_settings(plan_.settings, context_, tools_, execute_));
    judged_.is_stopped = tools_.listener.should_stop();
    for (const auto& unit : plan_.units) {
      if (judged_.unavailable[plan_.cells[unit.cells.front()].setting_index].empty()) {
        tasks_.push_back({.unit = unit, .n = try_of(unit)});
      }
    }
    while (!tasks_.empty() && !judged_.is_stopped) {
      auto tasks = std::exchange(tasks_, {});
      ASSAY_RETURN_IF_ERROR(execute_tasks(tasks));
      ASSAY_RETURN_IF_ERROR(read_attempts());
      for (const auto& task : tasks) {
        ASSAY_RETURN_IF_ERROR(conclude(task));
      }
    }
    return std::move(judged_);
  }

 private:
  /// One campaign for the tasks of one try that are compared with one kind of reference.
  Status execute_tasks(const std::vector<Task>& tasks) {
    std::map<std::pair<int, std::string>, std::vector<Case>> campaigns;
    for (const auto& task : tasks) {
      auto cell = case_of(plan_, task.unit);
      campaigns[{task.n, reference_kind_of(cell)}].push_back(std::move(cell));
      ++(task.unit.is_joint() ? judged_.joint_programs : judged_.alone_programs);
    }
    for (auto& [key, cases] : campaigns) {
      const auto request = evaluation_of(context_, key.first, key.second, std::move(cases));
      const auto status = execute_(request, tools_);
      if (!status && tools_.listener.should_stop()) {
        judged_.is_stopped = true;
        return {};
      }
      ASSAY_RETURN_IF_ERROR(status);
    }
    return {};
  }

  Status read_attempts() {
    attempts_.clear();
    std::map<std::string, std::string> builds;  // By subject.
    ASSAY_ASSIGN_OR_RETURN(const auto attempts, tools_.store.attempts_of_run(context_.run.id));
    for (const auto& attempt : attempts) {
      if (!attempt.is_finished) {
        continue;
      }
      if (!builds.contains(attempt.subject)) {
        ASSAY_ASSIGN_OR_RETURN(const auto subject, tools_.store.get_subject(attempt.subject));
        builds[attempt.subject] = subject.engine_build;
      }
      const CaseId id{
          .case_key = attempt.case_key, .engine_build = builds[attempt.subject], .device = ""};
      attempts_[{id, attempt.n}] = attempt;
    }
    return {};
  }

  Status conclude(const Task& task) {
    const auto cell = case_of(plan_, task.unit);
    const auto found = attempts_.find(key_of_attempt(cell, task.n));
    if (found == attempts_.end()) {
      if (!tools_.listener.should_stop()) {
        take_lost(task);
      }
      return {};
    }
    ASSAY_ASSIGN_OR_RETURN(auto case_verdicts,
                           read_case_verdicts(tools_.store, found->second, task.unit.cells.size()));
    if (case_verdicts.empty()) {
      for (auto& unit : split_unit(plan_, task.unit, found->second.text)) {
        const int n = try_of(unit);
        tasks_.push_back({.unit = std::move(unit), .n = n});
      }
      return {};
    }
    for (std::size_t i = 0; i < case_verdicts.size(); ++i) {
      const auto index = task.unit.cells[i];
      if (task.unit.is_joint()) {
        ASSAY_RETURN_IF_ERROR(take_part(index, found->second, std::move(case_verdicts[i])));
      } else {
        const bool refuses = plan_.cases[plan_.cells[index].case_index].refuses;
        take_alone(index, task.n,
                   refuses ? verdict_on_refusal(std::move(case_verdicts[i]))
                           : std::move(case_verdicts[i]));
      }
    }
    return {};
  }

  /// A job that came back with nothing although nobody asked to stop: no other is tried, and a
  /// failure that was seen before stands.
  void take_lost(const Task& task) {
    for (const auto index : task.unit.cells) {
      auto& state = judged_.states[index];
      const bool has_failed = !state.alone.empty() && is_failure(state.alone.front().verdict);
      state.final = has_failed ? state.alone.front()
                               : CaseVerdict{.verdict = ConformVerdict::kHarnessError,
                                             .reason_code = "device_lost",
                                             .text =
                                                 "its job came back without a result; look at the "
                                                 "notes of the run, and run the case again"};
    }
  }

  void judge_alone(std::size_t index, int n) {
    tasks_.push_back({.unit = {.cells = {index}}, .n = n});
  }

  Status take_part(std::size_t index, const Attempt& attempt, CaseVerdict case_verdict) {
    auto& state = judged_.states[index];
    if (case_verdict.verdict != ConformVerdict::kPass) {
      state.was_in_joint = case_verdict.verdict;
    }
    if (case_verdict.verdict != ConformVerdict::kPass || case_verdict.needs_own_program) {
      judge_alone(index, kFirstAlone);
      return {};
    }
    ASSAY_RETURN_IF_ERROR(store_part(plan_.cells[index].eval_case, attempt, case_verdict));
    state.is_joint = true;
    state.final = std::move(case_verdict);
    return {};
  }

  /// A pass in a joint program, as an attempt of the case itself.
  Status store_part(Case cell, const Attempt& joint, const CaseVerdict& case_verdict) {
    cell.device = joint.device;
    ASSAY_RETURN_IF_ERROR(tools_.store.add_case(context_.run.id, cell));
    Attempt part = joint;
    part.case_key = case_key(cell);
    if (attempts_.contains(key_of_attempt(cell, part.n))) {
      return {};  // By the run that is resumed.
    }
    part.id = make_uuid7();
    part.reason_code = "joint";
    part.text = "in a joint program, case " + joint.case_key.substr(0, 12);
    ASSAY_RETURN_IF_ERROR(tools_.store.put_attempt(part));
    if (!case_verdict.table) {
      return {};
    }
    ASSAY_RETURN_IF_ERROR(tools_.store.add_metrics(metric_rows_of(*case_verdict.table, part.id)));
    return tools_.store.add_attachment(
        {.owner = part.id, .kind = "accuracy_table", .content = Json(*case_verdict.table).dump()});
  }

  void take_alone(std::size_t index, int n, CaseVerdict case_verdict) {
    auto& state = judged_.states[index];
    state.alone.push_back(std::move(case_verdict));
    if (n == kSecondAlone) {
      state.final = joined_verdict(state.alone.front(), state.alone.back());
    } else if (is_settled(index, state)) {
      state.final = state.alone.front();
    } else {
      judge_alone(index, kSecondAlone);
    }
  }

  /// True if one verdict alone is enough: a pass that nothing speaks against, what the lists of
  /// known gaps expect, and a declared refusal.
  bool is_settled(std::size_t index, const CellState& state) const {
    const auto& cell = plan_.cells[index];
    const auto& setting = plan_.settings[cell.setting_index];
    const auto verdict = state.alone.front().verdict;
    return (verdict == ConformVerdict::kPass && !state.was_in_joint) ||
           verdict == ConformVerdict::kUnsupported ||
           is_as_listed(setting.gaps, setting.gap_context, plan_.cases[cell.case_index], verdict);
  }

  const ConformPlan& plan_;
  const RunContext& context_;
  const CampaignTools& tools_;
  const ExecuteCases& execute_;
  std::vector<Task> tasks_;
  std::map<AttemptKey, Attempt> attempts_;  ///< Finished ones.
  Judged judged_;
};

}  // namespace

Result<Judged> judge_plan(const ConformPlan& plan, const RunContext& context,
                          const CampaignTools& tools, const ExecuteCases& execute) {
  return CaseScheduler(plan, context, tools, execute).run();
}

}  // namespace assay
