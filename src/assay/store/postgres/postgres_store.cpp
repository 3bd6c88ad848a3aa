#include "assay/store/postgres/postgres_store.h"

#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/digest.h"
#include "assay/base/result.h"
#include "assay/store/postgres/connection.h"
#include "assay/store/postgres/migrations.h"
#include "assay/store/result_store.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/merge.h"
#include "assay/store/sql/rows.h"
#include "assay/store/sql/sql_store.h"

namespace assay {
namespace postgres {
namespace {

/// Limit of the wait before a table is rewritten: its readers and writers wait as long.
constexpr std::string_view kWaitToRewrite = "SET lock_timeout = '2s'";

/// The first of the two numbers of an advisory lock: it sets the locks of Assay apart.
constexpr std::int32_t kClaims = 0x41534159;

/// The second number. Two runs that share one are in each other's way only for a removal.
std::int32_t lock_of_run(std::string_view run) {
  constexpr int kHexadecimal = 16;
  return static_cast<std::int32_t>(std::stoul(sha256_hex(run).substr(0, 8), nullptr, kHexadecimal));
}

/// Calls a function of the server that takes the two numbers of a lock: "pg_advisory_unlock".
std::string lock_call(std::string_view function, std::string_view run) {
  return fmt::format("{}({}, {})", function, kClaims, lock_of_run(run));
}

Result<bool> get_answer(sql::Connection& connection, const std::string& expression) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto answer,
      connection.get_integer(fmt::format("SELECT CASE WHEN {} THEN 1 ELSE 0 END", expression)));
  return answer != 0;
}

Result<bool> is_locked_elsewhere(sql::Connection& connection, std::string_view condition) {
  return get_answer(
      connection,
      fmt::format("EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND database = "
                  "(SELECT oid FROM pg_database WHERE datname = current_database()) AND "
                  "classid = {} AND pid <> pg_backend_pid() AND {})",
                  kClaims, condition));
}

Result<std::int64_t> size_of_tables(sql::Connection& connection) {
  return connection.get_integer(
      fmt::format("SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) AS BIGINT) FROM "
                  "pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
                  "WHERE n.nspname = '{}' AND c.relkind = 'r'",
                  kSchema));
}

Status rewrite_tables(sql::Connection& connection) {
  for (const auto table : sql::merged_tables()) {
    ASSAY_RETURN_IF_ERROR(connection.run_script(fmt::format("VACUUM (FULL, ANALYZE) {}", table)));
  }
  return {};
}

}  // namespace

PostgresResultStore::PostgresResultStore(std::unique_ptr<Connection> connection, std::string url)
    : SqlResultStore(std::move(connection)),
      server_(static_cast<Connection&>(SqlResultStore::connection())),
      url_(std::move(url)) {
  server_.set_after_reconnect([this] { return claim_again(); });
}

Result<std::unique_ptr<PostgresResultStore>> PostgresResultStore::open(const std::string& url,
                                                                       StoreAccess access) {
  const bool is_read = access == StoreAccess::kRead;
  ASSAY_ASSIGN_OR_RETURN(auto connection,
                         Connection::open(url, is_read ? Purpose::kRead : Purpose::kWrite));
  ASSAY_RETURN_IF_ERROR(is_read ? check_schema(*connection) : migrate(*connection));
  return std::unique_ptr<PostgresResultStore>(new PostgresResultStore(std::move(connection), url));
}

Status PostgresResultStore::claim_run(std::string_view run_id) {
  if (claimed_.contains(run_id)) {
    return {};
  }
  ASSAY_RETURN_IF_ERROR(server_.run("SELECT " + lock_call("pg_advisory_lock_shared", run_id)));
  claimed_.emplace(run_id);
  return {};
}

Status PostgresResultStore::claim_again() {
  for (const auto& run : claimed_) {
    ASSAY_RETURN_IF_ERROR(server_.repeat_after_waits(
        [&] { return server_.run_script("SELECT " + lock_call("pg_advisory_lock_shared", run)); }));
  }
  return {};
}

Result<bool> PostgresResultStore::is_claimed_elsewhere(std::string_view run_id) {
  return is_locked_elsewhere(
      server_, fmt::format("objid = {}", static_cast<std::uint32_t>(lock_of_run(run_id))));
}

Result<bool> PostgresResultStore::take_run(std::string_view run_id) {
  return get_answer(server_, lock_call("pg_try_advisory_lock", run_id));
}

Status PostgresResultStore::release_run(std::string_view run_id) {
  ASSAY_RETURN_IF_ERROR(server_.run("SELECT " + lock_call("pg_advisory_unlock", run_id)));
  if (const auto claim = claimed_.find(run_id); claim != claimed_.end()) {
    claimed_.erase(claim);
    return server_.run("SELECT " + lock_call("pg_advisory_unlock_shared", run_id));
  }
  return {};
}

Result<std::int64_t> PostgresResultStore::vacuum() {
  ASSAY_ASSIGN_OR_RETURN(const bool is_used, is_locked_elsewhere(server_, "true"));
  if (is_used) {
    return fail(ErrorCode::kUnavailable, "another process works on a run of this store");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto before, size_of_tables(server_));
  ASSAY_RETURN_IF_ERROR(server_.run_script(std::string(kWaitToRewrite)));
  const auto status = rewrite_tables(server_);
  ASSAY_RETURN_IF_ERROR(server_.run_script("RESET lock_timeout"));
  ASSAY_RETURN_IF_ERROR(server_.limit_waiting());
  ASSAY_RETURN_IF_ERROR(status);
  ASSAY_ASSIGN_OR_RETURN(const auto after, size_of_tables(server_));
  return before - after;
}

// The server makes the room of removed rows free by itself, and keeps account of it.
Result<std::int64_t> PostgresResultStore::free_bytes() { return 0; }

Result<std::int64_t> PostgresResultStore::schema() { return schema_of(server_); }

Result<std::int64_t> PostgresResultStore::size_bytes() { return size_of_tables(server_); }

Result<std::map<std::string, std::int64_t>> PostgresResultStore::table_sizes() {
  using Size = std::pair<std::string, std::int64_t>;
  ASSAY_ASSIGN_OR_RETURN(
      const auto sizes,
      sql::collect(
          server_.prepare("SELECT CAST(relname AS TEXT), pg_total_relation_size(c.oid) "
                          "FROM pg_class AS c JOIN pg_namespace AS n ON "
                          "n.oid = c.relnamespace WHERE n.nspname = ? AND "
                          "c.relkind = 'r'",
                          kSchema),
          [](sql::Statement& row) -> Result<Size> { return Size(row.text(0), row.integer(1)); }));
  return std::map<std::string, std::int64_t>(sizes.begin(), sizes.end());
}

}  // namespace postgres

Result<std::unique_ptr<ResultStore>> open_postgres_store(const std::string& url,
                                                         StoreAccess access) {
  return postgres::PostgresResultStore::open(url, access);
}

}  // namespace assay
