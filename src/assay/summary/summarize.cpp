#include "assay/summary/summarize.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/calibration.h"
#include "assay/record/case_id.h"
#include "assay/record/lost_execution.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/record/unfinished.h"
#include "assay/store/case_attempts.h"
#include "assay/store/lost_executions.h"
#include "assay/store/result_store.h"
#include "assay/summary/case_network.h"
#include "assay/summary/case_rows.h"
#include "assay/summary/comparisons.h"
#include "assay/summary/judge_case.h"
#include "assay/summary/parity.h"
#include "assay/summary/reproduce.h"
#include "assay/summary/summarize_case.h"
#include "assay/summary/trade_off.h"

namespace assay {
namespace {

constexpr std::size_t kShownKeyDigits = 12;

/// Reads from the run how its cases were executed.
Reproduction reproduction_of_run(const Run& run) {
  Reproduction how{.flags = launch_flags(run.argv, false),
                   .run_flags = launch_flags(run.argv, true)};
  const Json evaluate = run.spec.is_object() ? run.spec.value("evaluate", Json()) : Json();
  if (evaluate.is_object()) {
    how.against = evaluate.value("against", std::vector<std::string>());
    how.tolerance = evaluate.value("tolerance", Json::object());
  }
  return how;
}

/// Rows and headings of one run never share a label: cases of a run on several devices get theirs
/// added, those that differ by what a label leaves out their engine's build, and where that does
/// not tell either, the begin of their key.
void tell_labels_apart(std::vector<CaseSummary>& cases, bool is_on_several) {
  for (auto& cell : cases) {
    cell.label += is_on_several ? " on " + cell.device : "";
  }
  for (auto CaseSummary::* added : {&CaseSummary::engine, &CaseSummary::case_key}) {
    std::map<std::string, int> counts;
    for (const auto& cell : cases) {
      ++counts[cell.label];
    }
    for (auto& cell : cases) {
      if (counts[cell.label] > 1) {
        cell.label += " " + (cell.*added)
                                .substr(0, added == &CaseSummary::engine ? std::string::npos
                                                                         : kShownKeyDigits);
      }
    }
  }
}

/// The part that a case and its baseline have in common.
using Place = std::tuple<std::string, std::string, std::string>;
using CasesOfPlace = std::vector<const CaseSummary*>;
using Baselines = std::map<Place, CasesOfPlace>;

Place place_of(const CaseSummary& cell) { return {network_of(cell), cell.options, cell.device}; }

Baselines baselines_of(const RunSummary& run) {
  Baselines baselines;
  for (const auto& cell : run.cases) {
    if (cell.recipe == run.baseline) {
      baselines[place_of(cell)].push_back(&cell);
    }
  }
  return baselines;
}

/// The case of the baseline recipe with the same network, options and device. Of several engine
/// builds it is that of the case; null where that cannot be told.
const CaseSummary* find_baseline(const Baselines& baselines, const CaseSummary& cell) {
  const auto found = baselines.find(place_of(cell));
  const CaseSummary* only = nullptr;
  int count = 0;
  for (const auto* other : found == baselines.end() ? CasesOfPlace() : found->second) {
    if (other->engine == cell.engine) {
      return other;
    }
    only = other;
    ++count;
  }
  return count == 1 ? only : nullptr;
}

/// The speed-up over the baseline recipe; absent if either time is 0.
void add_speedups(RunSummary& run) {
  const auto baselines = baselines_of(run);
  if (baselines.empty()) {
    return;
  }
  for (auto& summary : run.cases) {
    const auto* const baseline = find_baseline(baselines, summary);
    if (baseline == nullptr || !has_comparable_time(summary) || !has_comparable_time(*baseline)) {
      continue;
    }
    const auto& own = summary.metrics.at("steady_ns");
    const auto& other = baseline->metrics.at("steady_ns");
    if (own.value > 0 && other.value > 0) {
      summary.metrics["speedup_ratio"] = {.value = other.value / own.value, .count = own.count};
    }
  }
}

/// The newest one of the machine that was there when the run began: a later one says nothing of it.
Result<std::optional<Calibration>> find_calibration(ResultStore& store, const Run& run) {
  std::optional<Calibration> newest;
  ASSAY_ASSIGN_OR_RETURN(const auto attachments, store.attachments_of(run.environment));
  for (const auto& attachment : attachments) {
    if (attachment.kind != kCalibrationKind) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const auto json, parse_json(attachment.content, "a calibration"));
    auto calibration = json.get<Calibration>();
    if (calibration.unix_ns < run.started_unix_ns &&
        (!newest || calibration.unix_ns > newest->unix_ns)) {
      newest = std::move(calibration);
    }
  }
  return newest;
}

/// Says of a case that a device of the fleet was lost with, and which one executed it.
void note_lost(const std::vector<LostExecution>& executions, std::vector<CaseSummary>& cases) {
  for (const auto& lost : executions) {
    for (auto& cell : cases) {
      if (std::ranges::find(lost.cases, cell.case_key) != lost.cases.end()) {
        cell.notes.push_back(fmt::format("{} was lost while it executed this ({}); {} executed it",
                                         lost.device.empty() ? "a device" : lost.device, lost.why,
                                         cell.device));
      }
    }
  }
}

/// A case of a job whose tries were all lost: nothing of it is in the store but that.
CaseSummary lost_case(const LostExecution& lost, const std::string& key) {
  return {.case_key = key,
          .label = lost.label,
          .device = lost.device,
          .outcome = Outcome::kSkipped,
          .reason_code = std::string(kUnfinished),
          .text = fmt::format("its last try was lost{}: {}; resume with assay run --resume",
                              lost.device.empty() ? "" : " on " + lost.device, lost.why),
          .verdict = Verdict::kInconclusive};
}

/// Devices of a fleet that were lost: a note where another one executed the case, else the case.
Status add_lost(ResultStore& store, RunSummary& summary) {
  ASSAY_ASSIGN_OR_RETURN(const auto lost, lost_executions_of_run(store, summary.run.id));
  note_lost(lost, summary.cases);
  std::set<std::string> known;
  for (const auto& cell : summary.cases) {
    known.insert(cell.case_key);
  }
  std::map<std::string, CaseSummary> open;  // The last try says why.
  for (const auto& one : lost) {
    for (const auto& key : one.cases) {
      if (!known.contains(key)) {
        open[key] = lost_case(one, key);
      }
    }
  }
  for (auto& [key, cell] : open) {
    summary.cases.push_back(std::move(cell));
  }
  return {};
}

}  // namespace

