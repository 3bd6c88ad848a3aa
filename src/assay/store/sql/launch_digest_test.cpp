#include "assay/store/sql/launch_digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "assay/base/result.h"
#include "assay/store/sqlite/sqlite_store.h"
#include "assay/store/testing/sample_records.h"

namespace assay::sql {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

/// A store with a launch that was changed behind its back.
class SealOfALaunch : public testing::Test {
 protected:
  void check_that_it_tells(const std::string& change) {
    const auto records = add_sample_run(*store_);
    ASSERT_THAT(store_->launches_of_attempt(records.attempt.id).value(), SizeIs(1));
    ASSERT_TRUE(store_->connection().run(change).has_value());
    const auto launches = store_->launches_of_attempt(records.attempt.id);
    ASSERT_FALSE(launches.has_value());
    EXPECT_EQ(launches.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(launches.error().message, HasSubstr(records.launch.id));
  }

  std::unique_ptr<sqlite::SqliteResultStore> store_ =
      sqlite::SqliteResultStore::open(":memory:").value();
};

TEST_F(SealOfALaunch, TellsAChangedRow) { check_that_it_tells("UPDATE trace SET n = n + 1"); }
TEST_F(SealOfALaunch, TellsARowThatIsMissing) { check_that_it_tells("DELETE FROM trace"); }
TEST_F(SealOfALaunch, IsMissed) { check_that_it_tells("UPDATE launch SET digest = NULL"); }

}  // namespace
}  // namespace assay::sql
