// Rows of attempts and of comparisons, which change while a run executes.
#include <fmt/format.h>
#include <string_view>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/comparison.h"
#include "assay/record/run.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/rows.h"
#include "assay/store/sql/sql_store.h"

namespace assay::sql {
namespace {

Result<Attempt> read_attempt(Statement& row) {
  Attempt attempt;
  attempt.id = row.text(0);
  attempt.run = row.text(1);
  attempt.case_key = row.text(2);
  attempt.subject = row.text(3);
  attempt.device = row.text(4);
  ASSAY_ASSIGN_OR_RETURN(attempt.pass, enum_from_text<Pass>(row.text(5)));
  attempt.worker = row.text(6);
  attempt.lease_until_unix_ns = row.integer(7);
  attempt.n = static_cast<int>(row.integer(8));
  attempt.is_finished = row.integer(9) != 0;
  ASSAY_ASSIGN_OR_RETURN(attempt.outcome, enum_from_text<Outcome>(row.text(10)));
  ASSAY_ASSIGN_OR_RETURN(attempt.stage, enum_from_text<Stage>(row.text(11)));
  attempt.reason_code = row.text(12);
  attempt.text = row.text(13);
  attempt.artifact = row.text(14);
  return attempt;
}

Status put_attempt_row(Connection& connection, const Attempt& attempt) {
  return connection.run(
      "INSERT INTO attempt VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
      "ON CONFLICT (id) DO UPDATE SET run = excluded.run, case_key = excluded.case_key, "
      "subject = excluded.subject, artifact = excluded.artifact, device = excluded.device, pass = "
      "excluded.pass, "
      "worker = excluded.worker, lease_until_unix_ns = excluded.lease_until_unix_ns, "
      "n = excluded.n, is_finished = excluded.is_finished, outcome = excluded.outcome, "
      "stage = excluded.stage, reason_code = excluded.reason_code, text = excluded.text",
      attempt.id, attempt.run, attempt.case_key, text_or_null(attempt.subject), attempt.device,
      name_of(attempt.pass), attempt.worker, attempt.lease_until_unix_ns, attempt.n,
      attempt.is_finished, name_of(attempt.outcome), name_of(attempt.stage), attempt.reason_code,
      attempt.text, text_or_null(attempt.artifact));
}

}  // namespace

Status SqlResultStore::put_attempt(const Attempt& attempt) {
  return connection_.in_transaction([&]() -> Status {
    ASSAY_RETURN_IF_ERROR(check_unfinished(connection_, attempt.run));
    return put_attempt_row(connection_, attempt);
  });
}

Status SqlResultStore::put_comparison(const Comparison& comparison) {
  return connection_.in_transaction([&]() -> Status {
    ASSAY_RETURN_IF_ERROR(check_unfinished(connection_, comparison.run));
    return connection_.run(
        "INSERT INTO comparison VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
        "verdict = excluded.verdict, document = excluded.document",
        comparison.id, comparison.run, comparison.a_case, comparison.b_case,
        name_of(comparison.verdict), text_from_record(comparison));
  });
}

Result<std::vector<Comparison>> SqlResultStore::comparisons_of_run(std::string_view run_id) {
  return collect(
      connection_.prepare(fmt::format("SELECT document FROM comparison WHERE {} ORDER BY rowid",
                                      kComparisonsThatCount),
                          run_id),
      [](Statement& row) { return record_from_text<Comparison>(row.text(0), "comparison"); });
}

Result<std::vector<Attempt>> SqlResultStore::attempts_of_run(std::string_view run_id) {
  return collect(
      connection_.prepare("SELECT id, run, case_key, subject, device, pass, worker, "
                          "lease_until_unix_ns, n, is_finished, outcome, stage, reason_code, text, "
                          "artifact FROM attempt WHERE run = ?1 AND worker NOT IN "
                          "(SELECT id FROM late_execution WHERE run = ?1) ORDER BY rowid",
                          run_id),
      read_attempt);
}

}  // namespace assay::sql
