#include "assay/store/sqlite/migrations.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/store/sql/point_scales.h"
#include "assay/store/sql/reference_indexes.h"
#include "assay/store/sqlite/connection.h"
#include "assay/store/sqlite/mend_texts.h"

namespace assay::sqlite {
namespace {

// Numbered by position; what was released is never edited, a change is a new entry at the end.
// docs/contracts/store.md explains the tables, COMPATIBILITY.md says which version reads which.
constexpr std::string_view kMigration1 = R"sql(
CREATE TABLE environment (
  id TEXT PRIMARY KEY NOT NULL,
  device_class TEXT NOT NULL,
  document TEXT NOT NULL);

CREATE TABLE run (
  id TEXT PRIMARY KEY NOT NULL,
  purpose TEXT NOT NULL,
  name TEXT NOT NULL,
  labels TEXT NOT NULL,
  seed INTEGER NOT NULL,
  argv TEXT NOT NULL,
  spec_digest TEXT NOT NULL,
  spec TEXT NOT NULL,
  environment TEXT REFERENCES environment (id),
  started_unix_ns INTEGER NOT NULL,
  finished_unix_ns INTEGER NOT NULL);
CREATE INDEX run_by_start ON run (started_unix_ns);

CREATE TABLE case_identity (
  case_key TEXT PRIMARY KEY NOT NULL,
  label TEXT NOT NULL,
  identity TEXT NOT NULL);

CREATE TABLE input_set (
  digest TEXT PRIMARY KEY NOT NULL,
  role TEXT NOT NULL,
  document TEXT NOT NULL);

CREATE TABLE run_case (
  run TEXT NOT NULL REFERENCES run (id),
  case_key TEXT NOT NULL REFERENCES case_identity (case_key),
  engine_build TEXT NOT NULL,
  device TEXT NOT NULL,
  input_set TEXT NOT NULL REFERENCES input_set (digest),
  calibration_set TEXT NOT NULL REFERENCES input_set (digest),
  document TEXT NOT NULL,
  UNIQUE (run, case_key, engine_build, device));
CREATE INDEX run_case_by_case ON run_case (case_key);

CREATE TABLE subject (
  subject_key TEXT PRIMARY KEY NOT NULL,
  engine_build TEXT NOT NULL,
  engine_build_id TEXT NOT NULL,
  toolchain_id TEXT NOT NULL,
  artifact_digest TEXT NOT NULL);

CREATE TABLE artifact (
  digest TEXT PRIMARY KEY NOT NULL,
  cache_key TEXT NOT NULL,
  folder TEXT NOT NULL,
  entry TEXT NOT NULL,
  files TEXT NOT NULL,
  manifest TEXT NOT NULL);

CREATE TABLE reference (
  reference_key TEXT PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL,
  folder TEXT NOT NULL,
  document TEXT NOT NULL);

CREATE TABLE comparison (
  id TEXT PRIMARY KEY NOT NULL,
  a TEXT NOT NULL,
  b TEXT NOT NULL,
  design TEXT NOT NULL,
  metric TEXT NOT NULL,
  estimate REAL,
  low REAL,
  high REAL,
  verdict TEXT NOT NULL,
  looks INTEGER NOT NULL);

CREATE TABLE attempt (
  id TEXT PRIMARY KEY NOT NULL,
  run TEXT NOT NULL REFERENCES run (id),
  case_key TEXT NOT NULL REFERENCES case_identity (case_key),
  subject TEXT REFERENCES subject (subject_key),
  device TEXT NOT NULL,
  pass TEXT NOT NULL,
  worker TEXT NOT NULL,
  lease_until_unix_ns INTEGER NOT NULL,
  n INTEGER NOT NULL,
  is_finished INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  stage TEXT NOT NULL,
  reason_code TEXT NOT NULL,
  text TEXT NOT NULL);
CREATE INDEX attempt_by_run ON attempt (run, case_key);
CREATE INDEX attempt_by_case ON attempt (case_key);

CREATE TABLE launch (
  id TEXT PRIMARY KEY NOT NULL,
  attempt TEXT NOT NULL REFERENCES attempt (id),
  launch_index INTEGER NOT NULL,
  run_order INTEGER NOT NULL,
  comparison TEXT REFERENCES comparison (id),
  block INTEGER,
  pair INTEGER,
  side TEXT,
  core_set TEXT,
  is_fresh INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  stage TEXT NOT NULL,
  reason_code TEXT NOT NULL,
  text TEXT NOT NULL,
  wall_ns INTEGER NOT NULL,
  overhead_ns INTEGER NOT NULL,
  conditions_before TEXT NOT NULL,
  conditions_after TEXT NOT NULL,
  process_end TEXT NOT NULL,
  load TEXT,
  measurement TEXT,
  memory TEXT,
  profile TEXT);
CREATE INDEX launch_by_attempt ON launch (attempt, launch_index);

CREATE TABLE sample_block (
  launch TEXT NOT NULL REFERENCES launch (id),
  metric TEXT NOT NULL,
  step INTEGER NOT NULL,
  phase TEXT NOT NULL,
  n INTEGER NOT NULL,
  codec TEXT NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (launch, metric, step, phase)) WITHOUT ROWID;

CREATE TABLE op_event (
  launch TEXT NOT NULL REFERENCES launch (id),
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  instruction INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  total_ns INTEGER NOT NULL,
  min_ns INTEGER NOT NULL,
  median_ns INTEGER NOT NULL,
  PRIMARY KEY (launch, position)) WITHOUT ROWID;

CREATE TABLE trace (
  launch TEXT NOT NULL REFERENCES launch (id),
  channel TEXT NOT NULL,
  unit TEXT NOT NULL,
  n INTEGER NOT NULL,
  codec TEXT NOT NULL,
  times_ns BLOB NOT NULL,
  readings BLOB NOT NULL,
  PRIMARY KEY (launch, channel)) WITHOUT ROWID;

CREATE TABLE metric (
  attempt TEXT NOT NULL REFERENCES attempt (id),
  launch TEXT NOT NULL,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  scope TEXT NOT NULL,
  value REAL NOT NULL,
  special TEXT NOT NULL,
  UNIQUE (attempt, launch, name, version, scope));

CREATE TABLE attachment (
  owner TEXT NOT NULL,
  kind TEXT NOT NULL,
  digest TEXT NOT NULL,
  codec TEXT NOT NULL,
  bytes BLOB NOT NULL,
  UNIQUE (owner, kind, digest));
)sql";

// The table was reserved before, and empty.
constexpr std::string_view kMigration2 = R"sql(
DROP TABLE comparison;
CREATE TABLE comparison (
  id TEXT PRIMARY KEY NOT NULL,
  run TEXT NOT NULL REFERENCES run (id),
  a_case TEXT NOT NULL,
  b_case TEXT NOT NULL,
  verdict TEXT NOT NULL,
  document TEXT NOT NULL);
CREATE INDEX comparison_by_run ON comparison (run);
)sql";

