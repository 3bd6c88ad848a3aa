// Files of schema 10 and before: their texts may hold NUL, and foreign keys lack indexes.
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/record/launch.h"
#include "assay/store/result_store.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/launch_digest.h"
#include "assay/store/sql/rows.h"
#include "assay/store/sqlite/sqlite_store.h"
#include "assay/store/testing/sample_records.h"
#include "assay/store/testing/sqlite_store_fixture.h"

namespace assay::sqlite {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kWithNul("cannot open \0 device", 20);
constexpr const char* kMended = "cannot open \uFFFD device";

/// Makes the store one of schema 10, in which the text of the launch holds a NUL.
void go_back_to_schema_10(sql::Connection& connection, const std::string& launch) {
  ASSERT_TRUE(connection.run_script(
      "DROP INDEX launch_by_comparison; DROP INDEX run_by_environment; "
      "DROP INDEX run_by_environment_key; DROP INDEX environment_record_by_environment; "
      "DROP INDEX run_case_by_input_set; DROP INDEX run_case_by_calibration_set; "
      "PRAGMA user_version = 10"));
  const sql::Blob text{kWithNul};
  ASSERT_TRUE(
      connection.run("UPDATE launch SET text = CAST(? AS TEXT) WHERE id = ?", text, launch));
  ASSERT_TRUE(
      connection.run("UPDATE op_event SET name = CAST(? AS TEXT) WHERE position = 1", text));
  ASSERT_TRUE(connection.run("UPDATE attempt SET text = CAST(? AS TEXT)", text));
  ASSERT_TRUE(sql::seal_launch(connection, launch));
}

TEST_F(SqliteStore, MendsTextsOfAnEarlierSchemaAndSealsTheirLaunchesAnew) {
  SampleRun records;
  {
    auto store = open();
    records = add_sample_run(*store);
    go_back_to_schema_10(store->connection(), records.launch.id);
  }
  auto store = open();
  const auto launches = store->launches_of_attempt(records.attempt.id);
  ASSERT_TRUE(launches.has_value()) << launches.error().message;
  ASSERT_THAT(*launches, SizeIs(1));
  EXPECT_EQ(launches->front().text, kMended);
  EXPECT_EQ(launches->front().profile->events.at(1).name, kMended);
  EXPECT_EQ(store->attempts_of_run(records.run.id).value().at(0).text, kMended);
}

// Until somebody writes to it with today's Assay it is read through a copy.
TEST_F(SqliteStore, OfAnEarlierSchemaShowsItsReadersWhatIsWrittenLater) {
  SampleRun records;
  {
    auto store = open();
    records = add_sample_run(*store);
    go_back_to_schema_10(store->connection(), records.launch.id);
  }
  const auto reader = open_sqlite_store(file(), StoreAccess::kRead).value();
  const auto name = [&] { return reader->get_run(records.run.id).value().name; };
  EXPECT_EQ(name(), records.run.name);
  ASSERT_TRUE(Connection::open(file()).value().run("UPDATE run SET name = 'later'").has_value());
  EXPECT_EQ(name(), "later");
  auto writer = open();
  EXPECT_EQ(name(), "later");
  add_sample_run(*writer);
  EXPECT_THAT(reader->list_runs({}).value(), SizeIs(2));
}

TEST_F(SqliteStore, DoesNotSealADamagedLaunchAnew) {
  SampleRun records;
  {
    auto store = open();
    records = add_sample_run(*store);
    go_back_to_schema_10(store->connection(), records.launch.id);
    ASSERT_TRUE(store->connection().run("UPDATE launch SET wall_ns = wall_ns + 1").has_value());
  }
  EXPECT_EQ(open()->launches_of_attempt(records.attempt.id).error().code, ErrorCode::kCorrupt);
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
