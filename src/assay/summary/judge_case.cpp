#include "assay/summary/judge_case.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/evaluate/gates.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/record/summary.h"
#include "assay/record/unfinished.h"
#include "assay/spec/bound.h"
#include "assay/summary/case_rows.h"
#include "assay/summary/leaks.h"
#include "assay/summary/timing.h"

namespace assay {
namespace {

/// A comparison that was asked for, and that nothing came of.
bool lacks_comparison(const CaseRows& rows) {
  const auto evaluation = rows.attempts.find(Pass::kEvaluate);
  if (evaluation == rows.attempts.end() || evaluation->second.outcome != Outcome::kCompleted) {
    return false;
  }
  const bool is_held = !rows.tables.empty() || !rows.given_kinds.empty() || rows.has_parts;
  return !is_held || std::ranges::find(rows.tables, Accuracy::kNotChecked,
                                       &AccuracyTable::accuracy) != rows.tables.end();
}

/// Launches of a time that are gone, or whose samples are.
bool has_lost_times(const CaseRows& rows) {
  const auto found = rows.launches.find(Pass::kTiming);
  const auto is_lost = [](const Launch& launch) {
    return launch.outcome == Outcome::kCompleted &&
           (!launch.measurement || (launch.measurement->times != TimesTold::kNone &&
                                    !has_its_samples(*launch.measurement)));
  };
  return has_lost_launches(rows, Pass::kTiming) ||
         (found != rows.launches.end() && std::ranges::any_of(found->second, is_lost));
}

/// How the axes take a time: how sure one is has a mark of its own and is no matter to them.
Timing missing_time(const CaseDemands& demands, const CaseSummary& summary) {
  const auto steady = summary.metrics.find("steady_ns");
  const bool is_zero = summary.timing == Timing::kInconclusive && steady != summary.metrics.end() &&
                       steady->second.value <= 0;
  return demands.lacks_time || is_zero ? Timing::kInconclusive : Timing::kNotMeasured;
}

/// A bound against what the case itself gives is for the others.
bool is_own_reference(const CaseDemands& demands, const std::string& metric) {
  return std::ranges::any_of(demands.given_kinds, [&metric](const std::string& kind) {
    return metric.starts_with(kind + ".");
  });
}

/// The finding behind a leak's metric, if the metric is one.
const LeakFinding* find_leak_of_metric(const std::string& metric, const CaseSummary& summary) {
  constexpr std::string_view kPrefix = "leak_bytes_per_";
  return metric.starts_with(kPrefix)
             ? find_deciding_leak(summary.leaks, metric.substr(kPrefix.size()))
             : nullptr;
}

/// A slope that says nothing meets and breaks no bound, and neither does one whose interval has the
/// bound within it.
Status doubt_leak(const LeakFinding& leak, GateResult& gate) {
  ASSAY_ASSIGN_OR_RETURN(const auto bound, bound_from_text(gate.bound, "bytes"));
  const auto& slope = leak.bytes_per_cycle;
  const bool is_open = leak.verdict == LeakVerdict::kCannotTell || !slope.low || !slope.high ||
                       bound.is_met_by(*slope.low) != bound.is_met_by(*slope.high);
  if (is_open) {
    gate.is_met = false;
    gate.is_undecided = true;
    gate.text += ": " + leak.text;
  }
  return {};
}

/// A metric that an unfinished case has not measured yet breaks no bound.
Status add_gates(const CaseDemands& demands, CaseSummary& summary) {
  for (const auto& [metric, bound] : demands.require.items()) {
    if (is_own_reference(demands, metric)) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(
        auto gate, check_gate(metric, bound.get<std::string>(), summary.metrics, summary.timing));
    if (const auto* leak = find_leak_of_metric(metric, summary); leak != nullptr) {
      ASSAY_RETURN_IF_ERROR(doubt_leak(*leak, gate));
    }
    if (is_unfinished(summary) && !has_metric_of_gate(metric, summary.metrics)) {
      gate.is_undecided = true;
    }
    summary.gates.push_back(std::move(gate));
  }
  return {};
}

}  // namespace

CaseDemands demands_of(const CaseRows& rows) {
  return {.require = rows.cell.require,
          .given_kinds = rows.given_kinds,
          .has_reference = !rows.tables.empty(),
          .lacks_comparison = lacks_comparison(rows),
          .lacks_time = has_lost_times(rows)};
}

Status judge_case(const CaseDemands& demands, CaseSummary& summary) {
  ASSAY_RETURN_IF_ERROR(add_gates(demands, summary));
  const bool has_broken_gate = std::ranges::any_of(summary.gates, &GateResult::is_broken);
  summary.verdict =
      roll_up(summary.outcome, summary.accuracy, missing_time(demands, summary), has_broken_gate);
  const bool is_open =
      is_unfinished(summary) || std::ranges::any_of(summary.gates, &GateResult::is_undecided);
  if (summary.verdict != Verdict::kFail && is_open) {
    summary.verdict = Verdict::kInconclusive;
  }
  if (summary.verdict == Verdict::kPass && demands.lacks_comparison) {
    summary.verdict = Verdict::kInconclusive;
    if (!demands.has_reference && summary.text.empty()) {
      summary.text = "evaluated, but compared with no reference";
    }
  }
  return {};
}

}  // namespace assay