// A pair's phase could be told by its number before; absent: "search", interleaved.
constexpr std::string_view kMigration3 = R"sql(
ALTER TABLE launch ADD COLUMN pair_phase TEXT;
ALTER TABLE launch ADD COLUMN pairing TEXT;
)sql";

// Artifacts, references and environments were replaced or shared where a part of them was equal;
// now a row's key covers all of it, and an attempt and a run name the rows that are theirs.
// sha256 is Connection's own function.
constexpr std::string_view kMigration4 = R"sql(
ALTER TABLE artifact RENAME TO artifact_before;
CREATE TABLE artifact (
  id TEXT PRIMARY KEY NOT NULL,
  digest TEXT NOT NULL,
  cache_key TEXT NOT NULL,
  folder TEXT NOT NULL,
  entry TEXT NOT NULL,
  files TEXT NOT NULL,
  manifest TEXT NOT NULL);
INSERT INTO artifact SELECT sha256('[' || json_quote(cache_key) || ',' || json_quote(folder) ||
    ',' || json_quote(entry) || ',' || files || ',' || manifest || ']'),
  digest, cache_key, folder, entry, files, manifest FROM artifact_before ORDER BY rowid;
DROP TABLE artifact_before;
CREATE INDEX artifact_by_digest ON artifact (digest);
ALTER TABLE attempt ADD COLUMN artifact TEXT REFERENCES artifact (id);
UPDATE attempt SET artifact = (SELECT artifact.id FROM subject JOIN artifact
  ON artifact.digest = subject.artifact_digest WHERE subject.subject_key = attempt.subject);

ALTER TABLE reference RENAME TO reference_before;
CREATE TABLE reference (
  id TEXT PRIMARY KEY NOT NULL,
  reference_key TEXT NOT NULL,
  kind TEXT NOT NULL,
  folder TEXT NOT NULL,
  document TEXT NOT NULL);
