#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "assay/store/postgres/connection.h"
#include "assay/store/result_store.h"
#include "assay/store/sql/sql_store.h"

namespace assay::postgres {

/// The store in a schema of a PostgreSQL database. Runs are claimed by advisory locks of the
/// session, so that the server gives up the claims of a process that dies.
class PostgresResultStore final : public sql::SqlResultStore {
 public:
  /// Errors: those of ResultStore, Connection::open and migrate().
  static Result<std::unique_ptr<PostgresResultStore>> open(const std::string& url,
                                                           StoreAccess access);

  Status claim_run(std::string_view run_id) override;
  Result<std::int64_t> vacuum() override;
  Result<std::int64_t> merge_from(const std::string& other) override;

 private:
  PostgresResultStore(std::unique_ptr<Connection> connection, std::string url);

  Result<bool> is_claimed_elsewhere(std::string_view run_id) override;
  Result<bool> take_run(std::string_view run_id) override;
  Status release_run(std::string_view run_id) override;
  Result<std::int64_t> schema() override;
  Result<std::int64_t> size_bytes() override;
  Result<std::int64_t> free_bytes() override;
  Result<std::map<std::string, std::int64_t>> table_sizes() override;
  Status claim_again();

  Connection& server_;
  std::string url_;
  std::set<std::string, std::less<>> claimed_;
};

}  // namespace assay::postgres
