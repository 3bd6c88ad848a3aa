#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"

namespace assay {

/// A metric with the attempt and, if it belongs to one, the launch it was derived from.
struct MetricRow {
  std::string attempt;
  std::string launch;
  Metric metric;
};

/// Bytes kept with a record: last words, an accuracy table, a profile.
struct Attachment {
  std::string owner;  ///< Id of an attempt, launch, run or artifact.
  std::string kind;   ///< "accuracy_table", "log", "etdump"
  std::string content;
};

/// Which runs are listed.
struct RunFilter {
  int limit = 20;
  std::string purpose = {};  ///< "conform", "bench"; empty: any.
};

struct RunListing {
  Run run;
  int cases = 0;
  int launches = 0;
};

/// Keeps all that was measured. Every call is one transaction: what returned is on disk, and a
/// process that dies loses nothing that returned. A record that others refer to comes first:
/// environment, run, case, subject, attempt, launch (an empty environment or subject refers to
/// none). Text that is not UTF-8 is stored with U+FFFD in place of the wrong bytes. Environments,
/// cases, subjects, artifacts, references, metrics and attachments may be added again.
///
/// Errors: kUnavailable (cannot write), kExhausted (disk full), kCorrupt (damaged), kNotFound (what
/// the record refers to, or is asked for, is not there), kInvalidArgument (a run or launch whose id
/// is there already). Not thread-safe; several processes may write to one store.
class ResultStore {
 public:
  virtual ~ResultStore() = default;

  virtual Status add_environment(const Environment& environment) = 0;
  virtual Status add_run(const Run& run) = 0;
  virtual Status finish_run(std::string_view run_id, std::int64_t finished_unix_ns) = 0;
  virtual Status add_case(std::string_view run_id, const Case& cell) = 0;
  virtual Status add_subject(const Subject& subject) = 0;
  virtual Status add_artifact(const Artifact& artifact) = 0;
  virtual Status add_reference(const Reference& reference) = 0;
  /// Inserts the attempt, or replaces the one with its id (to extend a lease, to finish it).
  virtual Status put_attempt(const Attempt& attempt) = 0;
  /// Inserts the comparison, or replaces the one with its id; its launches come after it.
  virtual Status put_comparison(const Comparison& comparison) = 0;
  /// The launch with its raw samples, which are compressed.
  virtual Status add_launch(const Launch& launch) = 0;
  virtual Status add_metrics(std::span<const MetricRow> metrics) = 0;
  virtual Status add_attachment(const Attachment& attachment) = 0;

  /// Newest first.
  virtual Result<std::vector<RunListing>> list_runs(const RunFilter& filter) = 0;
  /// By id, unique prefix of an id, "latest", or "latest:conform": the newest of that purpose.
  /// Errors: kNotFound, listing the newest; kInvalidArgument for a prefix of several.
  virtual Result<Run> get_run(std::string_view reference) = 0;
  virtual Result<Environment> get_environment(std::string_view id) = 0;
  virtual Result<std::vector<Case>> cases_of_run(std::string_view run_id) = 0;
  /// In order of making.
  virtual Result<std::vector<Attempt>> attempts_of_run(std::string_view run_id) = 0;
  virtual Result<std::vector<Comparison>> comparisons_of_run(std::string_view run_id) = 0;
  /// In order of index, samples included.
  virtual Result<std::vector<Launch>> launches_of_attempt(std::string_view attempt_id) = 0;
  virtual Result<std::vector<MetricRow>> metrics_of_attempt(std::string_view attempt_id) = 0;
  virtual Result<std::vector<Attachment>> attachments_of(std::string_view owner) = 0;
  virtual Result<Subject> get_subject(std::string_view subject_key) = 0;
  virtual Result<Artifact> get_artifact(std::string_view digest) = 0;
  virtual Result<Reference> get_reference(std::string_view key) = 0;
  /// Wall time that the case's passes took in its newest run, ns; 0 if it never ran.
  virtual Result<std::int64_t> past_duration_ns(std::string_view case_key) = 0;

  /// Copies every row of another store that this one lacks, and the end of runs and attempts that
  /// were unfinished here; returns how many rows. Ids never clash. All or nothing.
  /// Errors: kNotFound, kInvalidArgument (itself), kUnsupported (made by a newer Assay).
  virtual Result<std::int64_t> merge_from(const std::filesystem::path& other) = 0;
};

/// Opens or makes an SQLite store and brings its schema up to date.
/// Errors: also kUnsupported when a newer Assay made it.
Result<std::unique_ptr<ResultStore>> open_sqlite_store(const std::filesystem::path& path);

/// A store that forgets everything with the process; passes the same contract tests.
std::unique_ptr<ResultStore> make_memory_store();

}  // namespace assay
