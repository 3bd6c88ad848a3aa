#include "features/conform/case_verdict.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/conformance.h"
#include "assay/record/invalid_request.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

constexpr auto* kBoundRatio = "error_bound_ratio";
constexpr std::size_t kMostWords = 4000;  ///< Bytes of last words that a report keeps.

ConformVerdict verdict_of_accuracy(Accuracy accuracy) {
  switch (accuracy) {
    case Accuracy::kPass:
      return ConformVerdict::kPass;
    case Accuracy::kFailNumeric:
      return ConformVerdict::kFailNumeric;
    case Accuracy::kFailNondeterministic:
      return ConformVerdict::kFailNondeterministic;
    case Accuracy::kVacuous:
      return ConformVerdict::kVacuous;
    case Accuracy::kNotChecked:
      break;
  }
  return ConformVerdict::kHarnessError;
}

std::optional<Metric> worst_ratio(const AccuracyTable& table) {
  std::optional<Metric> worst;
  for (const auto& output : table.outputs) {
    const auto found = output.metrics.find(kBoundRatio);
    if (found != output.metrics.end() &&
        (!worst || double_from_metric(found->second) > double_from_metric(*worst))) {
      worst = found->second;
    }
  }
  return worst;
}

void add_delegation(const Json& counts, CaseVerdict& case_verdict) {
  if (!counts.is_object() || !counts.contains("nodes_delegated")) {
    return;
  }
  case_verdict.nodes_delegated = counts.value("nodes_delegated", 0);
  case_verdict.nodes_not_delegated = counts.value("nodes_not_delegated", 0);
  case_verdict.delegation =
      delegation_from(case_verdict.nodes_delegated, case_verdict.nodes_not_delegated);
  const auto left = counts.value("operators_left", Json::array());
  for (const auto& one : left) {
    case_verdict.operators_left.push_back(one.is_object() ? one.value("name", std::string())
                                                          : unquoted_text(one));
  }
}

/// A word of the manifest is believed before our own counting.
void add_program(const Json& manifest, CaseVerdict& case_verdict) {
  if (!manifest.is_object()) {
    return;
  }
  add_delegation(manifest.value("program", Json::object()), case_verdict);
  const auto told = manifest.value("delegation", Json());
  if (told.is_string()) {
    case_verdict.delegation =
        find_enum<Delegation>(told.get<std::string>()).value_or(case_verdict.delegation);
  }
}

Result<Json> manifest_of(ResultStore& store, const Attempt& attempt) {
  if (attempt.artifact.empty()) {
    return Json();
  }
  ASSAY_ASSIGN_OR_RETURN(auto artifact, store.get_artifact(attempt.artifact));
  return std::move(artifact.manifest);
}

std::string last_words_of(const std::vector<Launch>& launches) {
  auto words = launches.empty() ? std::string() : launches.back().end.last_words;
  if (words.size() > kMostWords) {
    words.erase(0, words.size() - kMostWords);
  }
  return words;
}

/// Operators that the engine left to its fallback at load, which no manifest knows of: the
/// option "operators_left" in force, by operator, beside "operators_taken", a number.
Json left_at_load(const std::vector<Launch>& launches) {
  for (const auto& launch : launches) {
    if (launch.load && launch.load->effective_options.contains("operators_left")) {
      return launch.load->effective_options;
    }
  }
  return Json();
}

/// The tables of an attempt: one for each part, or one.
Result<std::vector<AccuracyTable>> tables_of(ResultStore& store, const Attempt& attempt,
                                             bool is_joint) {
  std::vector<AccuracyTable> tables;
  ASSAY_ASSIGN_OR_RETURN(const auto attachments, store.attachments_of(attempt.id));
  for (const auto& attachment : attachments) {
    if (attachment.kind == (is_joint ? "part_tables" : "accuracy_table")) {
      ASSAY_ASSIGN_OR_RETURN(const auto json, parse_json(attachment.content, attachment.kind));
      tables = is_joint ? json.get<std::vector<AccuracyTable>>()
                        : std::vector{json.get<AccuracyTable>()};
    }
  }
  return tables;
}

CaseVerdict verdict_from_table(const AccuracyTable& table) {
  CaseVerdict case_verdict{.verdict = verdict_of(Outcome::kCompleted, table.accuracy),
                           .stage = Stage::kDone,
                           .text = table.reason,
                           .error_bound_ratio = worst_ratio(table),
                           .table = table};
  return case_verdict;
}

/// Verdict of an attempt that did not complete, or whose outputs were not compared.
CaseVerdict verdict_without_table(const Attempt& attempt) {
  const bool is_completed = attempt.outcome == Outcome::kCompleted;
  // The cases are Assay's own, and so is a request for one that cannot be met.
  const bool is_ours = attempt.reason_code == kInvalidRequest;
  return {
      .verdict = is_ours ? ConformVerdict::kHarnessError
                         : verdict_of(attempt.outcome, Accuracy::kNotChecked),
      .stage = attempt.stage,
      .reason_code = attempt.reason_code,
      .text = is_completed ? "there is no reference to compare the outputs with" : attempt.text};
}

