#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/incident.h"
#include "assay/record/job_execution.h"
#include "assay/record/launch.h"
#include "assay/record/measured_series.h"
#include "assay/record/metric.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"
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

/// The launches that a run made of a case in one pass.
struct PastLaunches {
  int attempts = 0;  ///< Attempts with launches: one for each engine build and device.
  int count = 0;
  std::int64_t wall_ns = 0;
};

/// Which runs are listed.
struct RunFilter {
  int limit = 20;                                  ///< Negative: all.
  std::string id = {};                             ///< A whole id; empty: any.
  std::string purpose = {};                        ///< "conform", "measure"; empty: any.
  std::string made_by = {};                        ///< A purpose or a verb: "bench"; empty: any.
  std::map<std::string, std::string> labels = {};  ///< All of them; an empty value: any value.
  std::string model = {};         ///< Part of a model's reference, in any case of its letters.
  std::string engine_build = {};  ///< "toy@0123456789ab", or RevisionBuild::id(); a case has it.
  std::string revision = {};      ///< Whole hash; a case has a build of it.
  /// Each is part of the id, the name, the command line, a label, or the label of a case, in any
  /// case of its letters.
  std::vector<std::string> texts = {};
  /// False: runs are listed without models, recipes, outcomes, comparisons and bytes, whose
  /// counting reads every launch.
  bool has_details = true;
};

/// A run, and what a list shows of it without reading its samples.
struct RunListing {
  Run run;
  int cases = 0;
  int launches = 0;
  std::vector<std::string> models;             ///< References, each once, in order of the cases.
  std::vector<std::string> recipes;            ///< Names, each once; a finished program has none.
  std::map<Outcome, int> outcomes;             ///< Number of attempts by outcome.
  int unfinished_attempts = 0;                 ///< Number of attempts that did not end.
  std::vector<ComparisonVerdict> comparisons;  ///< Verdicts, in order of making.
  std::int64_t bytes = 0;  ///< Size of its launches, samples and attachments in the store.
  bool is_in_use = false;  ///< Another process works on it: ResultStore::claim_run.

  /// The command that made it: "bench"; empty if it was not started from a command line.
  [[nodiscard]] std::string verb() const;
};

/// A table of a store.
struct TableSize {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t bytes = 0;  ///< Size on disk, with its indexes.
};

/// Size of a store.
struct StoreRoom {
  std::int64_t bytes = 0;       ///< Size on disk.
  std::int64_t free_bytes = 0;  ///< Used again; 0 if a server cares for that.
};

/// A store as a whole.
struct StoreInfo {
  std::int64_t schema = 0;
  std::int64_t bytes = 0;  ///< Size on disk.
  std::int64_t runs = 0;
  std::int64_t unfinished_runs = 0;
  std::int64_t oldest_unix_ns = 0;  ///< Start of a run; 0 without any.
  std::int64_t newest_unix_ns = 0;
  std::vector<TableSize> tables;
};

/// Keeps all that was measured. Every call is one transaction: what returned is on disk, and a
/// process that dies loses nothing that returned. A record that others refer to comes first:
/// environment, run, case, subject, artifact, attempt, launch (an empty environment, subject or
/// artifact refers to none); repository, revision, engine build; repository, incident. Text that is
/// not UTF-8 is stored with U+FFFD in place of the wrong bytes.
///
/// Stored rows do not change, except the state of an incident. The key of an environment,
/// subject, artifact, reference and attachment covers all of it: adding one again does nothing, and
/// one that differs in anything is another row. What belongs to a run (cases, attempts,
/// comparisons, launches, metrics) may be added, and cases, attempts, comparisons and metrics be
/// put again, until the run is finished.
///
/// Errors: kUnavailable (cannot write), kExhausted (disk full), kCorrupt (damaged), kNotFound (what
/// the record refers to, or is asked for, is not there), kInvalidArgument (a run or launch whose id
/// is there already, a record of a run that is finished). Thread-safe except for the calls that
/// manage whole runs (claim, list, tag, remove, vacuum, merge): threads may add and read records at
/// once, one call at a time goes on. Several processes may write to one store.
class ResultStore {
 public:
  virtual ~ResultStore() = default;

