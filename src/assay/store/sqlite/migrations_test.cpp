// A store's schema: what the first migration makes, and how a store comes to a later one. The later
// ones here are made up.
#include "assay/store/sql/migrations.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>

#include "assay/base/digest.h"
#include "assay/base/result.h"
#include "assay/store/result_store.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sqlite/connection.h"
#include "assay/store/sqlite/migrations.h"
#include "assay/store/sqlite/sqlite_store.h"
#include "assay/store/testing/sample_records.h"
#include "assay/store/testing/sqlite_store_fixture.h"

namespace assay::sqlite {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kNames =
    "ALTER TABLE run ADD COLUMN place {text} NOT NULL DEFAULT 'here';"
    "UPDATE run SET name = name || ' of old'";
constexpr std::string_view kBroken = "UPDATE run SET name = 'lost'; UPDATE nothing SET x = 1";

/// Those of this version, and `more`.
template <class... More>
auto with(More... more) {
  EXPECT_THAT(sql::migrations(), SizeIs(1));
  return std::array<std::string_view, 1 + sizeof...(more)>{sql::migrations().front(), more...};
}

Result<std::unique_ptr<SqliteResultStore>> open_with(sql::Migrations migrations,
                                                     const std::filesystem::path& file,
                                                     StoreAccess access) {
  return SqliteResultStore::open(file, access, migrations);
}

Result<std::int64_t> schema_in(ResultStore& store) {
  return static_cast<SqliteResultStore&>(store).connection().get_integer("PRAGMA user_version");
}

TEST_F(SqliteStore, ComesToALaterSchemaWithAllThatItHolds) {
  const auto records = add_sample_run(*open());
  const auto migrations = with(kNames);
  const auto store = open_with(migrations, file(), StoreAccess::kWrite).value();
  EXPECT_EQ(schema_in(*store).value(), sql::kFirstSchema + 1);
  EXPECT_EQ(store->get_run(records.run.id).value().name, records.run.name + " of old");
  EXPECT_THAT(store->launches_of_attempt(records.attempt.id).value(), SizeIs(1));
  EXPECT_EQ(
      store->connection().get_integer("SELECT count(*) FROM run WHERE place = 'here'").value(), 1);
}

TEST_F(SqliteStore, OfALaterSchemaIsNotMigratedTwice) {
  const auto records = add_sample_run(*open());
  const auto migrations = with(kNames);
  open_with(migrations, file(), StoreAccess::kWrite).value();
  const auto store = open_with(migrations, file(), StoreAccess::kWrite).value();
  EXPECT_EQ(store->get_run(records.run.id).value().name, records.run.name + " of old");
}

TEST_F(SqliteStore, StaysAsItWasWhereAMigrationFails) {
  const auto records = add_sample_run(*open());
  const auto migrations = with(kNames, kBroken);
  EXPECT_FALSE(open_with(migrations, file(), StoreAccess::kWrite).has_value());
  const auto store = open();
  EXPECT_EQ(schema_in(*store).value(), sql::kFirstSchema);
  EXPECT_EQ(store->get_run(records.run.id).value().name, records.run.name);
}

// Until somebody writes to it with the later Assay it is read through a copy.
TEST_F(SqliteStore, OfAnEarlierSchemaIsReadWithoutAChange) {
  const auto records = add_sample_run(*open());
  const auto before = sha256_hex_of_file(file()).value();
  const auto migrations = with(kNames);
  const auto reader = open_with(migrations, file(), StoreAccess::kRead).value();
  const auto name = [&] { return reader->get_run(records.run.id).value().name; };
  EXPECT_EQ(name(), records.run.name + " of old");
  EXPECT_EQ(sha256_hex_of_file(file()).value(), before);
  ASSERT_TRUE(Connection::open(file()).value().run("UPDATE run SET name = 'later'").has_value());
  EXPECT_EQ(name(), "later of old");
  const auto writer = open_with(migrations, file(), StoreAccess::kWrite).value();
  add_sample_run(*writer);
  EXPECT_THAT(reader->list_runs({}).value(), SizeIs(2));
}

// Its tables are none that this version knows.
TEST_F(SqliteStore, OfADevelopmentVersionIsRefusedAndStaysAsItIs) {
  ASSERT_TRUE(open("old.db")
                  ->connection()
                  .run_script("DROP TABLE point; PRAGMA user_version = 11")
                  .has_value());
  const auto before = sha256_hex_of_file(file("old.db")).value();
  const auto told =
      AllOf(HasSubstr("old.db': a development version before 0.1 made it (schema 11,"),
            HasSubstr("start a new store"));
  const auto merged = open()->merge_from(file("old.db"));
  const auto read = open_sqlite_store(file("old.db"), StoreAccess::kRead);
  ASSERT_FALSE(merged.has_value() || read.has_value());
  for (const auto& error : {error_of_opening("old.db"), merged.error(), read.error()}) {
    EXPECT_EQ(error.code, ErrorCode::kUnsupported);
    EXPECT_THAT(error.message, told);
  }
  EXPECT_EQ(sha256_hex_of_file(file("old.db")).value(), before);
}

TEST_F(SqliteStore, HasAnIndexForEachForeignKey) {
  auto store = open();
  const auto bare = sql::collect(
      store->connection().prepare(
          "SELECT tables.name || '.' || keys.\"from\" FROM sqlite_schema AS tables "
          "JOIN pragma_foreign_key_list(tables.name) AS keys WHERE keys.seq = 0 AND NOT EXISTS ("
          "SELECT 1 FROM pragma_index_list(tables.name) AS indexes "
          "JOIN pragma_index_info(indexes.name) AS columns WHERE columns.seqno = 0 AND "
          "columns.name IN (SELECT other.\"from\" FROM pragma_foreign_key_list(tables.name) AS "
          "other WHERE other.id = keys.id))"),
      [](sql::Statement& row) { return Result<std::string>(row.text(0)); });
  ASSERT_TRUE(bare.has_value()) << bare.error().message;
  EXPECT_THAT(*bare, IsEmpty());
}

// An index with a condition is one that the check of a foreign key has to understand.
TEST_F(SqliteStore, ChecksTheLaunchesOfAComparisonByTheirIndex) {
  auto store = open();
  auto& connection = store->connection();
  const auto index = connection.get_integer(
      "SELECT rootpage FROM sqlite_schema WHERE name = 'launch_by_comparison'");
  ASSERT_TRUE(index.has_value());
  const auto opened =
      sql::collect(connection.prepare("EXPLAIN DELETE FROM comparison WHERE run = 'r'"),
                   [](sql::Statement& row) {
                     return Result<std::int64_t>(row.text(1) == "OpenRead" ? row.integer(3) : 0);
                   });
  EXPECT_THAT(opened.value(), testing::Contains(*index));
}

}  // namespace
}  // namespace assay::sqlite
