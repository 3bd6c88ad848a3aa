#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/store/postgres/connection.h"
#include "assay/store/postgres/migrations.h"
#include "assay/store/result_store.h"
#include "assay/store/sql/merge.h"
#include "assay/store/testing/sample_records.h"

/// Fixture of the tests of what every store must do.
namespace assay {

enum class StoreKind : std::uint8_t { kMemory, kSqlite, kPostgres };

/// The database of the tests of stores in PostgreSQL, whose store each of them empties:
/// tests/e2e/test_postgres_store.py starts a server and sets it. Without it there are no such
/// tests.
inline const char* test_database() { return std::getenv("ASSAY_TEST_POSTGRES"); }

inline Result<std::unique_ptr<ResultStore>> open_empty_database() {
  ASSAY_ASSIGN_OR_RETURN(auto connection,
                         postgres::Connection::open(test_database(), postgres::Purpose::kWrite));
  ASSAY_RETURN_IF_ERROR(postgres::migrate(*connection));
  std::string script;
  for (const auto table : sql::merged_tables() | std::views::reverse) {
    script += fmt::format("DELETE FROM {};", table);
  }
  ASSAY_RETURN_IF_ERROR(connection->run_script(script));
  return open_postgres_store(test_database());
}

/// An empty store of each kind.
class EveryStore : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    if (GetParam() == StoreKind::kMemory) {
      store_ = make_memory_store();
      return;
    }
    auto store = GetParam() == StoreKind::kPostgres
                     ? open_empty_database()
                     : open_sqlite_store(folder_.path() / "deep" / "results.db");
    ASSERT_TRUE(store.has_value()) << store.error().message;
    store_ = *std::move(store);
  }

  ResultStore& store() { return *store_; }
  [[nodiscard]] std::filesystem::path file(std::string_view name) const {
    return folder_.path() / name;
  }

 private:
  TemporaryFolder folder_ = make_store_folder();
  std::unique_ptr<ResultStore> store_;
};

/// Empty where there is no server.
inline std::vector<StoreKind> databases() {
  return test_database() == nullptr ? std::vector<StoreKind>() : std::vector{StoreKind::kPostgres};
}

inline auto every_store() {
  auto kinds = databases();
  kinds.insert(kinds.begin(), {StoreKind::kMemory, StoreKind::kSqlite});
  return testing::ValuesIn(kinds);
}

inline std::string name_of_store(const testing::TestParamInfo<StoreKind>& kind) {
  switch (kind.param) {
    case StoreKind::kMemory:
      return "Memory";
    case StoreKind::kSqlite:
      return "Sqlite";
    case StoreKind::kPostgres:
      return "Postgres";
  }
  return {};
}

template <class T>
nlohmann::json json_of(const T& record) {
  return nlohmann::json(record);
}

}  // namespace assay
