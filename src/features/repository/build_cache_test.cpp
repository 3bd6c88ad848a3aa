#include "features/repository/build_cache.h"

#include "features/repository/build_entry.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <string>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/record/revision_build.h"

namespace assay {
namespace {

using testing::SizeIs;

class BuildCacheTest : public testing::Test {
 protected:
  /// A cache object of its own, as another process has.
  [[nodiscard]] BuildCache cache() const { return BuildCache(folder_.path()); }

  /// Adds an entry with one output of so many bytes, used `age` hours ago.
  void add(const std::string& key, std::size_t bytes, int age) const {
    const auto one = cache();
    const auto staging = one.make_staging(key).value();
    const std::string content(bytes, 'x');
    ASSERT_TRUE(write_file_atomically(staging / "bin" / "bench", content));
    const BuildEntry entry{.folder = one.folder_of(key),
                           .key = key,
                           .engine = "toy",
                           .revision = "r",
                           .environment = "default",
                           .outcome = BuildOutcome::kBuilt,
                           .outputs = {{"bench", "bin/bench"}},
                           .files = {{.name = "bin/bench",
                                      .role = "program",
                                      .bytes = static_cast<std::int64_t>(bytes),
                                      .sha256 = sha256_hex(content)}},
                           .output_digest = "d",
                           .built_unix_ns = 5};
    ASSERT_TRUE(write_build_document(entry, staging));
    ASSERT_TRUE(one.adopt(key, staging));
    std::filesystem::last_write_time(
        entry.folder, std::filesystem::file_time_type::clock::now() - std::chrono::hours(age));
  }

  [[nodiscard]] bool has(const std::string& key) const {
    return std::filesystem::exists(cache().folder_of(key));
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-builds").value();
};

TEST_F(BuildCacheTest, GivesBackWhatWasAdded) {
  add("aa11", 10, 1);
  const auto one = cache();
  EXPECT_FALSE(one.find("bb22").value().has_value());
  const auto entry = one.find("aa11").value();
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->engine, "toy");
  EXPECT_EQ(entry->outcome, BuildOutcome::kBuilt);
  EXPECT_EQ(entry->output("bench"), one.folder_of("aa11") / "bin" / "bench");
  EXPECT_EQ(entry->built_unix_ns, 5);
}

TEST_F(BuildCacheTest, RemovesAnEntryWhoseFileWasChanged) {
  for (const bool is_missing : {false, true}) {
    add("aa11", 10, 1);
    const auto file = cache().folder_of("aa11") / "bin" / "bench";
    if (is_missing) {
      std::filesystem::remove(file);
    } else {
      ASSERT_TRUE(write_file_atomically(file, "another"));
    }
    EXPECT_FALSE(cache().find("aa11").value().has_value());
    EXPECT_FALSE(has("aa11")) << "it is built again";
  }
}

TEST_F(BuildCacheTest, PrunesTheLeastRecentlyUsedDownToItsLimit) {
  add("aa11", 100'000, 3);
  add("bb22", 100'000, 2);
  add("cc33", 100'000, 1);
  static_cast<void>(cache().find("aa11").value());  // Used now.
  const auto pruned = cache().prune(150'000, {}).value();
  EXPECT_THAT(pruned.removed, SizeIs(2));
  EXPECT_TRUE(has("aa11"));
  EXPECT_FALSE(has("bb22") || has("cc33"));
  EXPECT_LT(pruned.bytes_left, 150'000);
  EXPECT_THAT(cache().prune(150'000, {}).value().removed, SizeIs(0));
}

TEST_F(BuildCacheTest, NeverPrunesWhatIsPinnedOrInUse) {
  add("aa11", 100'000, 3);
  add("bb22", 100'000, 2);
  add("cc33", 100'000, 1);
  const auto user = cache();
  ASSERT_TRUE(user.find("bb22").value().has_value());
  add("dd44", 100'000, 0);
  ASSERT_TRUE(cache().pin("toy-reference", "cc33"));
  ASSERT_TRUE(cache().pin("toy-reference", "dd44"));
  const auto pruned = cache().prune(0, {"aa11"}).value();
  EXPECT_THAT(pruned.removed, SizeIs(1));
  EXPECT_THAT(pruned.kept, SizeIs(3));
  EXPECT_TRUE(has("aa11") && has("bb22") && has("dd44"));
  EXPECT_FALSE(has("cc33")) << "the pin is another's now";
}

TEST_F(BuildCacheTest, RemovesWhatAKilledProcessLeftHalfMade) {
  const auto user = cache();
  const auto used = user.make_staging("aa11").value();
  std::filesystem::path left;
  {
    const auto killed = cache();
    left = killed.make_staging("bb22").value();
  }
  ASSERT_TRUE(cache().prune(1'000'000, {}));
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(used));
}

}  // namespace
}  // namespace assay
