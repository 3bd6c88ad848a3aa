#include "assay/artifact/cache_limit.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <stdlib.h>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/artifact/cache.h"
#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CacheLimit : public testing::Test {
 protected:
  [[nodiscard]] ArtifactCache cache() const { return ArtifactCache(folder_.path() / "cache"); }

  /// An artifact of about 1000 bytes that was last used so many hours ago.
  void put(const std::string& key, int hours_ago) const {
    const std::string program(1000, 'x');
    const Json manifest = {{"entry", "program.pte"},
                           {"files",
                            {{{"name", "program.pte"},
                              {"role", "program"},
                              {"bytes", 1000},
                              {"sha256", sha256_hex(program)}}}}};
    const auto place = folder_.path() / "cache" / key.substr(0, 2) / key;
    ASSERT_TRUE(write_file_atomically(place / "program.pte", program).has_value());
    ASSERT_TRUE(write_file_atomically(place / "manifest.json", manifest.dump()).has_value());
    std::filesystem::last_write_time(
        place, std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours_ago));
  }

  static std::vector<std::string> keys(const std::vector<CacheEntry>& entries) {
    std::vector<std::string> found;
    for (const auto& entry : entries) {
      found.push_back(entry.key);
    }
    return found;
  }

 private:
  TemporaryFolder folder_ = TemporaryFolder::make("assay-test").value();
};

TEST_F(CacheLimit, RemovesWhatWasNotUsedForLongest) {
  put("aa1", 1);
  put("bb2", 3);
  put("aa3", 2);
  const auto plan = plan_cache_pruning(cache(), 2500).value();
  EXPECT_THAT(keys(plan.removed), ElementsAre("bb2"));
  EXPECT_THAT(list_cache_entries(cache()), SizeIs(3)) << "a plan removes nothing";
  const auto pruned = prune_cache(cache(), 2500).value();
  EXPECT_THAT(keys(pruned.removed), ElementsAre("bb2"));
  EXPECT_LE(pruned.bytes_left, 2500);
  EXPECT_THAT(keys(list_cache_entries(cache())), ElementsAre("aa3", "aa1"));
  EXPECT_THAT(prune_cache(cache(), 2500)->removed, IsEmpty());
}

TEST_F(CacheLimit, TakingAnEntryOutIsUsingIt) {
  put("aa1", 2);
  put("bb2", 1);
  ASSERT_TRUE(cache().find_artifact("aa1").value().has_value());
  EXPECT_THAT(keys(prune_cache(cache(), 1500)->removed), ElementsAre("bb2"));
}

TEST_F(CacheLimit, KeepsWhatSomebodyUses) {
  put("aa1", 2);
  put("bb2", 1);
  {
    const auto user = cache();
    ASSERT_TRUE(user.find_artifact("aa1").value().has_value());
    const auto staging = user.make_staging_folder("cc3").value();
    const auto pruned = prune_cache(cache(), 0).value();
    EXPECT_THAT(keys(pruned.removed), ElementsAre("bb2"));
    EXPECT_THAT(keys(pruned.in_use), ElementsAre("aa1"));
    EXPECT_THAT(keys(prune_cache(user, 0)->in_use), ElementsAre("aa1")) << "its own, too";
    EXPECT_TRUE(std::filesystem::exists(staging));
  }
  EXPECT_THAT(keys(prune_cache(cache(), 0)->removed), ElementsAre("aa1"));
}

TEST_F(CacheLimit, RemovesWhatAKilledProcessLeftHalfMade) {
  const auto child = ::fork();
  if (child == 0) {
    const auto staging = cache().make_staging_folder("cc3");
    ::raise(staging ? SIGKILL : SIGTERM);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(WTERMSIG(status), SIGKILL);
  ASSERT_FALSE(std::filesystem::is_empty(cache().staging_folder()));
  ASSERT_TRUE(prune_cache(cache(), 1'000'000).has_value());
  EXPECT_TRUE(std::filesystem::is_empty(cache().staging_folder()));
}

TEST_F(CacheLimit, ComesFromTheEnvironment) {
  ::unsetenv("ASSAY_CACHE_LIMIT");
  EXPECT_EQ(cache_limit_bytes().value(), 10'000'000'000);
  ::setenv("ASSAY_CACHE_LIMIT", "500MB", 1);
  EXPECT_EQ(cache_limit_bytes().value(), 500'000'000);
  ::setenv("ASSAY_CACHE_LIMIT", "much", 1);
  EXPECT_THAT(cache_limit_bytes().error().message, HasSubstr("ASSAY_CACHE_LIMIT"));
  ::unsetenv("ASSAY_CACHE_LIMIT");
}

}  // namespace
}  // namespace assay
