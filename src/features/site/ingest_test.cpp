#include "features/site/ingest.h"

#include "features/site/testing/site_fixture.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/store/result_store.h"
#include "assay/store/sqlite/connection.h"

namespace assay::site {
namespace {

class Ingest : public SiteTest {
 protected:
  Result<std::int64_t> merge(const std::string& part) {
    return merge_part([path = file("results.db")] { return open_sqlite_store(path); }, file(part));
  }
  [[nodiscard]] std::size_t count_runs() const {
    return open_sqlite_store(file("results.db"), StoreAccess::kRead)
        .value()
        ->list_runs({.limit = -1})
        .value()
        .size();
  }
};

TEST_F(Ingest, AddsThePartOnce) {
  const auto run = add_run("part.db");
  EXPECT_GT(merge("part.db").value(), 0);
  EXPECT_EQ(count_runs(), 2U);
  EXPECT_EQ(merge("part.db").value(), 0);
  EXPECT_EQ(count_runs(), 2U);
  const auto store = open_sqlite_store(file("results.db"), StoreAccess::kRead).value();
  EXPECT_EQ(store->get_run(run).value().id, run);
}

TEST_F(Ingest, RefusesWhatIsNoStoreAndLeavesTheStoreAsItIs) {
  std::ofstream(file("text")) << "this is no store, but it is longer than a head of SQLite";
  std::ofstream(file("empty")) << "";
  {
    auto other = sqlite::Connection::open(file("other.db")).value();
    ASSERT_TRUE(other.run_script("CREATE TABLE run (id TEXT)").has_value());
  }
  const auto before = sha256_hex_of_file(file("results.db")).value();
  for (const auto* part : {"text", "empty", "other.db"}) {
    const auto merged = merge(part);
    ASSERT_FALSE(merged.has_value()) << part;
    EXPECT_EQ(merged.error().code, ErrorCode::kCorrupt) << merged.error().message;
  }
  EXPECT_EQ(sha256_hex_of_file(file("results.db")).value(), before);
}

TEST_F(Ingest, RefusesADamagedPart) {
  add_run("part.db");
  {
    std::fstream part(file("part.db"), std::ios::in | std::ios::out | std::ios::binary);
    const auto size = std::filesystem::file_size(file("part.db"));
    for (std::uintmax_t at = 4096; at + 64 < size; at += 4096) {
      part.seekp(static_cast<std::streamoff>(at));
      part << std::string(64, 'x');
    }
  }
  const auto merged = merge("part.db");
  ASSERT_FALSE(merged.has_value());
  EXPECT_EQ(merged.error().code, ErrorCode::kCorrupt) << merged.error().message;
  EXPECT_EQ(count_runs(), 1U);
}

TEST_F(Ingest, RefusesViewsAndTriggers) {
  for (const auto* sql :
       {"CREATE VIEW v AS SELECT 1", "CREATE TRIGGER t AFTER INSERT ON run BEGIN SELECT 1; END"}) {
    const std::string part = std::string("part-") + sql[7] + ".db";
    add_run(part);
    {
      auto connection = sqlite::Connection::open(file(part)).value();
      ASSERT_TRUE(connection.run_script(sql).has_value());
    }
    const auto merged = merge(part);
    ASSERT_FALSE(merged.has_value()) << sql;
    EXPECT_EQ(merged.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(count_runs(), 1U);
}

TEST_F(Ingest, RefusesAVirtualTableHoweverItsTextIsWritten) {
  const std::string text = "CREATE VIRTUAL TABLE";
  for (const std::string& written :
       {text, std::string("CREATE\tVIRTUAL TABLE"), std::string("create\nvirtual table")}) {
    SCOPED_TRACE(written);
    std::filesystem::remove(file("part.db"));
    add_run("part.db");
    {
      auto connection = sqlite::Connection::open(file("part.db")).value();
      if (!connection.run_script(text + " search USING fts5(word)")) {
        GTEST_SKIP() << "this SQLite has no virtual tables of its own";
      }
    }
    auto bytes = read_file(file("part.db")).value();
    const auto at = bytes.find(text + " search");
    ASSERT_NE(at, std::string::npos);
    bytes.replace(at, written.size(), written);
    ASSERT_TRUE(write_file_atomically(file("part.db"), bytes).has_value());
    const auto merged = merge("part.db");
    ASSERT_FALSE(merged.has_value());
    EXPECT_EQ(merged.error().code, ErrorCode::kInvalidArgument) << merged.error().message;
  }
  EXPECT_EQ(count_runs(), 1U);
}

TEST_F(Ingest, RefusesAViewOfTheNameOfOneOfTheStore) {
  add_run("part.db");
  {
    auto connection = sqlite::Connection::open(file("part.db")).value();
    ASSERT_TRUE(connection
                    .run_script("DROP VIEW late_execution; CREATE VIEW late_execution AS SELECT "
                                "'' AS id, '' AS run")
                    .has_value());
  }
  EXPECT_EQ(merge("part.db").error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace assay::site
