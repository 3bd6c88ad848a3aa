// Workers of fleets over all runs.
#include "features/site/index_documents.h"
#include "features/site/index_rows.h"
#include "features/site/run_index.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/rows.h"

namespace assay::site {

Result<std::vector<FleetRow>> RunIndex::fleet_rows(std::int64_t limit) {
  return read_documents<FleetRow>(connection_.prepare(
      "SELECT document FROM fleet_row WHERE is_lost = 0 ORDER BY started DESC, run DESC, n LIMIT ?",
      limit));
}

Result<std::vector<WorkerUse>> RunIndex::worker_uses() {
  return sql::collect(
      // A column without a function is that of the row with the maximum.
      connection_.prepare(
          "SELECT json_extract(document, '$.worker') AS worker, "
          "json_extract(document, '$.device') AS device, count(DISTINCT run), "
          "sum(json_extract(document, '$.executions')), "
          "sum(json_extract(document, '$.not_counted')), run, "
          "max(json_extract(document, '$.last_unix_ns')) AS last FROM fleet_row "
          "WHERE is_lost = 0 GROUP BY worker, device ORDER BY last DESC, worker, device"),
      [](sql::Statement& row) -> Result<WorkerUse> {
        return WorkerUse{.worker = row.text(0),
                         .device = row.text(1),
                         .runs = static_cast<int>(row.integer(2)),
                         .executions = static_cast<int>(row.integer(3)),
                         .not_counted = static_cast<int>(row.integer(4)),
                         .last_run = row.text(5),
                         .last_unix_ns = row.integer(6)};
      });
}

Result<std::map<std::string, int>> RunIndex::count_lost() {
  ASSAY_ASSIGN_OR_RETURN(
      const auto rows,
      sql::collect(
          connection_.prepare("SELECT json_extract(document, '$.lost.device') AS device, count(*) "
                              "FROM fleet_row WHERE is_lost = 1 GROUP BY device"),
          [](sql::Statement& row) -> Result<std::pair<std::string, int>> {
            return std::pair(row.text(0), static_cast<int>(row.integer(1)));
          }));
  return std::map<std::string, int>(rows.begin(), rows.end());
}

Result<std::vector<LostRow>> RunIndex::lost_rows(std::int64_t limit) {
  return read_documents<LostRow>(connection_.prepare(
      "SELECT document FROM fleet_row WHERE is_lost = 1 ORDER BY started DESC, run DESC, n LIMIT ?",
      limit));
}

}  // namespace assay::site
