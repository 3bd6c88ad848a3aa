#include "assay/summary/case_rows.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/attribution.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/profile.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/store/case_attempts.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

Status read_launches(ResultStore& store, const AttemptLaunches& known, CaseRows& rows) {
  for (const auto& [pass, attempt] : rows.attempts) {
    if (const auto found = known.find(attempt.id); found != known.end()) {
      rows.launches[pass] = found->second;
    } else {
      ASSAY_ASSIGN_OR_RETURN(rows.launches[pass], store.launches_of_attempt(attempt.id));
    }
  }
  return {};
}

/// An evaluation that was interrupted is done again, and its last word on a reference counts.
void put_table(AccuracyTable table, std::vector<AccuracyTable>& tables) {
  std::erase_if(tables, [&table](const auto& one) { return one.against == table.against; });
  tables.push_back(std::move(table));
}

Status read_tables(ResultStore& store, CaseRows& rows) {
  const auto attempt = rows.attempts.find(Pass::kEvaluate);
  if (attempt == rows.attempts.end()) {
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto attachments, store.attachments_of(attempt->second.id));
  for (const auto& attachment : attachments) {
    if (attachment.kind == "accuracy_table") {
      ASSAY_ASSIGN_OR_RETURN(const auto table, parse_json(attachment.content, "accuracy table"));
      put_table(table.get<AccuracyTable>(), rows.tables);
    }
    rows.has_parts |= attachment.kind == "part_tables";
    if (attachment.kind == "note") {
      rows.notes.push_back(attachment.content);
    }
    if (attachment.kind == "gives_reference") {
      rows.given_kinds.push_back(attachment.content);
    }
    if (attachment.kind == "attribution") {
      ASSAY_ASSIGN_OR_RETURN(const auto found, parse_json(attachment.content, "attribution"));
      rows.attribution = found.get<Attribution>();
    }
  }
  return {};
}

Status read_instructions(ResultStore& store, CaseRows& rows) {
  const auto attempt = rows.attempts.find(Pass::kProfile);
  if (attempt == rows.attempts.end()) {
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto attachments, store.attachments_of(attempt->second.id));
  for (const auto& attachment : attachments) {
    if (attachment.kind == "instructions") {
      ASSAY_ASSIGN_OR_RETURN(const auto report, parse_json(attachment.content, "instructions"));
      rows.instructions = report.get<InstructionReport>();
    }
  }
  return {};
}

Status read_artifact(ResultStore& store, CaseRows& rows) {
  if (rows.attempts.empty()) {
    return {};
  }
  if (const auto& id = rows.attempts.begin()->second.artifact; !id.empty()) {
    ASSAY_ASSIGN_OR_RETURN(rows.artifact, store.get_artifact(id));
  }
  return {};
}

}  // namespace

Result<AttemptLaunches> read_timed_launches(ResultStore& store,
                                            const std::vector<Attempt>& attempts) {
  AttemptLaunches launches;
  for (const auto& attempt : attempts) {
    if (attempt.pass == Pass::kTiming) {
      ASSAY_ASSIGN_OR_RETURN(launches[attempt.id], store.launches_of_attempt(attempt.id));
    }
  }
  return launches;
}

Result<CaseRows> read_case_rows(ResultStore& store, const Case& cell,
                                const std::vector<Attempt>& attempts,
                                const AttemptLaunches& known) {
  CaseRows rows{.cell = cell, .attempts = counting_attempts(attempts)};
  ASSAY_RETURN_IF_ERROR(read_launches(store, known, rows));
  ASSAY_RETURN_IF_ERROR(read_tables(store, rows));
  ASSAY_RETURN_IF_ERROR(read_instructions(store, rows));
  ASSAY_RETURN_IF_ERROR(read_artifact(store, rows));
  return rows;
}

bool has_lost_launches(const CaseRows& rows, Pass pass) {
  const auto attempt = rows.attempts.find(pass);
  const auto launches = rows.launches.find(pass);
  return attempt != rows.attempts.end() && attempt->second.is_finished &&
         attempt->second.outcome == Outcome::kCompleted &&
         (launches == rows.launches.end() || launches->second.empty());
}

}  // namespace assay
