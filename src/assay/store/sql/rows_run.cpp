// Rows known before anything runs: runs, cases, subjects, artifacts, references.
#include <cstdint>
#include <fmt/ranges.h>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/record/case.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/rows.h"
#include "assay/store/sql/sql_store.h"

namespace assay::sql {
namespace {

constexpr std::string_view kLatestOf = "latest:";
constexpr std::string_view kLabelled = "label:";

Status add_input_set(Connection& connection, const InputSet& inputs, const std::string& digest) {
  return connection.run("INSERT INTO input_set VALUES (?, ?, ?) ON CONFLICT DO NOTHING", digest,
                        inputs.role, text_from_record(inputs));
}

std::string describe_runs(const std::vector<Run>& runs) {
  std::vector<std::string> names;
  names.reserve(runs.size());
  for (const auto& run : runs) {
    names.push_back(run.name.empty() ? run.id : fmt::format("{} ({})", run.id, run.name));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The verbs and purposes of all runs, for a name that none of them has.
Result<std::vector<std::string>> list_makers(Connection& connection) {
  return collect(connection.prepare("SELECT purpose FROM run UNION "
                                    "SELECT json_extract(argv, '$[1]') FROM run "
                                    "WHERE json_extract(argv, '$[1]') IS NOT NULL"),
                 [](Statement& row) { return Result<std::string>(row.text(0)); });
}

}  // namespace

std::string made_by_sql(std::string_view parameter) {
  return fmt::format("(run.purpose = {0} OR json_extract(run.argv, '$[1]') = {0})", parameter);
}

Result<Run> read_run(Statement& row) {
  Run run;
  run.id = row.text(0);
  run.purpose = row.text(1);
  run.name = row.text(2);
  ASSAY_ASSIGN_OR_RETURN(run.labels, record_from_text<decltype(run.labels)>(row.text(3), "labels"));
  run.seed = static_cast<std::uint64_t>(row.integer(4));
  ASSAY_ASSIGN_OR_RETURN(run.argv, record_from_text<decltype(run.argv)>(row.text(5), "argv"));
  run.spec_digest = row.text(6);
  ASSAY_ASSIGN_OR_RETURN(run.spec, record_from_text<Json>(row.text(7), "spec"));
  run.environment = row.text(8);
  run.started_unix_ns = row.integer(9);
  run.finished_unix_ns = row.integer(10);
  run.environment_key = row.text(11);
  return run;
}

Status check_unfinished(Connection& connection, std::string_view run) {
  ASSAY_ASSIGN_OR_RETURN(
      auto row, connection.prepare(fmt::format("SELECT finished_unix_ns FROM run WHERE id = ?{}",
                                               connection.lock_words(RowLock::kRelied)),
                                   run));
  ASSAY_ASSIGN_OR_RETURN(const bool has_row, row.step());
  return has_row && row.integer(0) != 0
             ? fail(ErrorCode::kInvalidArgument,
                    fmt::format("run '{}' is finished: what it holds does not change", run))
             : Status();
}

Status SqlResultStore::add_environment(const Environment& environment) {
  return connection_.in_transaction([&]() -> Status {
    const auto document = text_from_record(environment);
    ASSAY_RETURN_IF_ERROR(
        connection_.run("INSERT INTO environment VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                        environment.id, environment.device_class, document));
    return connection_.run("INSERT INTO environment_record VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                           environment_key(environment), environment.id, document);
  });
}

Status SqlResultStore::add_run(const Run& run) {
  ASSAY_RETURN_IF_ERROR(claim_run(run.id));
  return connection_.run(
      "INSERT INTO run (id, purpose, name, labels, seed, argv, spec_digest, spec, environment, "
      "started_unix_ns, finished_unix_ns, environment_key, order_ns) VALUES (?1, ?2, ?3, ?4, ?5, "
      "?6, ?7, ?8, ?9, "
      "?10, ?11, coalesce(?12, (SELECT environment_key FROM environment_record "
      "WHERE environment = ?9 ORDER BY rowid DESC LIMIT 1)), "
      "(SELECT max(ns) FROM (SELECT ?10 AS ns UNION ALL SELECT 1 + max(order_ns) FROM run) AS "
      "later))",
      run.id, run.purpose, run.name, text_from_record(run.labels), run.seed,
      text_from_record(run.argv), run.spec_digest, text_from_record(run.spec),
      text_or_null(run.environment), run.started_unix_ns, run.finished_unix_ns,
      text_or_null(run.environment_key));
}

Status SqlResultStore::finish_run(std::string_view run_id, std::int64_t finished_unix_ns) {
  ASSAY_RETURN_IF_ERROR(get_one(
      connection_.prepare("SELECT 1 FROM run WHERE id = ?", run_id),
      [](Statement&) { return Result<bool>(true); },
      fmt::format("no run '{}' in the store", run_id)));
  return connection_.run(
      "UPDATE run SET finished_unix_ns = ? WHERE id = ? AND finished_unix_ns = 0", finished_unix_ns,
      run_id);
}

Status SqlResultStore::add_run_device(std::string_view run_id, std::string_view device,
                                      const Environment& environment) {
  ASSAY_RETURN_IF_ERROR(add_environment(environment));
  return connection_.in_transaction([&]() -> Status {
    ASSAY_RETURN_IF_ERROR(check_unfinished(connection_, run_id));
    return connection_.run("INSERT INTO run_device VALUES (?, ?, ?) ON CONFLICT DO NOTHING", run_id,
                           device, environment_key(environment));
  });
}

Status SqlResultStore::add_case(std::string_view run_id, const Case& cell) {
  return connection_.in_transaction([&]() -> Status {
    ASSAY_RETURN_IF_ERROR(check_unfinished(connection_, run_id));
    const auto key = case_key(cell);
    const auto inputs = digest_of_json(cell.inputs);
    const auto calibration = digest_of_json(cell.calibration);
    ASSAY_RETURN_IF_ERROR(add_input_set(connection_, cell.inputs, inputs));
    ASSAY_RETURN_IF_ERROR(add_input_set(connection_, cell.calibration, calibration));
    ASSAY_RETURN_IF_ERROR(
        connection_.run("INSERT INTO case_identity VALUES (?, ?, ?) ON CONFLICT DO NOTHING", key,
                        label_of(cell), text_from_record(identity_of(cell))));
    return connection_.run(
        "INSERT INTO run_case VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run, case_key, "
        "engine_build, device) DO UPDATE SET input_set = excluded.input_set, "
        "calibration_set = excluded.calibration_set, document = excluded.document",
        run_id, key, cell.engine_build, cell.device, inputs, calibration, text_from_record(cell));
  });
}

Status SqlResultStore::add_subject(const Subject& subject) {
  return connection_.run("INSERT INTO subject VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                         subject_key(subject), subject.engine_build, subject.engine_build_id,
                         subject.toolchain_id, subject.artifact_digest);
}

Status SqlResultStore::add_artifact(const Artifact& artifact) {
  return connection_.run("INSERT INTO artifact VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                         artifact.id(), artifact.digest(), artifact.key, artifact.folder,
                         artifact.entry, text_from_record(artifact.files),
                         text_from_record(artifact.manifest));
}

Status SqlResultStore::add_reference(const Reference& reference) {
  return connection_.run("INSERT INTO reference VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                         reference.id(), reference.key, reference.kind, reference.folder,
                         text_from_record(reference.document));
}

namespace {

/// The newest with the label that "label:commit=abc" or "label:keep" names.
Result<Run> get_labelled_run(Connection& connection, std::string_view reference) {
  const auto label = reference.substr(kLabelled.size());
  const auto equals = label.find('=');
  const bool has_value = equals != std::string_view::npos;
  return get_one(
      connection.prepare(
          fmt::format("SELECT {} FROM run WHERE EXISTS (SELECT 1 FROM json_each(run.labels) AS own "
                      "WHERE own.key = ?1 AND (?3 = 0 OR own.value = ?2)) "
                      "ORDER BY order_ns DESC, id DESC LIMIT 1",
                      kRunColumns),
          label.substr(0, equals), has_value ? label.substr(equals + 1) : std::string_view(),
          static_cast<int>(has_value)),
      read_run, fmt::format("no run has the label {}; assay runs shows which there are", label));
}

}  // namespace

Result<Run> SqlResultStore::get_run(std::string_view reference) {
  if (reference.starts_with(kLabelled)) {
    return get_labelled_run(connection_, reference);
  }
  const auto newest = fmt::format(
      "SELECT {} FROM run WHERE substr(id, 1, length(?1)) = ?1 AND (?2 = '' OR {}) ORDER BY "
      "order_ns DESC, id DESC LIMIT 5",
      kRunColumns, made_by_sql("?2"));
  const bool is_latest = reference == "latest" || reference.starts_with(kLatestOf);
  const auto prefix = is_latest ? std::string_view() : reference;
  const auto maker =
      reference.starts_with(kLatestOf) ? reference.substr(kLatestOf.size()) : std::string_view();
  ASSAY_ASSIGN_OR_RETURN(auto found, collect(connection_.prepare(newest, prefix, maker), read_run));
  if (found.size() == 1 || (is_latest && !found.empty())) {
    return std::move(found.front());
  }
  if (!found.empty() && !reference.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' may be one of several runs: {}; give more of the id", reference,
                            describe_runs(found)));
  }
  if (!maker.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const auto makers, list_makers(connection_));
    return fail(ErrorCode::kNotFound,
                fmt::format("no run of '{}'{}", maker, suggestion_for(maker, makers)));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto others, collect(connection_.prepare(newest, "", ""), read_run));
  return fail(ErrorCode::kNotFound, others.empty() ? "the store has no runs yet"
                                                   : fmt::format("no run '{}'; the newest are {}",
                                                                 reference, describe_runs(others)));
}

Result<Environment> SqlResultStore::environment_of_run(std::string_view run_id) {
  return get_one(
      connection_.prepare("SELECT environment_record.document FROM run JOIN environment_record "
                          "USING (environment_key) WHERE run.id = ?",
                          run_id),
      [](Statement& row) { return record_from_text<Environment>(row.text(0), "environment"); },
      fmt::format("no environment of run '{}' in the store", run_id));
}

Result<std::map<std::string, Environment>> SqlResultStore::environments_of_run(
    std::string_view run_id) {
  using Machine = std::pair<std::string, Environment>;
  ASSAY_ASSIGN_OR_RETURN(
      auto machines,
      collect(connection_.prepare("SELECT device, document FROM run_device JOIN environment_record "
                                  "USING (environment_key) WHERE run = ?",
                                  run_id),
              [](Statement& row) -> Result<Machine> {
                ASSAY_ASSIGN_OR_RETURN(auto machine,
                                       record_from_text<Environment>(row.text(1), "environment"));
                return Machine(row.text(0), std::move(machine));
              }));
  return std::map<std::string, Environment>(std::make_move_iterator(machines.begin()),
                                            std::make_move_iterator(machines.end()));
}

Result<std::vector<Case>> SqlResultStore::cases_of_run(std::string_view run_id) {
  return collect(
      connection_.prepare(
          "SELECT document FROM run_case WHERE run = ?1 AND NOT EXISTS (SELECT 1 FROM attempt JOIN "
          "subject ON subject_key = attempt.subject WHERE attempt.run = ?1 AND attempt.case_key = "
          "run_case.case_key AND attempt.device = run_case.device AND subject.engine_build = "
          "run_case.engine_build GROUP BY attempt.case_key HAVING min(CASE WHEN attempt.worker IN "
          "(SELECT id FROM late_execution WHERE run = ?1) THEN 1 ELSE 0 END) = 1) ORDER BY rowid",
          run_id),
      [](Statement& row) { return record_from_text<Case>(row.text(0), "case"); });
}

Result<Subject> SqlResultStore::get_subject(std::string_view subject_key) {
  return get_one(
      connection_.prepare("SELECT engine_build, engine_build_id, toolchain_id, artifact_digest "
                          "FROM subject WHERE subject_key = ?",
                          subject_key),
      [](Statement& row) -> Result<Subject> {
        return Subject{row.text(0), row.text(1), row.text(2), row.text(3)};
      },
      fmt::format("no subject '{}' in the store", subject_key));
}

Result<Artifact> SqlResultStore::get_artifact(std::string_view id) {
  return get_one(
      connection_.prepare("SELECT cache_key, folder, entry, files, manifest FROM artifact "
                          "WHERE id = ?",
                          id),
      [](Statement& row) -> Result<Artifact> {
        Artifact artifact{.key = row.text(0), .folder = row.text(1), .entry = row.text(2)};
        ASSAY_ASSIGN_OR_RETURN(artifact.files,
                               record_from_text<decltype(artifact.files)>(row.text(3), "artifact"));
        ASSAY_ASSIGN_OR_RETURN(artifact.manifest, record_from_text<Json>(row.text(4), "manifest"));
        return artifact;
      },
      fmt::format("no artifact '{}' in the store", id));
}

Result<Reference> SqlResultStore::get_reference(std::string_view id) {
  return get_one(
      connection_.prepare(
          "SELECT reference_key, kind, folder, document FROM reference WHERE id = ?", id),
      [](Statement& row) -> Result<Reference> {
        Reference reference{.key = row.text(0), .kind = row.text(1), .folder = row.text(2)};
        ASSAY_ASSIGN_OR_RETURN(reference.document,
                               record_from_text<Json>(row.text(3), "reference"));
        return reference;
      },
      fmt::format("no reference '{}' in the store", id));
}

}  // namespace assay::sql
