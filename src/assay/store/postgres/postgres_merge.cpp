// Merging another store into a database: its rows come into temporary tables first.
#include <cstdint>
#include <expected>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/store/merge_source.h"
#include "assay/store/postgres/connection.h"
#include "assay/store/postgres/copy_rows.h"
#include "assay/store/postgres/postgres_store.h"
#include "assay/store/sql/merge.h"

namespace assay::postgres {
namespace {

/// One merge at a time: two that add the same rows in another order would stop each other.
constexpr std::int64_t kMergeLock = 0x4d455247;

/// Rows after which the server's statistics of its tables lead it to wrong plans.
constexpr std::int64_t kManyRows = 10'000;

/// Until the transaction ends; what was copied is too much to be copied again after a timeout.
Status wait_for_merges(Connection& connection) {
  ASSAY_RETURN_IF_ERROR(connection.run_script("SET LOCAL lock_timeout = 0"));
  ASSAY_ASSIGN_OR_RETURN(
      const auto is_free,
      connection.get_integer(fmt::format(
          "SELECT CASE WHEN pg_try_advisory_xact_lock({}) THEN 1 ELSE 0 END", kMergeLock)));
  if (is_free != 0) {
    return {};
  }
  log_line(LogLevel::kInfo, connection.name() + ": waiting for another merge");
  return connection.run_script(fmt::format("SELECT pg_advisory_xact_lock({})", kMergeLock));
}

Result<std::int64_t> merge_address(Connection& connection, const std::string& other) {
  ASSAY_ASSIGN_OR_RETURN(const auto source, open_merge_source(other));
  std::int64_t changes = 0;
  const auto status = connection.in_transaction([&]() -> Status {
    ASSAY_RETURN_IF_ERROR(wait_for_merges(connection));
    TemporaryTables tables(connection);
    ASSAY_RETURN_IF_ERROR(sql::stage_rows(*source.connection, tables));
    ASSAY_ASSIGN_OR_RETURN(changes, sql::copy_missing_rows(connection, {kSchema, "pg_temp"}));
    return {};
  });
  return status ? Result<std::int64_t>(changes) : std::unexpected(status.error());
}

}  // namespace

Result<std::int64_t> PostgresResultStore::merge_from(const std::string& other) {
  if (other == url_) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' cannot be merged into itself; name another store", other));
  }
  auto merged = merge_address(server_, other);
  if (!merged && merged.error().code != ErrorCode::kNotFound) {
    return fail_with_context(std::move(merged).error(), fmt::format("merging '{}'", other));
  }
  if (merged && *merged >= kManyRows) {
    // The server counts anew some minutes later by itself, and until then answers slowly.
    ASSAY_RETURN_IF_ERROR(
        server_.run_script("SET client_min_messages = error; ANALYZE; "
                           "RESET client_min_messages"));
  }
  return merged;
}

}  // namespace assay::postgres
