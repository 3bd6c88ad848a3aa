#include "assay/summary/summarize.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/calibration.h"
#include "assay/record/case_id.h"
#include "assay/record/lost_execution.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/store/case_attempts.h"
#include "assay/store/lost_executions.h"
#include "assay/store/result_store.h"
#include "assay/summary/case_rows.h"
#include "assay/summary/comparisons.h"
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

/// The case of the baseline recipe on the same model, shapes, options and device. Of several engine
/// builds it is that of the case; null where that cannot be told.
const CaseSummary* find_baseline(const RunSummary& run, const CaseSummary& cell) {
  const CaseSummary* only = nullptr;
  int count = 0;
  for (const auto& other : run.cases) {
    if (other.recipe != run.baseline || other.model != cell.model ||
        other.options != cell.options || other.shapes != cell.shapes ||
        other.device != cell.device) {
      continue;
    }
    if (other.engine == cell.engine) {
      return &other;
    }
    only = &other;
    ++count;
  }
  return count == 1 ? only : nullptr;
}

/// How many times faster than the baseline recipe.
void add_speedups(RunSummary& run) {
  for (auto& summary : run.cases) {
    const auto* const baseline = find_baseline(run, summary);
    if (baseline == nullptr || !has_comparable_time(summary) || !has_comparable_time(*baseline)) {
      continue;
    }
    const auto& own = summary.metrics.at("steady_ns");
    summary.metrics["speedup_ratio"] = {
        .value = baseline->metrics.at("steady_ns").value / own.value, .count = own.count};
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
  ASSAY_ASSIGN_OR_RETURN(auto own, attempts_by_case(store, cases, attempts));
  for (const auto& cell : cases) {
    ASSAY_ASSIGN_OR_RETURN(const auto rows,
                           read_case_rows(store, cell, own[case_id_from(cell)], compared));
    ASSAY_ASSIGN_OR_RETURN(auto one, summarize_case(rows, how, options));
    summary.cases.push_back(std::move(one));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto lost, lost_executions_of_run(store, run.id));
  note_lost(lost, summary.cases);
  tell_labels_apart(summary.cases, !summary.devices.empty());
  add_speedups(summary);
  compare_inputs(summary.cases);
  summary.trade_offs = find_trade_offs(summary.cases);
  summary.comparisons = summarize_comparisons(comparisons, compared);
  return summary;
}

}  // namespace assay
