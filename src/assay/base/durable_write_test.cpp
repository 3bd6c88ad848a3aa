#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <system_error>
#include <vector>

#include <sys/syscall.h>
#include <unistd.h>

#include "assay/base/fs.h"

namespace {

namespace stdfs = std::filesystem;

/// Records the calls of fsync while a test watches one file.
struct SyncWatch {
  stdfs::path target;
  std::vector<std::string> synced;
};

SyncWatch* sync_watch = nullptr;

}  // namespace

/// Stands in for the one of libc, which it does the work of.
extern "C" int fsync(int fd) {
  if (sync_watch != nullptr) {
    std::error_code ignored;
    const auto path = stdfs::read_symlink("/proc/self/fd/" + std::to_string(fd), ignored);
    const bool is_renamed = stdfs::exists(sync_watch->target, ignored);
    sync_watch->synced.push_back(
        (stdfs::is_directory(path, ignored) ? std::string("the folder") : std::string("a file")) +
        (is_renamed ? " behind the rename" : " ahead of the rename"));
  }
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace assay {
namespace {

TEST(DurableWrite, SyncsTheFileThenItsName) {
  const auto folder = TemporaryFolder::make("assay-test").value();
  SyncWatch watch{.target = folder.path() / "kept.json", .synced = {}};
  sync_watch = &watch;
  const auto written = write_file_atomically(watch.target, "{}");
  sync_watch = nullptr;
  ASSERT_TRUE(written);
  EXPECT_THAT(watch.synced,
              testing::ElementsAre("a file ahead of the rename", "the folder behind the rename"));
}

TEST(DurableWrite, NamesTheFolderThatCannotBeMade) {
  const auto folder = TemporaryFolder::make("assay-test").value();
  const auto file = folder.path() / "file";
  ASSERT_TRUE(write_file_atomically(file, ""));
  const auto written = write_file_atomically(file / "sub" / "config.json", "{}");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message,
              testing::HasSubstr("cannot make the folder '" + (file / "sub").string() + "'"));
}

}  // namespace
}  // namespace assay