INSERT INTO reference SELECT sha256('[' || json_quote(reference_key) || ',' || json_quote(kind) ||
    ',' || json_quote(folder) || ',' || document || ']'),
  reference_key, kind, folder, document FROM reference_before ORDER BY rowid;
DROP TABLE reference_before;
CREATE INDEX reference_by_key ON reference (reference_key);

CREATE TABLE environment_record (
  environment_key TEXT PRIMARY KEY NOT NULL,
  environment TEXT NOT NULL REFERENCES environment (id),
  document TEXT NOT NULL);
INSERT INTO environment_record SELECT sha256(document), id, document FROM environment
  ORDER BY rowid;
ALTER TABLE run ADD COLUMN environment_key TEXT REFERENCES environment_record (environment_key);
UPDATE run SET environment_key = (SELECT environment_key FROM environment_record
  WHERE environment_record.environment = run.environment);
)sql";

// order_ns orders runs as they were added even where the clock was set back. A launch has a
// digest of its rows; those that were stored before have none, and may hold an index twice, as two
// processes could resume one run at once.
constexpr std::string_view kMigration5 = R"sql(
ALTER TABLE run ADD COLUMN order_ns INTEGER NOT NULL DEFAULT 0;
UPDATE run SET order_ns = started_unix_ns;
DROP INDEX run_by_start;
CREATE INDEX run_by_order ON run (order_ns);
ALTER TABLE launch ADD COLUMN digest TEXT;
CREATE UNIQUE INDEX launch_once ON launch (attempt, launch_index) WHERE digest IS NOT NULL;
CREATE INDEX attempt_by_artifact ON attempt (artifact);
CREATE INDEX attempt_by_subject ON attempt (subject);
)sql";

// Histories of engines that are built from their repositories.
constexpr std::string_view kMigration6 = R"sql(
CREATE TABLE repository (
  id TEXT PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL,
  url TEXT NOT NULL,
  engine TEXT NOT NULL);

CREATE TABLE revision (
  repository TEXT NOT NULL REFERENCES repository (id),
  hash TEXT NOT NULL,
  parents TEXT NOT NULL,
  position INTEGER NOT NULL,
  author TEXT NOT NULL,
  authored_unix_ns INTEGER NOT NULL,
  committed_unix_ns INTEGER NOT NULL,
  subject TEXT NOT NULL,
  PRIMARY KEY (repository, hash)) WITHOUT ROWID;

CREATE TABLE engine_build (
  id TEXT PRIMARY KEY NOT NULL,
  repository TEXT NOT NULL,
  revision TEXT NOT NULL,
  environment TEXT NOT NULL,
  reference TEXT NOT NULL,
  outcome TEXT NOT NULL,
  built_unix_ns INTEGER NOT NULL,
  document TEXT NOT NULL,
  FOREIGN KEY (repository, revision) REFERENCES revision (repository, hash));
CREATE INDEX engine_build_by_revision ON engine_build (revision);
CREATE INDEX engine_build_by_repository ON engine_build (repository);

CREATE TABLE incident (
  id TEXT PRIMARY KEY NOT NULL,
  repository TEXT NOT NULL REFERENCES repository (id),
  opened_unix_ns INTEGER NOT NULL,
  state TEXT NOT NULL,
  changed_unix_ns INTEGER NOT NULL,
  document TEXT NOT NULL);
CREATE INDEX incident_by_repository ON incident (repository);

CREATE TABLE series (
  series_key TEXT PRIMARY KEY NOT NULL,
  repository TEXT NOT NULL REFERENCES repository (id),
  document TEXT NOT NULL);
CREATE INDEX series_by_repository ON series (repository);

CREATE TABLE point (
  series TEXT NOT NULL REFERENCES series (series_key),
  position INTEGER NOT NULL,
  revision TEXT NOT NULL,
  run TEXT NOT NULL REFERENCES run (id),
  machine TEXT NOT NULL,
  reference TEXT NOT NULL,
  value REAL NOT NULL,
  offset REAL NOT NULL,
  low REAL,
  high REAL,
  measured_unix_ns INTEGER NOT NULL,
  PRIMARY KEY (series, position, revision, run)) WITHOUT ROWID;
