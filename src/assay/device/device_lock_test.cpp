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

TEST_F(DeviceLockTest, IsSharedByBuildsUntilSomebodyWaitsToOwnIt) {
  const auto open_share = [this](const char* work) {
    return DeviceShare::open("local", {.work = work, .folder = folder_.path() / "locks"}).value();
  };
  auto one = open_share("building toy@1");
  auto other = open_share("building toy@2");
  EXPECT_TRUE(one.try_take().value());
  EXPECT_TRUE(other.try_take().value()) << "builds do not exclude each other";
  EXPECT_FALSE(one.is_wanted().value());
  int asked = 0;
  const auto owned =
      DeviceLock::acquire("local", {.keep_waiting =
                                        [&](const std::string& holder) {
                                          EXPECT_THAT(holder, HasSubstr("building toy@2"));
                                          EXPECT_TRUE(one.is_wanted().value());
                                          one.release();
                                          EXPECT_FALSE(one.try_take().value()) << "it waits first";
                                          if (asked == 1) {
                                            other.release();
                                          }
                                          return ++asked < 100;
                                        },
                                    .folder = folder_.path() / "locks"});
  ASSERT_TRUE(owned);
  EXPECT_EQ(asked, 2) << "it was owned while a build had its share";
  EXPECT_FALSE(one.is_wanted().value()) << "it waits no longer";
  EXPECT_FALSE(one.try_take().value()) << "it is owned";
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

TEST(LockPlace, IsOneForAllUsersUnlessItIsGiven) {
  const auto place = lock_place();
  EXPECT_TRUE(place.is_shared);
  EXPECT_TRUE(place.folder == "/run/lock" || place.folder == "/tmp") << place.folder;
  ::setenv("ASSAY_RUNTIME_DIR", "/somewhere", 1);
  EXPECT_EQ(lock_place().folder, "/somewhere");
  EXPECT_FALSE(lock_place().is_shared);
  ::unsetenv("ASSAY_RUNTIME_DIR");
}

/// Tries the lock as another user; what became of it.
ErrorCode acquire_as_nobody(std::string_view device) {
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) {
      ::_exit(255);
    }
    const auto lock = DeviceLock::acquire(device, {});
    ::_exit(lock ? 254 : static_cast<int>(lock.error().code));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return static_cast<ErrorCode>(WEXITSTATUS(status));
}

TEST(DeviceLock, ExcludesOtherUsers) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can become another user";
  }
  const auto device = fmt::format("test-{}", ::getpid());
  const auto file = lock_place().folder / fmt::format("assay-device-{}.lock", device);
  EXPECT_EQ(acquire_as_nobody(device), static_cast<ErrorCode>(254));
  {
    // The file is nobody's now, and root takes part all the same.
    const auto held = DeviceLock::acquire(device, {});
    ASSERT_TRUE(held) << held.error().message;
    EXPECT_EQ(acquire_as_nobody(device), ErrorCode::kUnavailable);
  }
  EXPECT_EQ(acquire_as_nobody(device), static_cast<ErrorCode>(254));
  std::filesystem::remove(file);
}

TEST_F(DeviceLockTest, TakesNoFileThatIsALinkOrHasTwoNames) {
  const auto folder = folder_.path() / "locks";
  ASSERT_TRUE(acquire("other"));
  const auto victim = folder_.path() / "victim";
  ASSERT_TRUE(write_file_atomically(victim, "content"));
  std::filesystem::create_symlink(victim, folder / "device-linked.lock");
  std::filesystem::create_hard_link(victim, folder / "device-hard.lock");
  EXPECT_FALSE(acquire("linked"));
  EXPECT_FALSE(acquire("hard"));
  EXPECT_EQ(read_file(victim).value_or(""), "content");
}

}  // namespace
}  // namespace assay
