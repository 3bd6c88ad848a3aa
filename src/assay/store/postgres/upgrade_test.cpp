// Databases of schema 10 and before, whose texts have the order of the database's collation.
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
#include "assay/store/postgres/migrations.h"
#include "assay/store/result_store.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/launch_digest.h"
#include "assay/store/sql/rows.h"
#include "assay/store/testing/sample_records.h"
#include "assay/store/testing/store_fixture.h"

namespace assay::postgres {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class DatabaseOfSchema10 : public EveryStore {
 protected:
  std::unique_ptr<Connection> connection_ =
      Connection::open(test_database(), Purpose::kWrite).value();
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DatabaseOfSchema10);
INSTANTIATE_TEST_SUITE_P(Stores, DatabaseOfSchema10, testing::ValuesIn(databases()), name_of_store);

Result<std::vector<std::string>> texts_of(Connection& connection, std::string_view sql) {
  return sql::collect(connection.prepare(sql),
                      [](sql::Statement& row) { return Result<std::string>(row.text(0)); });
}

constexpr std::string_view kOrderedByLanguage =
    "SELECT CAST(table_name || '.' || column_name AS TEXT) FROM information_schema.columns "
    "JOIN information_schema.tables USING (table_schema, table_name) WHERE table_schema = 'assay' "
    "AND table_type = 'BASE TABLE' AND data_type = 'text' AND "
    "collation_name IS DISTINCT FROM 'C'";

/// Whether the view has the owner that it had, who grants as he did.
constexpr std::string_view kGrantableView =
    "SELECT count(*) FROM pg_class, aclexplode(relacl) WHERE oid = 'late_execution'::regclass AND "
    "grantee = 'pg_monitor'::regrole AND is_grantable AND grantor = relowner AND "
    "relowner = 'pg_signal_backend'::regrole";

TEST_P(DatabaseOfSchema10, IsComparedByBytesAfterItsMigration) {
  ASSERT_TRUE(connection_->run_script("DROP SCHEMA assay CASCADE").has_value());
  ASSERT_TRUE(migrate(*connection_, 10).has_value());
  EXPECT_GT(texts_of(*connection_, kOrderedByLanguage).value().size(), 100U);
  ASSERT_TRUE(
      connection_->run_script("GRANT SELECT ON late_execution TO PUBLIC; "
                              "GRANT SELECT ON late_execution TO pg_monitor WITH GRANT OPTION; "
                              "ALTER VIEW late_execution OWNER TO pg_signal_backend; "
                              "GRANT SELECT, UPDATE ON schema_version TO PUBLIC"));
  ASSERT_TRUE(migrate(*connection_).has_value());
  EXPECT_THAT(texts_of(*connection_, kOrderedByLanguage).value(), IsEmpty());
  const auto granted = [this](std::string_view table, std::string_view right) {
    return connection_
        ->get_integer(fmt::format("SELECT count(*) FROM pg_class, aclexplode(relacl) WHERE oid = "
                                  "'{}'::regclass AND grantee = 0 AND privilege_type = '{}'",
                                  table, right))
        .value();
  };
  EXPECT_EQ(granted("late_execution", "SELECT"), 1) << "the view was made anew";
  EXPECT_EQ(connection_->get_integer(kGrantableView).value(), 1);
  ASSERT_TRUE(connection_->run_script("ALTER VIEW late_execution OWNER TO CURRENT_USER"));
  EXPECT_EQ(granted("schema_version", "SELECT"), 1);
  EXPECT_EQ(granted("schema_version", "UPDATE"), 0);
}

// PostgreSQL changes no column that a view has, and these belong to somebody else.
TEST_P(DatabaseOfSchema10, NamesViewsThatAreInTheWayOfItsMigration) {
  ASSERT_TRUE(connection_->run_script("DROP SCHEMA assay CASCADE").has_value());
  ASSERT_TRUE(migrate(*connection_, 10).has_value());
  ASSERT_TRUE(connection_->run_script(
      "CREATE VIEW public.newest AS SELECT id, labels FROM run ORDER BY order_ns DESC; "
      "CREATE MATERIALIZED VIEW public.late AS SELECT count(*) FROM late_execution; "
      "CREATE VIEW public.orders AS SELECT order_ns FROM run"));
  const auto stopped = migrate(*connection_);
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(stopped.error().message,
              HasSubstr("materialized view public.late, view public.newest; keep"));
  EXPECT_EQ(schema_of(*connection_).value(), 10);
  ASSERT_TRUE(
      connection_->run_script("DROP VIEW public.newest; DROP MATERIALIZED VIEW public.late"));
  const auto migrated = migrate(*connection_);
  EXPECT_TRUE(migrated.has_value()) << migrated.error().message;
  EXPECT_TRUE(connection_->run_script("DROP VIEW public.orders"));
}

TEST_P(DatabaseOfSchema10, ReadsJsonWithEscapedBackslashesAsItIs) {
  const auto texts = texts_of(*connection_, R"sql(
      SELECT json_extract('{"a": "\\u0000 \u0000\u0000 \\\u0000 \\\\u0000"}', '$.a')
      UNION ALL SELECT value FROM json_each('["C:\\u0000 \u0000"]'))sql");
  EXPECT_THAT(texts.value(),
              ElementsAre("\\u0000 \uFFFD\uFFFD \\\uFFFD \\\\u0000", "C:\\u0000 \uFFFD"));
}

// A file takes what was digested in the order of the database with its digest.
TEST_P(DatabaseOfSchema10, HasSealsInItsOwnOrder) {
  const auto records = add_sample_run(store());
  auto launch = make_launch(records.attempt.id, 1);
  launch.traces->channels.clear();
  for (const auto* const channel :
       {"temperature:acpitz", "temperature:B0D4", "temperature:TSR0", "temperature:pch",
        "temperature:x86_pkg", "frequency:cpu0", "frequency:LITTLE", "power:BAT0"}) {
    launch.traces->channels.push_back(
        {.channel = channel, .unit = "celsius", .times_ns = {1}, .micros = {2}});
  }
  ASSERT_TRUE(store().add_launch(launch).has_value());
  const auto order =
      texts_of(*connection_, "SELECT channel FROM trace ORDER BY channel COLLATE \"default\"");
  const auto digest = sql::digest_in_order(*connection_, launch.id, order.value());
  ASSERT_TRUE(digest.has_value());
  ASSERT_TRUE(connection_->run("UPDATE launch SET digest = ? WHERE id = ?", *digest, launch.id)
                  .has_value());
  const auto read = store().launches_of_attempt(records.attempt.id);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_THAT(*read, SizeIs(2));
  auto part = open_sqlite_store(file("part.db")).value();
  ASSERT_TRUE(part->merge_from(test_database()).has_value());
  const auto copied = part->launches_of_attempt(records.attempt.id);
  EXPECT_TRUE(copied.has_value()) << copied.error().message;
}

}  // namespace
}  // namespace assay::postgres
