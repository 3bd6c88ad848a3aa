#include "assay/device/device_lock.h"

#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <stdlib.h>
#include <string>
#include <string_view>
#include <utility>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/result.h"

namespace assay {
namespace {

using testing::HasSubstr;

class DeviceLockTest : public testing::Test {
 protected:
  Result<DeviceLock> acquire(std::string_view device) {
    return DeviceLock::acquire(device, {.folder = folder_.path() / "locks"});
  }
  TemporaryFolder folder_ = TemporaryFolder::make("assay-lock").value();
};

TEST_F(DeviceLockTest, IsExclusiveAndNamesItsHolder) {
  const auto first = acquire("local");
  ASSERT_TRUE(first);
  const auto second = acquire("local");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(second.error().message, HasSubstr("device 'local' is in use by"));
  EXPECT_THAT(second.error().message, HasSubstr(fmt::format("process {} (", ::getpid())));
}

TEST_F(DeviceLockTest, IsReleasedWithTheObjectAndMovesWithIt) {
  auto first = acquire("local");
  ASSERT_TRUE(first);
  {
    const DeviceLock moved = *std::move(first);
    EXPECT_FALSE(acquire("local"));
  }
  EXPECT_TRUE(acquire("local"));
}

TEST_F(DeviceLockTest, IsOneForEachDevice) {
  const auto local = acquire("local");
  const auto colon = acquire("ssh:a");
  const auto underscore = acquire("ssh_a");
  const auto outside = acquire("../../outside");
  EXPECT_TRUE(local && colon && underscore && outside);
  EXPECT_FALSE(std::filesystem::exists(folder_.path().parent_path() / "outside.lock"));
}

TEST_F(DeviceLockTest, WaitsUntilItIsFree) {
  std::optional<DeviceLock> first = *acquire("local");
  int asked = 0;
  const auto second = DeviceLock::acquire("local", {.keep_waiting =
                                                        [&](const std::string& holder) {
                                                          EXPECT_THAT(holder, HasSubstr("process"));
                                                          first.reset();
                                                          return ++asked < 100;
                                                        },
                                                    .folder = folder_.path() / "locks"});
  EXPECT_TRUE(second);
  EXPECT_EQ(asked, 1);
}

TEST_F(DeviceLockTest, GivesUpWhenTold) {
  const auto first = acquire("local");
  const auto second =
      DeviceLock::acquire("local", {.keep_waiting = [](const std::string&) { return false; },
                                    .folder = folder_.path() / "locks"});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kTimeout);
}

TEST_F(DeviceLockTest, OfAKilledProcessIsFree) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto held = acquire("local");
    ::raise(SIGSTOP);
    ::_exit(held ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  const auto held = acquire("local");
  ASSERT_FALSE(held);
  EXPECT_THAT(held.error().message, HasSubstr(fmt::format("process {} (", child)));
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(acquire("local"));
}

TEST_F(DeviceLockTest, RefusesAFolderThatIsALink) {
  std::filesystem::create_directory_symlink(folder_.path(), folder_.path() / "locks");
  const auto lock = acquire("local");
  ASSERT_FALSE(lock);
  EXPECT_THAT(lock.error().message, HasSubstr("ASSAY_RUNTIME_DIR"));
}

TEST(LockFolder, IsOneForEachUser) {
  EXPECT_THAT(lock_folder().string(), testing::Not(testing::IsEmpty()));
  ::setenv("ASSAY_RUNTIME_DIR", "/somewhere", 1);
  EXPECT_EQ(lock_folder(), "/somewhere");
  ::unsetenv("ASSAY_RUNTIME_DIR");
  EXPECT_THAT(lock_folder().string(), HasSubstr(fmt::format("assay-{}", ::geteuid())));
}

}  // namespace
}  // namespace assay
