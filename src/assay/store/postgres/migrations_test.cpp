// The schema of a database: what the first migration makes, and how a store comes to a later one.
// The later ones here are made up.
#include "assay/store/postgres/migrations.h"

#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/device_trace.h"
#include "assay/record/launch.h"
#include "assay/store/postgres/connection.h"
#include "assay/store/result_store.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/migrations.h"
#include "assay/store/sql/rows.h"
#include "assay/store/testing/sample_records.h"
#include "assay/store/testing/store_fixture.h"

namespace assay::postgres {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kNames =
    "ALTER TABLE run ADD COLUMN place {text} NOT NULL DEFAULT 'here', "
    "ADD COLUMN picture {blob}; UPDATE run SET name = name || ' of old'";
constexpr std::string_view kBroken = "UPDATE run SET name = 'lost'; UPDATE nothing SET x = 1";

/// The store is made anew for each test, which leaves it in a schema of its own.
class SchemaOfADatabase : public EveryStore {
 protected:
  void SetUp() override {
    ASSERT_TRUE(drop().has_value());
    EveryStore::SetUp();
  }
  void TearDown() override { EXPECT_TRUE(drop().has_value()); }

  Status drop() { return connection_->run_script("DROP SCHEMA IF EXISTS assay CASCADE"); }
  std::int64_t number(std::string_view sql) {
    const auto found = connection_->get_integer(std::string(sql));
    EXPECT_TRUE(found.has_value()) << found.error().message;
    return found.value_or(-1);
  }

  std::unique_ptr<Connection> connection_ =
      Connection::open(test_database(), Purpose::kWrite).value();
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SchemaOfADatabase);
INSTANTIATE_TEST_SUITE_P(Stores, SchemaOfADatabase, testing::ValuesIn(databases()), name_of_store);

Result<std::vector<std::string>> texts_of(Connection& connection, std::string_view sql) {
  return sql::collect(connection.prepare(sql),
                      [](sql::Statement& row) { return Result<std::string>(row.text(0)); });
}

constexpr std::string_view kOrderedByLanguage =
    "SELECT CAST(table_name || '.' || column_name AS TEXT) FROM information_schema.columns "
    "JOIN information_schema.tables USING (table_schema, table_name) WHERE table_schema = 'assay' "
    "AND table_type = 'BASE TABLE' AND data_type = 'text' AND "
    "collation_name IS DISTINCT FROM 'C'";

constexpr std::string_view kCompressedBytes =
    "SELECT count(*) FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid "
    "WHERE relnamespace = 'assay'::regnamespace AND relkind = 'r' AND "
    "atttypid = 'bytea'::regtype AND attstorage <> 'e'";

TEST_P(SchemaOfADatabase, ComparesTextsByTheirBytesAndKeepsBytesAsTheyAre) {
  EXPECT_THAT(texts_of(*connection_, kOrderedByLanguage).value(), IsEmpty());
  EXPECT_EQ(number(kCompressedBytes), 0);
}

TEST_P(SchemaOfADatabase, BecomesALaterOneWithAllThatTheStoreHolds) {
  const auto records = add_sample_run(store());
  const std::array migrations = {sql::migrations().front(), kNames};
  EXPECT_THAT(check_schema(*connection_, migrations).error().message,
              HasSubstr("an older Assay made it"));
  for (int i = 0; i < 2; ++i) {
    const auto migrated = migrate(*connection_, migrations);
    ASSERT_TRUE(migrated.has_value()) << migrated.error().message;
  }
  EXPECT_EQ(schema_of(*connection_).value(), sql::kFirstSchema + 1);
  EXPECT_EQ(store().get_run(records.run.id).value().name, records.run.name + " of old");
  EXPECT_EQ(number("SELECT count(*) FROM run WHERE place = 'here'"), 1);
  EXPECT_THAT(texts_of(*connection_, kOrderedByLanguage).value(), IsEmpty());
  EXPECT_EQ(number(kCompressedBytes), 0);
  EXPECT_TRUE(check_schema(*connection_, migrations).has_value());
  EXPECT_THAT(check_schema(*connection_).error().message, HasSubstr("a newer Assay made it"));
  EXPECT_THAT(migrate(*connection_).error().message, HasSubstr("a newer Assay made it"));
}

TEST_P(SchemaOfADatabase, StaysWhereAMigrationFails) {
  const auto records = add_sample_run(store());
  const std::array migrations = {sql::migrations().front(), kNames, kBroken};
  EXPECT_FALSE(migrate(*connection_, migrations).has_value());
  EXPECT_EQ(schema_of(*connection_).value(), sql::kFirstSchema);
  EXPECT_EQ(store().get_run(records.run.id).value().name, records.run.name);
}

TEST_P(SchemaOfADatabase, OfADevelopmentVersionIsRefused) {
  ASSERT_TRUE(connection_->run_script("UPDATE schema_version SET version = 11").has_value());
  for (const auto& refused : {migrate(*connection_), check_schema(*connection_)}) {
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(refused.error().message,
                AllOf(HasSubstr("a development version before 0.1 made it (schema 11,"),
                      HasSubstr("start a new store")));
  }
  EXPECT_EQ(schema_of(*connection_).value(), 11);
}

TEST_P(SchemaOfADatabase, ReadsJsonWithEscapedBackslashesAsItIs) {
  const auto texts = texts_of(*connection_, R"sql(
      SELECT json_extract('{"a": "\\u0000 \u0000\u0000 \\\u0000 \\\\u0000"}', '$.a')
      UNION ALL SELECT value FROM json_each('["C:\\u0000 \u0000"]'))sql");
  EXPECT_THAT(texts.value(),
              ElementsAre("\\u0000 \uFFFD\uFFFD \\\uFFFD \\\\u0000", "C:\\u0000 \uFFFD"));
}

// Its channels are not in the order of a language.
TEST_P(SchemaOfADatabase, GivesAFileTheSealsOfItsLaunches) {
  const auto records = add_sample_run(store());
  auto launch = make_launch(records.attempt.id, 1);
  launch.traces->channels.clear();
  for (const auto* const channel : {"temperature:acpitz", "temperature:B0D4", "frequency:cpu0",
                                    "frequency:LITTLE", "temperature:x86_pkg"}) {
    launch.traces->channels.push_back(
        {.channel = channel, .unit = "celsius", .times_ns = {1}, .micros = {2}});
  }
  ASSERT_TRUE(store().add_launch(launch).has_value());
  const auto read = store().launches_of_attempt(records.attempt.id);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  auto part = open_sqlite_store(file("part.db")).value();
  ASSERT_TRUE(part->merge_from(test_database()).has_value());
  const auto copied = part->launches_of_attempt(records.attempt.id);
  ASSERT_TRUE(copied.has_value()) << copied.error().message;
  EXPECT_THAT(*copied, SizeIs(2));
}

}  // namespace
}  // namespace assay::postgres