  virtual Status add_environment(const Environment& environment) = 0;
  /// Claims the run, too.
  virtual Status add_run(const Run& run) = 0;
  /// Keeps other processes from removing the run until this store is closed; who goes on with a run
  /// or reads one at length claims it. Ends with the process, however that ends. Does nothing where
  /// a store that is only read has never been written to by claimants.
  virtual Status claim_run(std::string_view run_id) = 0;
  /// The first end of a run stands. Errors: kNotFound.
  virtual Status finish_run(std::string_view run_id, std::int64_t finished_unix_ns) = 0;
  /// A device of a run on several, with its machine when the run began; what is there stays. The
  /// machine is added, too.
  virtual Status add_run_device(std::string_view run_id, std::string_view device,
                                const Environment& environment) = 0;
  virtual Status add_case(std::string_view run_id, const Case& cell) = 0;
  virtual Status add_subject(const Subject& subject) = 0;
  virtual Status add_artifact(const Artifact& artifact) = 0;
  virtual Status add_reference(const Reference& reference) = 0;
  /// Inserts the attempt, or replaces the one with its id (to extend a lease, to finish it).
  virtual Status put_attempt(const Attempt& attempt) = 0;
  /// Inserts the comparison, or replaces the one with its id; its launches come after it.
  virtual Status put_comparison(const Comparison& comparison) = 0;
  /// Adds an execution of a fleet's job. Its attempts, whose worker is its id, were added before.
  virtual Status add_execution(const JobExecution& execution) = 0;
  /// Lets the execution count, unless another one of its job was accepted before; returns whether
  /// it counts. The run may be finished. Errors: kNotFound.
  virtual Result<bool> accept_execution(std::string_view id) = 0;
  /// In order of finishing; an empty run: all of the store. One execution of a job counts: the one
  /// that was accepted first, or where none was, the one that finished first. The attempts of the
  /// others are kept, and attempts_of_run() and cases_of_run() leave them out.
  virtual Result<std::vector<JobExecution>> executions_of_run(std::string_view run_id) = 0;
  /// The launch with its raw samples, which are compressed.
  virtual Status add_launch(const Launch& launch) = 0;
  virtual Status add_metrics(std::span<const MetricRow> metrics) = 0;
  virtual Status add_attachment(const Attachment& attachment) = 0;

  /// Newest first: in the order in which they were added, and a merged one by its time.
  virtual Result<std::vector<RunListing>> list_runs(const RunFilter& filter) = 0;
  /// Adds labels or replaces their values, then removes others, of a finished run, too: labels are
  /// for people to sort by and no part of the result. Errors: kNotFound.
  virtual Status tag_run(std::string_view run_id, const std::map<std::string, std::string>& labels,
                         std::span<const std::string> removed) = 0;
  /// Removes a run with all that nothing else refers to; references, which no row names, and the
  /// calibrations of machines stay. Errors: kNotFound, kUnavailable (another process has claimed
  /// it).
  virtual Status remove_run(std::string_view run_id) = 0;
  /// Gives the room of what was removed back to the file system; returns how many bytes. Writes the
  /// store anew, keeps others from writing meanwhile, and needs as much free space as the store is
  /// large. Errors: also kUnavailable while another process has claimed a run, which it would hold
  /// up, or reads a table of a server.
  virtual Result<std::int64_t> vacuum() = 0;
  virtual Result<StoreRoom> room() = 0;
  virtual Result<StoreInfo> info() = 0;
  /// Copies runs, and all that they refer to, to a store in a new file, to be merged elsewhere.
  /// Errors: kNotFound (a run), kInvalidArgument (the file is there), kUnavailable, kExhausted.
  virtual Status export_runs(std::span<const std::string> run_ids,
                             const std::filesystem::path& file) = 0;
  /// By id, unique prefix of an id, "latest", "latest:bench": the newest of that verb or purpose,
  /// or "label:commit=abc", "label:keep": the newest with that label, or with any value of it.
  /// Errors: kNotFound, listing the newest; kInvalidArgument for a prefix of several.
  virtual Result<Run> get_run(std::string_view reference) = 0;
  /// Description of the machine when the run began.
  virtual Result<Environment> environment_of_run(std::string_view run_id) = 0;
  /// The machines of a run on several devices, by device; empty for a run on one.
  virtual Result<std::map<std::string, Environment>> environments_of_run(
      std::string_view run_id) = 0;
  virtual Result<std::vector<Case>> cases_of_run(std::string_view run_id) = 0;
  /// Returned in the order of making.
  virtual Result<std::vector<Attempt>> attempts_of_run(std::string_view run_id) = 0;
  /// A fleet's run has those of executions that count; before there is one, the planned ones.
  virtual Result<std::vector<Comparison>> comparisons_of_run(std::string_view run_id) = 0;
  /// Returned in the order of index, with samples.
  virtual Result<std::vector<Launch>> launches_of_attempt(std::string_view attempt_id) = 0;
  virtual Result<std::vector<MetricRow>> metrics_of_attempt(std::string_view attempt_id) = 0;
  virtual Result<std::vector<Attachment>> attachments_of(std::string_view owner) = 0;
  virtual Result<Subject> get_subject(std::string_view subject_key) = 0;
  virtual Result<Artifact> get_artifact(std::string_view id) = 0;
  virtual Result<Reference> get_reference(std::string_view id) = 0;
  /// The launches of one pass of a case in the newest run that has any.
  virtual Result<PastLaunches> past_launches(std::string_view case_key, Pass pass) = 0;

