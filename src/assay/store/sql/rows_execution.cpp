// Executions of the jobs of a fleet, and which of them counts.
#include <algorithm>
#include <cstdint>
#include <expected>
#include <fmt/format.h>
#include <string_view>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/record/job_execution.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/rows.h"
#include "assay/store/sql/sql_store.h"

namespace assay::sql {
namespace {

Result<JobExecution> read_execution(Statement& row) {
  return JobExecution{.id = row.text(0),
                      .run = row.text(1),
                      .job = row.text(2),
                      .n = static_cast<int>(row.integer(3)),
                      .worker = row.text(4),
                      .device = row.text(5),
                      .started_unix_ns = row.integer(6),
                      .finished_unix_ns = row.integer(7),
                      .accepted_unix_ns = row.integer(8),
                      .is_counted = row.integer(9) == 0};
}

constexpr std::string_view kExecutionColumns =
    "id, run, job, n, worker, device, started_unix_ns, finished_unix_ns, accepted_unix_ns, "
    "CASE WHEN id IN (SELECT id FROM late_execution WHERE run = execution.run) THEN 1 ELSE 0 END";

Result<JobExecution> get_execution(Connection& connection, std::string_view id) {
  return get_one(connection.prepare(
                     fmt::format("SELECT {} FROM execution WHERE id = ?", kExecutionColumns), id),
                 read_execution, fmt::format("no execution '{}' in the store", id));
}

}  // namespace

Status SqlResultStore::add_execution(const JobExecution& execution) {
  return connection_.run("INSERT INTO execution VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", execution.id,
                         execution.run, execution.job, execution.n, execution.worker,
                         execution.device, execution.started_unix_ns, execution.finished_unix_ns,
                         execution.accepted_unix_ns);
}

Result<bool> SqlResultStore::accept_execution(std::string_view id) {
  bool is_counted = false;
  const auto status = connection_.in_transaction([&]() -> Status {
    ASSAY_ASSIGN_OR_RETURN(const auto execution, get_execution(connection_, id));
    // One after the other in a run: two executions of a job would both be the first.
    ASSAY_RETURN_IF_ERROR(connection_.run(
        fmt::format("SELECT 1 FROM run WHERE id = ?{}", connection_.lock_words(RowLock::kChanged)),
        execution.run));
    ASSAY_ASSIGN_OR_RETURN(
        const auto newest,
        get_one(
            connection_.prepare(
                "SELECT coalesce(max(accepted_unix_ns), 0) FROM execution WHERE run = ?",
                execution.run),
            [](Statement& row) { return Result<std::int64_t>(row.integer(0)); }, "no row"));
    // Later than all others of the run, even where the clock was set back.
    ASSAY_RETURN_IF_ERROR(connection_.run(
        "UPDATE execution SET accepted_unix_ns = ? WHERE id = ? AND NOT EXISTS (SELECT 1 FROM "
        "execution AS other WHERE other.run = ? AND other.job = ? AND other.accepted_unix_ns <> 0)",
        std::max(unix_time_ns(), newest + 1), id, execution.run, execution.job));
    ASSAY_ASSIGN_OR_RETURN(const auto accepted, get_execution(connection_, id));
    is_counted = accepted.is_counted;
    return {};
  });
  return status ? Result<bool>(is_counted) : std::unexpected(status.error());
}

Result<std::vector<JobExecution>> SqlResultStore::executions_of_run(std::string_view run_id) {
  return collect(connection_.prepare(fmt::format("SELECT {} FROM execution WHERE ? IN ('', run) "
                                                 "ORDER BY finished_unix_ns, id",
                                                 kExecutionColumns),
                                     run_id),
                 read_execution);
}

}  // namespace assay::sql
