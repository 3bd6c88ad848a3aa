// Claims on runs by locks on a file next to the store; the file's size, and room given back.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/claims.h"
#include "assay/base/result.h"
#include "assay/store/result_store.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/rows.h"
#include "assay/store/sqlite/sqlite_store.h"

namespace assay::sqlite {
namespace {

Result<std::int64_t> bytes_of_pages(sql::Connection& connection, const char* count) {
  ASSAY_ASSIGN_OR_RETURN(const auto pages, connection.get_integer(count));
  ASSAY_ASSIGN_OR_RETURN(const auto page_bytes, connection.get_integer("PRAGMA page_size"));
  return pages * page_bytes;
}

Result<std::int64_t> size_in_bytes(sql::Connection& connection) {
  return bytes_of_pages(connection, "PRAGMA page_count");
}

}  // namespace

Result<Claims*> SqliteResultStore::claims() {
  if (!claims_ && !claims_file_.empty()) {
    auto opened = access_ == StoreAccess::kRead ? Claims::open_existing(claims_file_)
                                                : Claims::open(claims_file_);
    if (!opened && opened.error().code == ErrorCode::kNotFound) {
      return nullptr;
    }
    ASSAY_ASSIGN_OR_RETURN(claims_, std::move(opened));
  }
  return claims_ ? &*claims_ : nullptr;
}

Result<bool> SqliteResultStore::is_claimed_elsewhere(std::string_view run_id) {
  ASSAY_ASSIGN_OR_RETURN(const auto* all, claims());
  return all == nullptr ? Result<bool>(false) : all->is_claimed_elsewhere(run_id);
}

Status SqliteResultStore::claim_run(std::string_view run_id) {
  ASSAY_ASSIGN_OR_RETURN(auto* all, claims());
  return all == nullptr ? Status() : all->share(run_id);
}

Result<bool> SqliteResultStore::take_run(std::string_view run_id) {
  ASSAY_ASSIGN_OR_RETURN(auto* all, claims());
  return all == nullptr ? Result<bool>(true) : all->try_take(run_id);
}

Status SqliteResultStore::release_run(std::string_view run_id) {
  ASSAY_ASSIGN_OR_RETURN(auto* all, claims());
  return all == nullptr ? Status() : all->release(run_id);
}

Result<std::int64_t> SqliteResultStore::vacuum() {
  ASSAY_ASSIGN_OR_RETURN(auto* all, claims());
  if (all != nullptr) {
    ASSAY_ASSIGN_OR_RETURN(const bool is_ours, all->try_take_all());
    if (!is_ours) {
      return fail(ErrorCode::kUnavailable, "another process works on a run of this store");
    }
  }
  auto freed = vacuum_file();
  if (all != nullptr) {
    ASSAY_RETURN_IF_ERROR(all->release_all());
  }
  return freed;
}

Result<std::int64_t> SqliteResultStore::vacuum_file() {
  ASSAY_ASSIGN_OR_RETURN(const auto before, size_in_bytes(connection()));
  ASSAY_RETURN_IF_ERROR(connection().run("VACUUM"));
  ASSAY_RETURN_IF_ERROR(connection().run("PRAGMA wal_checkpoint(TRUNCATE)"));
  ASSAY_ASSIGN_OR_RETURN(const auto after, size_in_bytes(connection()));
  return before - after;
}

Result<std::int64_t> SqliteResultStore::free_bytes() {
  return bytes_of_pages(connection(), "PRAGMA freelist_count");
}

Result<std::int64_t> SqliteResultStore::schema() {
  return connection().get_integer("PRAGMA user_version");
}

Result<std::int64_t> SqliteResultStore::size_bytes() { return size_in_bytes(connection()); }

Result<std::map<std::string, std::int64_t>> SqliteResultStore::table_sizes() {
  using Size = std::pair<std::string, std::int64_t>;
  ASSAY_ASSIGN_OR_RETURN(
      const auto sizes,
      sql::collect(
          connection().prepare("SELECT tbl_name, sum(pgsize) FROM dbstat JOIN "
                               "sqlite_schema USING (name) GROUP BY tbl_name"),
          [](sql::Statement& row) -> Result<Size> { return Size(row.text(0), row.integer(1)); }));
  return std::map<std::string, std::int64_t>(sizes.begin(), sizes.end());
}

}  // namespace assay::sqlite
