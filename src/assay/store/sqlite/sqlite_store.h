#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/claims.h"
#include "assay/base/fs.h"
#include "assay/store/result_store.h"
#include "assay/store/sqlite/connection.h"

namespace assay::sqlite {

/// The store in one SQLite file; the schema is explained in docs/contracts/store.md. Methods are
/// spread over rows_run.cpp (rows known before anything runs), rows_attempt.cpp, rows_launch.cpp
/// (launches, metrics and attachments), rows_repository.cpp (builds and incidents), rows_point.cpp
/// (series), manage_runs.cpp (lists, labels and removal) and merge.cpp.
class SqliteResultStore final : public ResultStore {
 public:
  /// `path` as Connection::open takes it. Errors: those of ResultStore.
  static Result<std::unique_ptr<SqliteResultStore>> open(const std::filesystem::path& path,
                                                         StoreAccess access = StoreAccess::kWrite);

  Status add_environment(const Environment& environment) override;
  Status add_run(const Run& run) override;
  Status claim_run(std::string_view run_id) override;
  Status finish_run(std::string_view run_id, std::int64_t finished_unix_ns) override;
  Status add_run_device(std::string_view run_id, std::string_view device,
                        const Environment& environment) override;
  Status add_case(std::string_view run_id, const Case& cell) override;
  Status add_subject(const Subject& subject) override;
  Status add_artifact(const Artifact& artifact) override;
  Status add_reference(const Reference& reference) override;
  Status put_attempt(const Attempt& attempt) override;
  Status put_comparison(const Comparison& comparison) override;
  Status add_launch(const Launch& launch) override;
  Status add_metrics(std::span<const MetricRow> metrics) override;
  Status add_attachment(const Attachment& attachment) override;

  Result<std::vector<RunListing>> list_runs(const RunFilter& filter) override;
  Status tag_run(std::string_view run_id, const std::map<std::string, std::string>& labels,
                 std::span<const std::string> removed) override;
  Status remove_run(std::string_view run_id) override;
  Result<std::int64_t> vacuum() override;
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
  Result<std::int64_t> past_duration_ns(std::string_view case_key) override;

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

  Result<std::int64_t> merge_from(const std::filesystem::path& other) override;

  /// For tests and tools that look below the interface.
  Connection& connection() { return connection_; }

 private:
  SqliteResultStore(std::optional<TemporaryFolder> copy, Connection connection,
                    std::filesystem::path path, StoreAccess access);

  /// Null where nothing can be claimed: in memory, and where only is read what nobody claimed.
  Result<Claims*> claims();
  Result<bool> is_claimed_elsewhere(std::string_view run_id);
  Status remove_rows(std::string_view run_id);
  Result<std::int64_t> vacuum_file();

  std::optional<TemporaryFolder> copy_;  ///< Copy of an older store that is only read.
  Connection connection_;
  std::filesystem::path path_;
  StoreAccess access_;
  std::filesystem::path claims_file_;  ///< Empty in memory.
  std::optional<Claims> claims_;       ///< Opened with the first use.
};

}  // namespace assay::sqlite