Result<std::vector<CaseVerdict>> verdicts_of_parts(ResultStore& store, const Attempt& attempt,
                                                   std::size_t cells) {
  std::vector<CaseVerdict> case_verdicts;
  ASSAY_ASSIGN_OR_RETURN(const auto tables, tables_of(store, attempt, true));
  ASSAY_ASSIGN_OR_RETURN(const auto manifest, manifest_of(store, attempt));
  if (attempt.outcome != Outcome::kCompleted || tables.size() != cells) {
    return case_verdicts;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto launches, store.launches_of_attempt(attempt.id));
  const auto load = left_at_load(launches);
  const auto parts = manifest.at("program").at("parts");
  for (std::size_t i = 0; i < cells; ++i) {
    case_verdicts.push_back(verdict_from_table(tables[i]));
    add_delegation(parts.at(i).value("delegation", Json::object()), case_verdicts.back());
    correct_delegation_of_part(load, case_verdicts.back());
  }
  return case_verdicts;
}

/// True if the toolchain ran past its deadline, which tells of this machine and not of the program.
bool has_slow_job(const CaseVerdict& one) {
  return one.verdict == ConformVerdict::kTimedOut && one.stage < Stage::kPush;
}

}  // namespace

ConformVerdict verdict_of(Outcome outcome, Accuracy accuracy) {
  switch (outcome) {
    case Outcome::kCompleted:
      return verdict_of_accuracy(accuracy);
    case Outcome::kUnsupported:
      return ConformVerdict::kUnsupported;
    case Outcome::kAotError:
      return ConformVerdict::kAotError;
    case Outcome::kLoadError:
      return ConformVerdict::kLoadError;
    case Outcome::kRunError:
      return ConformVerdict::kRunError;
    case Outcome::kCrashed:
      return ConformVerdict::kCrashed;
    case Outcome::kTimedOut:
      return ConformVerdict::kTimedOut;
    case Outcome::kOutOfMemory:
      return ConformVerdict::kOutOfMemory;
    case Outcome::kHarnessError:
      return ConformVerdict::kHarnessError;
    case Outcome::kSkipped:
      break;
  }
  return ConformVerdict::kNotRun;
}

Delegation delegation_from(int nodes_delegated, int nodes_not_delegated) {
  if (nodes_not_delegated == 0) {
    return Delegation::kFull;
  }
  return nodes_delegated == 0 ? Delegation::kNone : Delegation::kPartial;
}

bool is_delegated_enough(Delegation found, Delegation required) {
  return required == Delegation::kNone || found == Delegation::kFull ||
         (required == Delegation::kPartial && found == Delegation::kPartial);
}

void correct_delegation(const Json& load, CaseVerdict& case_verdict) {
  if (!load.is_object() || !load.at("operators_left").is_object()) {
    return;
  }
  int left = 0;
  for (const auto& [name, count] : load.at("operators_left").items()) {
    left += count.is_number() ? count.get<int>() : 0;
    case_verdict.operators_left.push_back(name);
  }
  const int taken = load.value("operators_taken", 0);
  case_verdict.nodes_delegated = std::min(case_verdict.nodes_delegated, taken);
  case_verdict.nodes_not_delegated += left;
  case_verdict.delegation = left > 0 ? delegation_from(taken, left) : case_verdict.delegation;
}

void correct_delegation_of_part(const Json& load, CaseVerdict& part) {
  if (!load.is_object() || !load.at("operators_left").is_object() ||
      load.at("operators_left").empty()) {
    return;
  }
  if (load.value("operators_taken", 0) > 0) {
    part.needs_own_program = true;
    return;
  }
  part.nodes_not_delegated += std::exchange(part.nodes_delegated, 0);
  part.delegation = Delegation::kNone;
}

Result<std::vector<CaseVerdict>> read_case_verdicts(ResultStore& store, const Attempt& attempt,
                                                    std::size_t cells) {
  if (cells > 1) {
    return verdicts_of_parts(store, attempt, cells);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto tables, tables_of(store, attempt, false));
  ASSAY_ASSIGN_OR_RETURN(const auto manifest, manifest_of(store, attempt));
  auto case_verdict = tables.empty() || attempt.outcome != Outcome::kCompleted
                          ? verdict_without_table(attempt)
                          : verdict_from_table(tables.front());
  ASSAY_ASSIGN_OR_RETURN(const auto launches, store.launches_of_attempt(attempt.id));
  case_verdict.last_words = last_words_of(launches);
  add_program(manifest, case_verdict);
  correct_delegation(left_at_load(launches), case_verdict);
  return std::vector{std::move(case_verdict)};
}

CaseVerdict verdict_on_refusal(CaseVerdict case_verdict) {
  const bool is_refused =
      case_verdict.verdict == ConformVerdict::kRunError && case_verdict.stage == Stage::kSteady;
  if (is_refused) {
    case_verdict.verdict = ConformVerdict::kPass;
    case_verdict.reason_code = "refused";
  } else if (case_verdict.verdict == ConformVerdict::kFailNumeric) {
    case_verdict.text = "it refused nothing: " + case_verdict.text;
  }
  return case_verdict;
}

CaseVerdict joined_verdict(const CaseVerdict& first, const CaseVerdict& second) {
  if (first.verdict == second.verdict || has_slow_job(second)) {
    return first;
  }
  if (has_slow_job(first)) {
    return second;
  }
  const bool is_ours = first.verdict == ConformVerdict::kHarnessError ||
                       second.verdict == ConformVerdict::kHarnessError;
  auto joined = first.verdict == ConformVerdict::kPass ? second : first;
  joined.verdict = is_ours ? ConformVerdict::kHarnessError : ConformVerdict::kFailNondeterministic;
  joined.reason_code = "verdict_changed";
  joined.text = fmt::format("{} in one process and {} in another: {}", name_of(first.verdict),
                            name_of(second.verdict), joined.text);
  return joined;
}

}  // namespace assay
