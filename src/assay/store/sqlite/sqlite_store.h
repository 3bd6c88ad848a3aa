#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "assay/base/claims.h"
#include "assay/store/result_store.h"
#include "assay/store/sql/migrations.h"
#include "assay/store/sql/sql_store.h"
#include "assay/store/sqlite/connection.h"

namespace assay::sqlite {

/// The store in one SQLite file.
class SqliteResultStore final : public sql::SqlResultStore {
 public:
  /// `path` as Connection::open takes it. Errors: those of ResultStore.
  static Result<std::unique_ptr<SqliteResultStore>> open(
      const std::filesystem::path& path, StoreAccess access = StoreAccess::kWrite,
      sql::Migrations migrations = sql::migrations());

  Status claim_run(std::string_view run_id) override;
  Result<std::int64_t> vacuum() override;
  Result<std::int64_t> merge_from(const std::string& other) override;

 private:
  SqliteResultStore(std::unique_ptr<Connection> connection, std::filesystem::path path,
                    StoreAccess access);

  /// Null if nothing can be claimed: in memory, and where only is read what nobody claimed.
  Result<Claims*> claims();
  Result<bool> is_claimed_elsewhere(std::string_view run_id) override;
  Result<bool> take_run(std::string_view run_id) override;
  Status release_run(std::string_view run_id) override;
  Result<std::int64_t> schema() override;
  Result<std::int64_t> size_bytes() override;
  Result<std::int64_t> free_bytes() override;
  Result<std::map<std::string, std::int64_t>> table_sizes() override;
  Result<std::int64_t> vacuum_file();

  std::filesystem::path path_;
  StoreAccess access_;
  std::filesystem::path claims_file_;  ///< Empty in memory.
  std::optional<Claims> claims_;       ///< Opened with the first use.
};

}  // namespace assay::sqlite