Result<RunSummary> summarize_run(ResultStore& store, const Run& run,
                                 const SummaryOptions& options) {
  ASSAY_RETURN_IF_ERROR(store.claim_run(run.id));
  RunSummary summary{.run = run, .environment = {}, .baseline = options.baseline};
  ASSAY_ASSIGN_OR_RETURN(summary.environment, store.environment_of_run(run.id));
  ASSAY_ASSIGN_OR_RETURN(summary.devices, store.environments_of_run(run.id));
  if (summary.devices.empty()) {
    ASSAY_ASSIGN_OR_RETURN(summary.calibration, find_calibration(store, run));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto cases, store.cases_of_run(run.id));
  ASSAY_ASSIGN_OR_RETURN(const auto attempts, store.attempts_of_run(run.id));
  ASSAY_ASSIGN_OR_RETURN(const auto comparisons, store.comparisons_of_run(run.id));
  AttemptLaunches compared;
  if (!comparisons.empty()) {
    ASSAY_ASSIGN_OR_RETURN(compared, read_timed_launches(store, attempts));
  }
  const auto how = reproduction_of_run(run);
  std::vector<CaseDemands> demands;
  ASSAY_ASSIGN_OR_RETURN(auto own, attempts_by_case(store, cases, attempts));
  for (const auto& cell : cases) {
    ASSAY_ASSIGN_OR_RETURN(const auto rows,
                           read_case_rows(store, cell, own[case_id_from(cell)], compared));
    summary.cases.push_back(summarize_case(rows, how, options));
    demands.push_back(demands_of(rows));
  }
  add_speedups(summary);
  for (std::size_t i = 0; i < demands.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(judge_case(demands[i], summary.cases[i]));
  }
  ASSAY_RETURN_IF_ERROR(add_lost(store, summary));
  tell_labels_apart(summary.cases, !summary.devices.empty());
  compare_inputs(summary.cases);
  summary.trade_offs = find_trade_offs(summary.cases);
  summary.comparisons = summarize_comparisons(comparisons, compared);
  return summary;
}

}  // namespace assay
