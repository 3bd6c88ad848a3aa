#include "assay/remote/remote_shell.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string>
#include <thread>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/remote/address.h"

namespace assay {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

/// An ssh that runs the command on this machine, or fails as it is told to.
class RemoteShellTest : public testing::Test {
 protected:
  void SetUp() override { write_ssh("shift $(($# - 1)); exec sh -c \"$1\""); }
  void TearDown() override { ::unsetenv("ASSAY_SSH"); }

  void write_ssh(const std::string& body) {
    ASSERT_TRUE(write_file_atomically(ssh_, "#!/bin/sh\n" + body + "\n", 0755).has_value());
    ::setenv("ASSAY_SSH", (ssh_.string() + " -F none").c_str(), 1);
  }

  RemoteShell shell_{{.reach = Reach::kSsh, .host = "board"}};

  void add_program(const std::string& name, const std::string& body) {
    ASSERT_TRUE(write_file_atomically(folder_.path() / name, "#!/bin/sh\n" + body + "\n", 0755)
                    .has_value());
  }
  [[nodiscard]] std::filesystem::path folder() const { return folder_.path(); }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-test").value();

 private:
  std::filesystem::path ssh_ = folder_.path() / "ssh";
};

TEST_F(RemoteShellTest, RunsACommandWithBytesAsItsInput) {
  const std::string bytes("a\0b\n'c'\n", 8);
  EXPECT_EQ(shell_.run("cat", bytes, 20s).value(), bytes);
  EXPECT_EQ(shell_.run("echo 'two  words'", "", 20s).value(), "two  words\n");
}

TEST_F(RemoteShellTest, TellsHowItFailed) {
  write_ssh("echo 'ssh: connect to host board port 22: Connection refused' >&2; exit 255");
  const auto refused = shell_.run("true", "", 20s);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("start its sshd"));
  ::setenv("ASSAY_SSH", "/nowhere/ssh", 1);
  const auto missing = shell_.run("true", "", 20s);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound) << missing.error().message;
  EXPECT_THAT(missing.error().message, HasSubstr("not installed here"));
}

TEST_F(RemoteShellTest, GivesUpOnADeviceThatHangs) {
  write_ssh("sleep 60");
  EXPECT_EQ(shell_.run("true", "", 1s).error().code, ErrorCode::kUnavailable);
}

TEST_F(RemoteShellTest, LetsANewServerOfAdbFindItsPhones) {
  const auto adb = folder_.path() / "adb";
  const auto calls = (folder_.path() / "calls").string();
  ASSERT_TRUE(write_file_atomically(
      adb,
      "#!/bin/sh\n"
      "echo x >>" +
          calls + "; n=$(wc -l <" + calls +
          ")\n"
          "if [ $n = 1 ]; then echo '* daemon started successfully' >&2; fi\n"
          "if [ $n -lt 3 ]; then echo \"error: device 'S1' not found\" >&2; exit 1; fi\n"
          "echo found\n",
      0755));
  ::setenv("ASSAY_ADB", adb.c_str(), 1);
  const auto answer = RemoteShell({.reach = Reach::kAdb, .serial = "S1"}).run("true", "", 20s);
  ::unsetenv("ASSAY_ADB");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(*answer, "found\n");
}

TEST_F(RemoteShellTest, ReachesAPhoneAtAnotherMachine) {
  ::setenv("ASSAY_SSH", "ssh", 1);
  const RemoteShell phone({.reach = Reach::kAdb, .host = "lab", .serial = "S1"});
  const auto argv = phone.argv_for("echo 'x'");
  EXPECT_EQ(argv.back(), R"(adb -s S1 shell -T 'echo '\''x'\''')");
  EXPECT_EQ(argv.at(argv.size() - 2), "lab");
  EXPECT_THAT(RemoteShell({.reach = Reach::kAdb, .serial = "S1"}).argv_for("id"),
              ElementsAre("adb", "-s", "S1", "shell", "-T", "id"));
}

TEST_F(RemoteShellTest, StartsAPhoneAnewByAdb) {
  const auto log = (folder() / "log").string();
  add_program("adb", "echo \"$@\" >" + log);
  ::setenv("ASSAY_ADB", (folder() / "adb").c_str(), 1);
  EXPECT_TRUE(RemoteShell({.reach = Reach::kAdb, .serial = "S1"}).reboot().has_value());
  ::unsetenv("ASSAY_ADB");
  EXPECT_EQ(read_file(log).value(), "-s S1 reboot\n");
}

TEST_F(RemoteShellTest, StartsABoardAnewIfItsUserMay) {
  // Nothing but these programs is found, so that this machine is safe.
  const std::string path = std::getenv("PATH");
  const auto log = folder() / "log";
  std::filesystem::create_symlink("/bin/sh", folder() / "sh");
  add_program("id", "echo 1000");
  add_program("sudo", "exit 1");
  ::setenv("PATH", folder().c_str(), 1);
  const auto refused = shell_.reboot();
  add_program("sudo", "printf '%s\\n' \"$*\" >>" + log.string());
  const auto begun = shell_.reboot();
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("sudo without a password"));
  EXPECT_TRUE(begun.has_value());
  std::string calls;
  for (int i = 0; i < 400 && !calls.contains("reboot"); ++i) {
    std::this_thread::sleep_for(10ms);
    calls = read_file(log).value_or("");
  }
  EXPECT_THAT(calls, MatchesRegex("-n true\n-n (systemctl )?reboot\n"));
}

}  // namespace
}  // namespace assay
