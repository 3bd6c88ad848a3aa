#include "assay/device/page_cache.h"

#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/result.h"

namespace assay {
namespace {

class PageCache : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = TemporaryFolder::make("assay-page-cache");
    ASSERT_TRUE(folder) << folder.error().message;
    folder_ = *std::move(folder);
    const auto path = folder_->path() / "program";
    ASSERT_TRUE(write_file_atomically(path, std::string(1 << 20, 'x')));
    files_ = {path.string()};
  }

  std::optional<TemporaryFolder> folder_;
  std::vector<std::string> files_;
};

TEST_F(PageCache, HoldsAFileThatWasReadAndNotOneThatWasDropped) {
  ASSERT_TRUE(read_into_page_cache(files_));
  ASSERT_EQ(cached_ratio_of(files_), 1.0);
  ASSERT_TRUE(drop_from_page_cache(files_));
  const auto dropped = cached_ratio_of(files_);
  if (dropped == 1.0) {
    GTEST_SKIP() << "the temporary folder lies in memory";
  }
  EXPECT_EQ(dropped, 0.0);
  ASSERT_TRUE(read_into_page_cache(files_));
  EXPECT_EQ(cached_ratio_of(files_), 1.0);
}

TEST_F(PageCache, NamesAFileThatIsNotThere) {
  const std::vector<std::string> missing = {"/no/such/program"};
  EXPECT_EQ(cached_ratio_of(missing), std::nullopt);
  for (const auto& status : {drop_from_page_cache(missing), read_into_page_cache(missing)}) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
    EXPECT_NE(status.error().message.find("/no/such/program"), std::string::npos);
  }
}

/// The kernel tells anybody but the owner, and who may write, that all of it is cached.
TEST_F(PageCache, TellsNothingOfAFileOfAnotherUser) {
  if (::getuid() != 0) {
    GTEST_SKIP() << "needs root";
  }
  constexpr uid_t kOther = 65534;
  ASSERT_EQ(::chmod(folder_->path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(files_[0].c_str(), 0644), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_other = ::setuid(kOther) == 0;
    ::_exit(is_other && !cached_ratio_of(files_) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(PageCache, TellsNothingOfNoFiles) { EXPECT_EQ(cached_ratio_of({}), std::nullopt); }

}  // namespace
}  // namespace assay
