#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/store/result_store.h"
#include "assay/store/sql/connection.h"

namespace assay::sql {

/// A store in the tables that docs/contracts/store.md explains, in any database that executes the
/// SQL. Methods are spread over rows_run.cpp (rows known before anything runs), rows_attempt.cpp,
/// rows_execution.cpp, rows_launch.cpp (launches, metrics and attachments), rows_repository.cpp
/// (builds and incidents), rows_point.cpp (series), manage_runs.cpp (lists, labels and removal) and
/// whole_store.cpp (sizes, export). A database of its own opens and migrates, claims runs, merges
/// and gives room back.
class SqlResultStore : public ResultStore {
 public:
  Status add_environment(const Environment& environment) override;
  Status add_run(const Run& run) override;
  Status finish_run(std::string_view run_id, std::int64_t finished_unix_ns) override;
  Status add_run_device(std::string_view run_id, std::string_view device,
                        const Environment& environment) override;
  Status add_case(std::string_view run_id, const Case& cell) override;
  Status add_subject(const Subject& subject) override;
  Status add_artifact(const Artifact& artifact) override;
  Status add_reference(const Reference& reference) override;
  Status put_attempt(const Attempt& attempt) override;
  Status put_comparison(const Comparison& comparison) override;
  Status add_execution(const JobExecution& execution) override;
  Result<bool> accept_execution(std::string_view id) override;
  Result<std::vector<JobExecution>> executions_of_run(std::string_view run_id) override;
  Status add_launch(const Launch& launch) override;
  Status add_metrics(std::span<const MetricRow> metrics) override;
  Status add_attachment(const Attachment& attachment) override;

  Result<std::vector<RunListing>> list_runs(const RunFilter& filter) override;
  Status tag_run(std::string_view run_id, const std::map<std::string, std::string>& labels,
                 std::span<const std::string> removed) override;
  Status remove_run(std::string_view run_id) override;
  Result<StoreRoom> room() override;
  Result<StoreInfo> info() override;
  Status export_runs(std::span<const std::string> run_ids,
                     const std::filesystem::path& file) override;
  Result<Run> get_run(std::string_view reference) override;
  Result<Environment> environment_of_run(std::string_view run_id) override;
  Result<std::map<std::string, Environment>> environments_of_run(std::string_view run_id) override;
  Result<std::vector<Case>> cases_of_run(std::string_view run_id) override;
  Result<std::vector<Attempt>> attempts_of_run(std::string_view run_id) override;
  Result<std::vector<Comparison>> comparisons_of_run(std::string_view run_id) override;
  Result<std::vector<Launch>> launches_of_attempt(std::string_view attempt_id) override;
  Result<std::vector<MetricRow>> metrics_of_attempt(std::string_view attempt_id) override;
  Result<std::vector<Attachment>> attachments_of(std::string_view owner) override;
  Result<Subject> get_subject(std::string_view subject_key) override;
  Result<Artifact> get_artifact(std::string_view id) override;
  Result<Reference> get_reference(std::string_view id) override;
  Result<PastLaunches> past_launches(std::string_view case_key, Pass pass) override;

  Status add_repository(const Repository& repository) override;
  Status add_revisions(std::span<const Revision> revisions) override;
  Status add_engine_build(const RevisionBuild& build) override;
  Status add_incident(const Incident& incident) override;
  Status update_incident(const Incident& incident) override;
  Result<std::vector<Repository>> repositories() override;
  Result<std::vector<Revision>> revisions_of(std::string_view repository_id) override;
  Result<std::vector<RevisionBuild>> engine_builds_of(std::string_view repository_id) override;
  Result<std::vector<Incident>> incidents_of(std::string_view repository_id) override;
  Status add_points(const MeasuredSeries& series, std::span<const MeasuredPoint> points) override;
  Result<std::vector<MeasuredSeries>> series_of(std::string_view repository_id) override;
  Result<std::vector<MeasuredPoint>> points_of(const MeasuredSeries& series) override;

  /// Gives tests and tools access below the interface.
  Connection& connection() { return connection_; }

 protected:
  explicit SqlResultStore(std::unique_ptr<Connection> connection)
      : owned_connection_(std::move(connection)), connection_(*owned_connection_) {}

 private:
  /// Another process has claimed the run.
  virtual Result<bool> is_claimed_elsewhere(std::string_view run_id) = 0;
  /// Claims the run for its removal; false where another process has claimed it.
  virtual Result<bool> take_run(std::string_view run_id) = 0;
  virtual Status release_run(std::string_view run_id) = 0;
  virtual Result<std::int64_t> schema() = 0;
  /// Sizes on disk: of the store, and of each table by its name.
  virtual Result<std::int64_t> size_bytes() = 0;
  virtual Result<std::int64_t> free_bytes() = 0;
  virtual Result<std::map<std::string, std::int64_t>> table_sizes() = 0;
  Status remove_rows(std::string_view run_id);

  std::unique_ptr<Connection> owned_connection_;
  Connection& connection_;
};

}  // namespace assay::sql
