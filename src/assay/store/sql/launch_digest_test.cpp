#include "assay/store/sql/launch_digest.h"

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/device_trace.h"
#include "assay/record/launch.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/trace_orders.h"
#include "assay/store/sqlite/sqlite_store.h"
#include "assay/store/testing/sample_records.h"

namespace assay::sql {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::SizeIs;

using Channels = std::vector<std::string>;

// In the order of ICU's en-US, which PostgreSQL gave; bytes would have B0D4 before acpitz.
const Channels kOfALaptop = {"frequency:cpu0",   "frequency:cpu1",
                             "power:BAT0",       "temperature:acpitz",
                             "temperature:B0D4", "temperature:INT3400 Thermal",
                             "temperature:TSR0", "temperature:x86_pkg_temp"};

/// A store with a launch that has these channels.
class SealOfALaunch : public testing::Test {
 protected:
  void add_launch(const Channels& channels) {
    launch_ = make_launch(add_sample_run(*store_).attempt.id, 1);
    launch_.traces->channels.clear();
    for (const auto& channel : channels) {
      launch_.traces->channels.push_back(
          {.channel = channel, .unit = "celsius", .times_ns = {1, 2}, .micros = {5, 6}});
    }
    ASSERT_TRUE(store_->add_launch(launch_).has_value());
  }

  /// Seals it as a database of another order did.
  void seal_in_order(const Channels& channels) {
    const auto digest = digest_in_order(store_->connection(), launch_.id, channels);
    ASSERT_TRUE(digest.has_value());
    ASSERT_NE(*digest, digest_from_rows_of_launch(store_->connection(), launch_.id).value());
    ASSERT_TRUE(
        store_->connection().run("UPDATE launch SET digest = ? WHERE id = ?", *digest, launch_.id));
  }

  Result<std::vector<Launch>> read() { return store_->launches_of_attempt(launch_.attempt); }

  std::unique_ptr<sqlite::SqliteResultStore> store_ =
      sqlite::SqliteResultStore::open(":memory:").value();
  Launch launch_;
};

TEST_F(SealOfALaunch, MadeInTheOrderOfALanguageIsRight) {
  add_launch(kOfALaptop);
  seal_in_order(kOfALaptop);
  const auto launches = read();
  ASSERT_TRUE(launches.has_value()) << launches.error().message;
  EXPECT_THAT(*launches, SizeIs(2));
}

TEST_F(SealOfALaunch, OfAFewChannelsMadeInAnyOrderIsRight) {
  const Channels channels = {"temperature:z", "temperature:aa", "power:y", "temperature:b"};
  add_launch(channels);
  seal_in_order(channels);
  EXPECT_TRUE(read().has_value());
}

TEST_F(SealOfALaunch, InAnotherOrderStillTellsDamage) {
  add_launch(kOfALaptop);
  seal_in_order(kOfALaptop);
  ASSERT_TRUE(store_->connection().run("UPDATE trace SET n = 3 WHERE launch = ? AND channel = ?",
                                       launch_.id, kOfALaptop[3]));
  const auto launches = read();
  ASSERT_FALSE(launches.has_value());
  EXPECT_EQ(launches.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(launches.error().message, HasSubstr(launch_.id));
}

// Six channels have 720 orders: the samples are not hashed in each of them.
TEST_F(SealOfALaunch, OfManySamplesIsJudgedSoon) {
  add_launch({"a", "b", "c", "d", "e", "f"});
  ASSERT_TRUE(store_->connection().run("UPDATE launch SET digest = 'wrong', text = ? WHERE id = ?",
                                       std::string(std::size_t{4} << 20, 'x'), launch_.id));
  const auto begin = std::clock();
  EXPECT_EQ(seal_of_launch(store_->connection(), launch_.id).value(), Seal::kWrong);
  EXPECT_LT(std::clock() - begin, CLOCKS_PER_SEC) << "ticks of the processor";
}

TEST_F(SealOfALaunch, OfLongTracesIsHeldAgainstLikelyOrdersOnly) {
  const Channels channels = {"z", "B", "a", "D", "c", "E"};
  add_launch(channels);
  const auto in_order = [&](const Channels& order) {
    seal_in_order(order);
    return seal_of_launch(store_->connection(), launch_.id).value();
  };
  EXPECT_EQ(in_order(channels), Seal::kRight);
  ASSERT_TRUE(store_->connection().run("UPDATE trace SET readings = zeroblob(1000000)"));
  EXPECT_EQ(in_order(channels), Seal::kWrong);
  EXPECT_EQ(in_order({"a", "B", "c", "D", "E", "z"}), Seal::kRight);
}

TEST_F(SealOfALaunch, TellsARowThatIsMissing) {
  add_launch(kOfALaptop);
  seal_in_order(kOfALaptop);
  ASSERT_TRUE(store_->connection().run("DELETE FROM trace WHERE launch = ? AND channel = ?",
                                       launch_.id, kOfALaptop[3]));
  EXPECT_EQ(read().error().code, ErrorCode::kCorrupt);
}

// en-US of ICU 72 counts punctuation, and en_US.UTF-8 of glibc 2.36 ignores it.
TEST(Dictionary, PutsTextsInOrder) {
  for (const auto punctuation : {Punctuation::kCounts, Punctuation::kIgnored}) {
    Channels sorted = kOfALaptop;
    std::ranges::sort(sorted);
    std::ranges::sort(sorted, [punctuation](const auto& a, const auto& b) {
      return comes_before_in_dictionary(a, b, punctuation);
    });
    EXPECT_THAT(sorted, ElementsAreArray(kOfALaptop));
  }
  EXPECT_TRUE(comes_before_in_dictionary("zone a", "zone1", Punctuation::kCounts));
  EXPECT_FALSE(comes_before_in_dictionary("zone a", "zone1", Punctuation::kIgnored));
  EXPECT_TRUE(comes_before_in_dictionary("cpu", "CPU", Punctuation::kCounts));
  EXPECT_TRUE(comes_before_in_dictionary("CPU0", "cpu1", Punctuation::kCounts));
}

}  // namespace
}  // namespace assay::sql
