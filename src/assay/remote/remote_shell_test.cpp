#include "assay/remote/remote_shell.h"

#include <chrono>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/remote/address.h"

namespace assay {
namespace {

using std::chrono_literals::operator""s;
using testing::ElementsAre;
using testing::HasSubstr;

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

 private:
  TemporaryFolder folder_ = TemporaryFolder::make("assay-test").value();
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
  EXPECT_EQ(shell_.run("true", "", 1s).error().code, ErrorCode::kTimeout);
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

}  // namespace
}  // namespace assay
