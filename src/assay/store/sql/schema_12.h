#pragma once

#include <string_view>

namespace assay::sql {

/// The tables of a store as the first migration makes them, and what a row of each is;
/// docs/contracts/store.md explains how stores behave. Keys are UUIDv7 or digests, and a `document`
/// is JSON that queries need not look into. A table comes behind those that it refers to, and each
/// column of a foreign key has an index: without one, the removal of a row that it may refer to
/// reads the whole table.
inline constexpr std::string_view kSchema12 = R"sql(
-- A machine, as first seen; the id is a digest of what stays (processor, kernel and so on).
CREATE TABLE environment (
  id {text} PRIMARY KEY NOT NULL,
  device_class {text} NOT NULL,
  document {text} NOT NULL{rowid});

-- The whole description of a machine when a run began; the key is a digest of the document.
CREATE TABLE environment_record (
  environment_key {text} PRIMARY KEY NOT NULL,
  environment {text} NOT NULL REFERENCES environment (id),
  document {text} NOT NULL{rowid});
CREATE INDEX environment_record_by_environment ON environment_record (environment);

-- One execution of a set of cases. order_ns orders runs as they were added, also where the clock
-- was set back. A run on several devices has its machines in run_device instead.
CREATE TABLE run (
  id {text} PRIMARY KEY NOT NULL,
  purpose {text} NOT NULL,
  name {text} NOT NULL,
  labels {text} NOT NULL,
  seed {integer} NOT NULL,
  argv {text} NOT NULL,
  spec_digest {text} NOT NULL,
  spec {text} NOT NULL,
  environment {text} REFERENCES environment (id),
  started_unix_ns {integer} NOT NULL,
  finished_unix_ns {integer} NOT NULL,
  environment_key {text} REFERENCES environment_record (environment_key),
  order_ns {integer} NOT NULL DEFAULT 0{rowid});
CREATE INDEX run_by_order ON run (order_ns);
CREATE INDEX run_by_environment ON run (environment);
CREATE INDEX run_by_environment_key ON run (environment_key);

-- A device of a run on several, with its machine.
CREATE TABLE run_device (
  run {text} NOT NULL REFERENCES run (id),
  device {text} NOT NULL,
  environment_key {text} NOT NULL REFERENCES environment_record (environment_key),
  PRIMARY KEY (run, device)){without_rowid};
CREATE INDEX run_device_by_environment ON run_device (environment_key);

-- The meaning of a case key, in every run that has the case.
CREATE TABLE case_identity (
  case_key {text} PRIMARY KEY NOT NULL,
  label {text} NOT NULL,
  identity {text} NOT NULL{rowid});

-- Inputs of cases, or the inputs that a program was calibrated with: by generator, or by file.
CREATE TABLE input_set (
  digest {text} PRIMARY KEY NOT NULL,
  role {text} NOT NULL,
  document {text} NOT NULL{rowid});

-- A case of a run with all its settings.
CREATE TABLE run_case (
  run {text} NOT NULL REFERENCES run (id),
  case_key {text} NOT NULL REFERENCES case_identity (case_key),
  engine_build {text} NOT NULL,
  device {text} NOT NULL,
  input_set {text} NOT NULL REFERENCES input_set (digest),
  calibration_set {text} NOT NULL REFERENCES input_set (digest),
  document {text} NOT NULL{rowid},
  UNIQUE (run, case_key, engine_build, device));
CREATE INDEX run_case_by_case ON run_case (case_key);
CREATE INDEX run_case_by_build ON run_case (engine_build);
CREATE INDEX run_case_by_input_set ON run_case (input_set);
CREATE INDEX run_case_by_calibration_set ON run_case (calibration_set);

-- The subject of a measurement: an engine build, a toolchain and an artifact.
CREATE TABLE subject (
  subject_key {text} PRIMARY KEY NOT NULL,
  engine_build {text} NOT NULL,
  engine_build_id {text} NOT NULL,
  toolchain_id {text} NOT NULL,
  artifact_digest {text} NOT NULL{rowid});

-- Files and manifest of a program. digest is that of the files, cache_key what it was made from.
CREATE TABLE artifact (
  id {text} PRIMARY KEY NOT NULL,
  digest {text} NOT NULL,
  cache_key {text} NOT NULL,
  folder {text} NOT NULL,
  entry {text} NOT NULL,
  files {text} NOT NULL,
  manifest {text} NOT NULL{rowid});
CREATE INDEX artifact_by_digest ON artifact (digest);

-- Expected outputs. reference_key is what they were made from.
CREATE TABLE reference (
  id {text} PRIMARY KEY NOT NULL,
  reference_key {text} NOT NULL,
  kind {text} NOT NULL,
  folder {text} NOT NULL,
  document {text} NOT NULL{rowid});
CREATE INDEX reference_by_key ON reference (reference_key);

-- A against B: looks, estimates and the answer.
CREATE TABLE comparison (
  id {text} PRIMARY KEY NOT NULL,
  run {text} NOT NULL REFERENCES run (id),
  a_case {text} NOT NULL,
  b_case {text} NOT NULL,
  verdict {text} NOT NULL,
  document {text} NOT NULL{rowid});
CREATE INDEX comparison_by_run ON comparison (run);

-- One try at one case in one pass. worker names an execution where a fleet made it.
CREATE TABLE attempt (
  id {text} PRIMARY KEY NOT NULL,
  run {text} NOT NULL REFERENCES run (id),
  case_key {text} NOT NULL REFERENCES case_identity (case_key),
  subject {text} REFERENCES subject (subject_key),
  device {text} NOT NULL,
  pass {text} NOT NULL,
  worker {text} NOT NULL,
  lease_until_unix_ns {integer} NOT NULL,
  n {integer} NOT NULL,
  is_finished {integer} NOT NULL,
  outcome {text} NOT NULL,
  stage {text} NOT NULL,
  reason_code {text} NOT NULL,
  text {text} NOT NULL,
  artifact {text} REFERENCES artifact (id){rowid});
CREATE INDEX attempt_by_run ON attempt (run, case_key);
CREATE INDEX attempt_by_case ON attempt (case_key);
CREATE INDEX attempt_by_artifact ON attempt (artifact);
CREATE INDEX attempt_by_subject ON attempt (subject);

-- One runner process of an attempt. From comparison to core_set, and in pair_phase and pairing:
-- its place in a comparison, NULL for others. sampling: how its traces were read. digest: that of
-- all its rows, here and in the tables below, which it gets once they are complete.
CREATE TABLE launch (
  id {text} PRIMARY KEY NOT NULL,
  attempt {text} NOT NULL REFERENCES attempt (id),
  launch_index {integer} NOT NULL,
  run_order {integer} NOT NULL,
  comparison {text} REFERENCES comparison (id),
  block {integer},
  pair {integer},
  side {text},
  core_set {text},
  is_fresh {integer} NOT NULL,
  outcome {text} NOT NULL,
  stage {text} NOT NULL,
  reason_code {text} NOT NULL,
  text {text} NOT NULL,
  wall_ns {integer} NOT NULL,
  overhead_ns {integer} NOT NULL,
  conditions_before {text} NOT NULL,
  conditions_after {text} NOT NULL,
  process_end {text} NOT NULL,
  load {text},
  measurement {text},
  memory {text},
  profile {text},
  pair_phase {text},
  pairing {text},
  digest {text},
  sampling {text}{rowid});
CREATE INDEX launch_by_attempt ON launch (attempt, launch_index);
CREATE UNIQUE INDEX launch_once ON launch (attempt, launch_index) WHERE digest IS NOT NULL;
CREATE INDEX launch_by_comparison ON launch (comparison) WHERE comparison IS NOT NULL;

-- The raw samples of one column of a launch.
CREATE TABLE sample_block (
  launch {text} NOT NULL REFERENCES launch (id),
  metric {text} NOT NULL,
  step {integer} NOT NULL,
  phase {text} NOT NULL,
  n {integer} NOT NULL,
  codec {text} NOT NULL,
  bytes {blob} NOT NULL,
  PRIMARY KEY (launch, metric, step, phase)){without_rowid};

-- An operator of a profiled launch.
CREATE TABLE op_event (
  launch {text} NOT NULL REFERENCES launch (id),
  position {integer} NOT NULL,
  name {text} NOT NULL,
  kind {text} NOT NULL,
  instruction {integer} NOT NULL,
  calls {integer} NOT NULL,
  total_ns {integer} NOT NULL,
  min_ns {integer} NOT NULL,
  median_ns {integer} NOT NULL,
  PRIMARY KEY (launch, position)){without_rowid};

-- Readings of one channel of the device over a launch: temperature, frequency, power, energy.
CREATE TABLE trace (
  launch {text} NOT NULL REFERENCES launch (id),
  channel {text} NOT NULL,
  unit {text} NOT NULL,
  n {integer} NOT NULL,
  codec {text} NOT NULL,
  times_ns {blob} NOT NULL,
  readings {blob} NOT NULL,
  PRIMARY KEY (launch, channel)){without_rowid};

-- One number of an attempt, or of one launch of it. special: "nan", "inf" or "-inf" beside 0.
CREATE TABLE metric (
  attempt {text} NOT NULL REFERENCES attempt (id),
  launch {text} NOT NULL,
  name {text} NOT NULL,
  version {integer} NOT NULL,
  scope {text} NOT NULL,
  value {real} NOT NULL,
  special {text} NOT NULL{rowid},
  UNIQUE (attempt, launch, name, version, scope));

-- Bytes that belong to whatever has the id `owner`: the end of stderr, a report, a table.
CREATE TABLE attachment (
  owner {text} NOT NULL,
  kind {text} NOT NULL,
  digest {text} NOT NULL,
  codec {text} NOT NULL,
  bytes {blob} NOT NULL{rowid},
  UNIQUE (owner, kind, digest));

-- A repository that an engine is built from.
CREATE TABLE repository (
  id {text} PRIMARY KEY NOT NULL,
  kind {text} NOT NULL,
  url {text} NOT NULL,
  engine {text} NOT NULL{rowid});

-- A commit. position: how many commits lead to it by first parents.
CREATE TABLE revision (
  repository {text} NOT NULL REFERENCES repository (id),
  hash {text} NOT NULL,
  parents {text} NOT NULL,
  position {integer} NOT NULL,
  author {text} NOT NULL,
  authored_unix_ns {integer} NOT NULL,
  committed_unix_ns {integer} NOT NULL,
  subject {text} NOT NULL,
  PRIMARY KEY (repository, hash)){without_rowid};

-- One build of a revision in an environment, or its failure. reference: its name in cases.
CREATE TABLE engine_build (
  id {text} PRIMARY KEY NOT NULL,
  repository {text} NOT NULL,
  revision {text} NOT NULL,
  environment {text} NOT NULL,
  reference {text} NOT NULL,
  outcome {text} NOT NULL,
  built_unix_ns {integer} NOT NULL,
  document {text} NOT NULL{rowid},
  FOREIGN KEY (repository, revision) REFERENCES revision (repository, hash));
CREATE INDEX engine_build_by_revision ON engine_build (revision);
CREATE INDEX engine_build_by_repository ON engine_build (repository);

-- Something found in a history, with its state. The only row that changes for long.
CREATE TABLE incident (
  id {text} PRIMARY KEY NOT NULL,
  repository {text} NOT NULL REFERENCES repository (id),
  opened_unix_ns {integer} NOT NULL,
  state {text} NOT NULL,
  changed_unix_ns {integer} NOT NULL,
  document {text} NOT NULL{rowid});
CREATE INDEX incident_by_repository ON incident (repository);

-- A metric of a case over the revisions of a repository.
CREATE TABLE series (
  series_key {text} PRIMARY KEY NOT NULL,
  repository {text} NOT NULL REFERENCES repository (id),
  document {text} NOT NULL{rowid});
CREATE INDEX series_by_repository ON series (repository);

-- A value of a series at a revision, and its offset to the reference of the same run, with the
-- bounds of that: a logarithm of their ratio or a difference, as the metric has it.
CREATE TABLE point (
  series {text} NOT NULL REFERENCES series (series_key),
  position {integer} NOT NULL,
  revision {text} NOT NULL,
  run {text} NOT NULL REFERENCES run (id),
  machine {text} NOT NULL,
  reference {text} NOT NULL,
  value {real} NOT NULL,
  "offset" {real} NOT NULL,
  low {real},
  high {real},
  measured_unix_ns {integer} NOT NULL,
  PRIMARY KEY (series, position, revision, run)){without_rowid};
CREATE INDEX point_by_run ON point (run);

-- One execution of a job of a fleet.
CREATE TABLE execution (
  id {text} PRIMARY KEY NOT NULL,
  run {text} NOT NULL REFERENCES run (id),
  job {text} NOT NULL,
  n {integer} NOT NULL,
  worker {text} NOT NULL,
  device {text} NOT NULL,
  started_unix_ns {integer} NOT NULL,
  finished_unix_ns {integer} NOT NULL,
  accepted_unix_ns {integer} NOT NULL);
CREATE INDEX execution_by_job ON execution (run, job);

-- The executions that do not count: of a job one does, and which one does not depend on the order
-- of merging.
CREATE VIEW late_execution AS SELECT id, run FROM (SELECT id, run, row_number() OVER (
    PARTITION BY run, job ORDER BY CASE WHEN accepted_unix_ns = 0 THEN 1 ELSE 0 END,
    accepted_unix_ns, finished_unix_ns, id) AS place FROM execution) AS placed WHERE place > 1;
)sql";

}  // namespace assay::sql