  virtual Status add_repository(const Repository& repository) = 0;
  virtual Status add_revisions(std::span<const Revision> revisions) = 0;
  virtual Status add_engine_build(const RevisionBuild& build) = 0;
  /// Errors: also kInvalidArgument for an id that is there already.
  virtual Status add_incident(const Incident& incident) = 0;
  /// Errors: also kNotFound, and those of check_update().
  virtual Status update_incident(const Incident& incident) = 0;
  /// Adds the series and its points; one that is there already stays. Errors: also kNotFound for a
  /// repository or run that is not there.
  virtual Status add_points(const MeasuredSeries& series,
                            std::span<const MeasuredPoint> points) = 0;
  /// Returned in the order of adding.
  virtual Result<std::vector<Repository>> repositories() = 0;
  /// Those furthest from the root first, by Revision::position.
  virtual Result<std::vector<Revision>> revisions_of(std::string_view repository_id) = 0;
  /// The last built first.
  virtual Result<std::vector<RevisionBuild>> engine_builds_of(std::string_view repository_id) = 0;
  /// Returned in the order of adding.
  virtual Result<std::vector<Incident>> incidents_of(std::string_view repository_id) = 0;
  /// Returned in the order of adding.
  virtual Result<std::vector<MeasuredSeries>> series_of(std::string_view repository_id) = 0;
  /// By position, then by time. Points of runs that were removed are gone, too.
  virtual Result<std::vector<MeasuredPoint>> points_of(const MeasuredSeries& series) = 0;

  /// Copies every row of another store (a file, or postgresql://…) that this one lacks, and the end
  /// of runs and attempts that were unfinished here; returns how many rows. All or nothing; the
  /// other store is only read.
  /// Errors: kNotFound, kInvalidArgument (itself), kUnsupported (made by a newer Assay), kConflict
  /// (a row of one key that differs here and there: one of the two was changed).
  virtual Result<std::int64_t> merge_from(const std::string& other) = 0;
};

enum class StoreAccess : std::uint8_t {
  kWrite,  ///< The store is made where it is absent, and brought up to date.
  kRead,   ///< The file stays as it is, also where it may not be written; what writes fails.
};

/// Opens an SQLite store. One that is to be written is checked first: all of it where it is small.
/// One of an older schema that is only read is read through a temporary copy.
/// Errors: also kUnsupported when a newer Assay made it, kNotFound when there is none to read.
Result<std::unique_ptr<ResultStore>> open_sqlite_store(const std::filesystem::path& path,
                                                       StoreAccess access = StoreAccess::kWrite);

/// Opens a store in a PostgreSQL database. `url`: postgresql://user@host:port/database, with
/// libpq's parameters (sslmode, …) and without a password. Errors: also kUnavailable where libpq is
/// not installed or the server does not answer, kNotFound when there is none to read,
/// kInvalidArgument for a malformed URL or one with a password.
Result<std::unique_ptr<ResultStore>> open_postgres_store(const std::string& url,
                                                         StoreAccess access = StoreAccess::kWrite);

/// Opens the store that a file or a database URL names.
Result<std::unique_ptr<ResultStore>> open_result_store(const std::string& address,
                                                       StoreAccess access = StoreAccess::kWrite);

/// A store that forgets everything with the process; passes the same contract tests.
std::unique_ptr<ResultStore> make_memory_store();

}  // namespace assay
