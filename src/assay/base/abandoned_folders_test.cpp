#include "assay/base/abandoned_folders.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <optional>
#include <stdlib.h>
#include <string>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/base/fs.h"

namespace assay {
namespace {

/// A place for temporary folders of this test's own.
class AbandonedFolders : public testing::Test {
 protected:
  AbandonedFolders() { ::setenv("TMPDIR", own_.path().c_str(), 1); }
  ~AbandonedFolders() override {
    before_ ? ::setenv("TMPDIR", before_->c_str(), 1) : ::unsetenv("TMPDIR");
  }
  [[nodiscard]] int count() const {
    int entries = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(own_.path())) {
      ++entries;
    }
    return entries;
  }

  std::optional<std::string> before_ =
      ::getenv("TMPDIR") == nullptr ? std::nullopt : std::optional<std::string>(::getenv("TMPDIR"));
  TemporaryFolder own_ = TemporaryFolder::make("assay-test").value();
};

TEST_F(AbandonedFolders, GoWithTheNextCommand) {
  const auto child = ::fork();
  if (child == 0) {
    const auto folder = TemporaryFolder::make("assay-jobs");
    ::raise(folder && write_file_atomically(folder->path() / "deep" / "file", "x") ? SIGKILL
                                                                                   : SIGTERM);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(WTERMSIG(status), SIGKILL);
  ASSERT_EQ(count(), 1) << "a killed process leaves its folder";
  EXPECT_EQ(remove_abandoned_folders(), 1);
  EXPECT_EQ(count(), 0);
}

TEST_F(AbandonedFolders, StayWhileSomebodyUsesThem) {
  auto first = TemporaryFolder::make("assay-jobs").value();
  {
    const auto moved = std::move(first);
    EXPECT_EQ(remove_abandoned_folders(), 0);
    EXPECT_TRUE(std::filesystem::exists(moved.path()));
  }
  EXPECT_EQ(count(), 0);
}

TEST_F(AbandonedFolders, AreNothingElse) {
  const auto target = TemporaryFolder::make("assay-target").value();
  std::filesystem::create_directory(own_.path() / "assay-notes");
  std::filesystem::create_directory(own_.path() / "notes.abcdef");
  for (const auto* users : {"assay-results.backup", "assay-0.1.0.x86_64", "assay-notes.latest"}) {
    std::filesystem::create_directory(own_.path() / users);
    std::filesystem::permissions(own_.path() / users, std::filesystem::perms::owner_all);
  }
  std::filesystem::create_directory_symlink(target.path(), own_.path() / "assay-link.abcdef");
  EXPECT_EQ(remove_abandoned_folders(), 0);
  EXPECT_EQ(count(), 7);
}

}  // namespace
}  // namespace assay
