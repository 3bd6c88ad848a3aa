#include "assay/base/user_home.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string>

#include "assay/base/fs.h"

namespace assay {
namespace {

/// A home with a key, a model, and a cache.
class UserHomeTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto* name : {".ssh", ".cache/models", "models"}) {
      std::filesystem::create_directories(home_ / name);
    }
    ASSERT_TRUE(write_file_atomically(home_ / ".ssh/id", "key"));
    const char* const home = ::getenv("HOME");
    former_ = home == nullptr ? "" : home;
    ::setenv("HOME", home_.c_str(), 1);
  }

  void TearDown() override { ::setenv("HOME", former_.c_str(), 1); }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-home").value();
  std::filesystem::path home_ = folder_.path() / "user";
  std::string former_;
};

TEST_F(UserHomeTest, HoldsItselfAndIsHeldByWhatIsAbove) {
  EXPECT_TRUE(holds_home(home_));
  EXPECT_TRUE(holds_home(folder_.path()));
  EXPECT_TRUE(holds_home("/"));
  EXPECT_TRUE(holds_home(home_ / "missing"));
  EXPECT_FALSE(holds_home(home_ / "models"));
  EXPECT_FALSE(holds_home("/usr"));
  EXPECT_TRUE(is_opened_as_a_whole(home_ / "models"));
  EXPECT_FALSE(is_opened_as_a_whole(home_));
  EXPECT_FALSE(is_opened_as_a_whole("/dev/../dev/shm"));
}

TEST_F(UserHomeTest, HidesWhatItsHiddenFoldersHold) {
  for (const auto* path : {".ssh", ".ssh/id", ".ssh/new", ".netrc", "models/../.ssh/id",
                           ".local/share/keyrings", ".pyenv/../.ssh"}) {
    EXPECT_TRUE(is_hidden_in_home(home_ / path)) << path;
  }
  for (const auto* path : {"", "models", "models/.git/x", "models/.ssh", ".cache/models/a",
                           ".pyenv/versions/3.11/bin/python3", ".local/bin/tool"}) {
    EXPECT_FALSE(is_hidden_in_home(home_ / path)) << path;
  }
  EXPECT_FALSE(is_hidden_in_home(folder_.path() / ".ssh"));
}

TEST_F(UserHomeTest, HidesWhatALinkOrAProcessLeadsTo) {
  const auto link = folder_.path() / "link";
  std::filesystem::create_symlink(home_ / ".ssh", link);
  EXPECT_TRUE(is_hidden_in_home(link / "id"));
  EXPECT_TRUE(is_hidden_in_home("/proc/self/environ"));
  std::filesystem::current_path(home_);
  EXPECT_TRUE(is_hidden_in_home("/proc/self/cwd/.ssh"));
  std::filesystem::current_path("/");
}

TEST_F(UserHomeTest, KnowsWhatIsWithinAFolder) {
  EXPECT_TRUE(is_within(home_ / "models/a", home_ / "models"));
  EXPECT_TRUE(is_within(home_ / "models", home_ / "models"));
  EXPECT_FALSE(is_within(home_ / "models2", home_ / "models"));
  EXPECT_FALSE(is_within(home_ / "models/../.ssh/id", home_ / "models"));
  EXPECT_FALSE(is_within(home_, ""));
}

}  // namespace
}  // namespace assay
