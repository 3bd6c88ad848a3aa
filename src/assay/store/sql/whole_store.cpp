// Sizes of a store, and runs copied out of it.
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/store/result_store.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/merge.h"
#include "assay/store/sql/rows.h"
#include "assay/store/sql/sql_store.h"
#include "assay/store/sqlite/rows_file.h"

namespace assay::sql {
namespace {

Status read_runs(Connection& connection, StoreInfo& info) {
  ASSAY_ASSIGN_OR_RETURN(
      auto row, connection.prepare("SELECT count(*), count(CASE WHEN finished_unix_ns = 0 THEN 1 "
                                   "END), coalesce(min(started_unix_ns), 0), "
                                   "coalesce(max(started_unix_ns), 0) FROM run"));
  ASSAY_RETURN_IF_ERROR(row.step());
  info.runs = row.integer(0);
  info.unfinished_runs = row.integer(1);
  info.oldest_unix_ns = row.integer(2);
  info.newest_unix_ns = row.integer(3);
  return {};
}

Status check_runs(Connection& connection, std::span<const std::string> run_ids) {
  for (const auto& run : run_ids) {
    ASSAY_RETURN_IF_ERROR(get_one(
        connection.prepare("SELECT 1 FROM run WHERE id = ?", run),
        [](Statement&) { return Result<bool>(true); },
        fmt::format("no run '{}' in the store", run)));
  }
  return {};
}

}  // namespace

Result<StoreRoom> SqlResultStore::room() {
  StoreRoom room;
  ASSAY_ASSIGN_OR_RETURN(room.bytes, size_bytes());
  ASSAY_ASSIGN_OR_RETURN(room.free_bytes, free_bytes());
  return room;
}

Result<StoreInfo> SqlResultStore::info() {
  StoreInfo info;
  ASSAY_ASSIGN_OR_RETURN(info.schema, schema());
  ASSAY_ASSIGN_OR_RETURN(info.bytes, size_bytes());
  ASSAY_RETURN_IF_ERROR(read_runs(connection_, info));
  ASSAY_ASSIGN_OR_RETURN(const auto sizes, table_sizes());
  for (const auto table : merged_tables()) {
    const std::string name(table);
    ASSAY_ASSIGN_OR_RETURN(const auto rows,
                           connection_.get_integer(fmt::format("SELECT count(*) FROM {}", name)));
    const auto size = sizes.find(name);
    info.tables.push_back(
        {.name = name, .rows = rows, .bytes = size == sizes.end() ? 0 : size->second});
  }
  return info;
}

Status SqlResultStore::export_runs(std::span<const std::string> run_ids,
                                   const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::exists(file, error)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' exists; name a new file", file.string()));
  }
  ASSAY_RETURN_IF_ERROR(check_runs(connection_, run_ids));
  const auto runs = Json(std::vector(run_ids.begin(), run_ids.end())).dump();
  return sqlite::make_store_of_rows(
      file, [&](RowTarget& target) { return stage_rows_of_runs(connection_, target, runs); });
}

}  // namespace assay::sql
