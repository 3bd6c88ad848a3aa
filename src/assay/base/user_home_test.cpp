#include "assay/base/user_home.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string>

#include <sys/stat.h>

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

TEST_F(UserHomeTest, OpensNoDeviceAndNothingThatIsNoFile) {
  const auto link = folder_.path() / "disk";
  std::filesystem::create_symlink("/dev/null", link);
  const auto pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::filesystem::path& path :
       {std::filesystem::path("/dev"), link, pipe, std::filesystem::path("/dev/null"),
        std::filesystem::path("/dev/input")}) {
    EXPECT_FALSE(is_opened_as_a_whole(path)) << path;
  }
  EXPECT_TRUE(is_hidden_in_home("/dev/kmsg"));
  EXPECT_TRUE(is_hidden_in_home(link));
  EXPECT_FALSE(is_hidden_in_home("/dev/shm/net.pte"));
  EXPECT_TRUE(is_opened_as_a_whole(home_ / ".ssh/id")) << "a file alone";
}

TEST_F(UserHomeTest, HidesTheAccessTokensOfHuggingFace) {
  const auto other = folder_.path() / "hf";
  for (const auto& hub : {home_ / ".cache/huggingface", other}) {
    ASSERT_TRUE(write_file_atomically(hub / "token", "hf_secret"));
    ASSERT_TRUE(write_file_atomically(hub / "hub/model/net.pte", "net"));
  }
  ::setenv("HF_HOME", other.c_str(), 1);
  for (const auto& closed :
       {home_ / ".cache", home_ / ".cache/huggingface", home_ / ".cache/huggingface/token",
        home_ / ".cache/huggingface/stored_tokens", other, other / "token", folder_.path()}) {
    EXPECT_TRUE(is_hidden_in_home(closed)) << closed;
    EXPECT_FALSE(is_in_user_cache(closed)) << closed;
    EXPECT_FALSE(std::filesystem::is_directory(closed) && is_opened_as_a_whole(closed)) << closed;
  }
  for (const auto& open : {home_ / ".cache/huggingface/hub", other / "hub/model/net.pte"}) {
    EXPECT_FALSE(is_hidden_in_home(open)) << open;
    EXPECT_TRUE(is_in_user_cache(open)) << open;
    EXPECT_TRUE(is_opened_as_a_whole(open)) << open;
  }
  ::unsetenv("HF_HOME");
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
