#pragma once

#include <cstdint>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/store/result_store.h"
#include "assay/store/testing/sample_records.h"

/// For tests of what every store must do.
namespace assay {

enum class StoreKind : std::uint8_t { kMemory, kSqlite };

/// An empty store of each kind.
class EveryStore : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    if (GetParam() == StoreKind::kMemory) {
      store_ = make_memory_store();
      return;
    }
    auto store = open_sqlite_store(folder_.path() / "deep" / "results.db");
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

inline auto every_store() { return testing::Values(StoreKind::kMemory, StoreKind::kSqlite); }

inline std::string name_of_store(const testing::TestParamInfo<StoreKind>& kind) {
  return kind.param == StoreKind::kMemory ? "Memory" : "Sqlite";
}

template <class T>
nlohmann::json json_of(const T& record) {
  return nlohmann::json(record);
}

}  // namespace assay