CREATE INDEX point_by_run ON point (run);
CREATE INDEX run_case_by_build ON run_case (engine_build);
)sql";

// How the traces of a launch were read; their rows have had a table since the beginning.
constexpr std::string_view kMigration7 = R"sql(
ALTER TABLE launch ADD COLUMN sampling TEXT;
)sql";

// Devices of runs on several. A run on one has its machine in its own row.
constexpr std::string_view kMigration8 = R"sql(
CREATE TABLE run_device (
  run TEXT NOT NULL REFERENCES run (id),
  device TEXT NOT NULL,
  environment_key TEXT NOT NULL REFERENCES environment_record (environment_key),
  PRIMARY KEY (run, device)) WITHOUT ROWID;
CREATE INDEX run_device_by_environment ON run_device (environment_key);
)sql";

// Executions of the jobs of a fleet; attempt.worker names one. Of a job that was executed several
// times one execution counts, and which one does not depend on the order of merging.
constexpr std::string_view kMigration9 = R"sql(
CREATE TABLE execution (
  id TEXT PRIMARY KEY NOT NULL,
  run TEXT NOT NULL REFERENCES run (id),
  job TEXT NOT NULL,
  n INTEGER NOT NULL,
  worker TEXT NOT NULL,
  device TEXT NOT NULL,
  started_unix_ns INTEGER NOT NULL,
  finished_unix_ns INTEGER NOT NULL,
  accepted_unix_ns INTEGER NOT NULL);
CREATE INDEX execution_by_job ON execution (run, job);
CREATE VIEW late_execution AS SELECT id, run FROM (SELECT id, run, row_number() OVER (
    PARTITION BY run, job ORDER BY CASE WHEN accepted_unix_ns = 0 THEN 1 ELSE 0 END,
    accepted_unix_ns, finished_unix_ns, id) AS place FROM execution) AS placed WHERE place > 1;
)sql";

struct Migration {
  std::string_view sql;
  Status (*and_then)(Connection&) = nullptr;  ///< For more than SQL can say.
};

// Texts could hold NUL before, which PostgreSQL does not take.
constexpr auto kMigrations = std::to_array<Migration>({{kMigration1},
                                                       {kMigration2},
                                                       {kMigration3},
                                                       {kMigration4},
                                                       {kMigration5},
                                                       {kMigration6},
                                                       {kMigration7},
                                                       {kMigration8},
                                                       {kMigration9},
                                                       {sql::kPointScales},
                                                       {sql::kReferenceIndexes, &mend_texts}});

Status apply(Connection& connection, const Migration& migration) {
  ASSAY_RETURN_IF_ERROR(connection.run_script(std::string(migration.sql)));
  return migration.and_then == nullptr ? Status() : migration.and_then(connection);
}

}  // namespace

std::int64_t schema_version() { return static_cast<std::int64_t>(kMigrations.size()); }

Result<std::int64_t> schema_of(Connection& connection) {
  ASSAY_ASSIGN_OR_RETURN(const auto application, connection.get_integer("PRAGMA application_id"));
  ASSAY_ASSIGN_OR_RETURN(const auto version, connection.get_integer("PRAGMA user_version"));
  ASSAY_ASSIGN_OR_RETURN(const auto tables,
                         connection.get_integer("SELECT count(*) FROM sqlite_schema"));
  const bool is_new = application == 0 && version == 0 && tables == 0;
  if (!is_new && application != kApplicationId) {
    return fail(ErrorCode::kCorrupt, connection.name() +
                                         ": it is a database of another program; name another "
                                         "file for the store");
  }
  if (version > schema_version()) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{}: a newer Assay made it (schema {}, this one reads up to {}); "
                            "update Assay or name another store",
                            connection.name(), version, schema_version()));
  }
  return version;
}

Status migrate(Connection& connection, std::int64_t target) {
  ASSAY_ASSIGN_OR_RETURN(const auto found, schema_of(connection));
  if (found >= target) {
    return {};
  }
  return connection.in_transaction([&connection, target]() -> Status {
    // Another process may have come first.
    ASSAY_ASSIGN_OR_RETURN(const auto version, schema_of(connection));
    for (auto i = version; i < target; ++i) {
      ASSAY_RETURN_IF_ERROR(apply(connection, kMigrations.at(static_cast<std::size_t>(i))));
    }
    return connection.run_script(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                             kApplicationId, std::max(version, target)));
  });
}

}  // namespace assay::sqlite
