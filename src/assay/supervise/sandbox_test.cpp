#include "assay/supervise/sandbox.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <stdlib.h>
#include <string>
#include <utility>
#include <vector>

#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/record/boxed_command.h"
#include "assay/record/sandbox.h"
#include "assay/record/spawn.h"
#include "assay/supervise/sandbox_abilities.h"
#include "assay/supervise/sandbox_view.h"
#include "assay/supervise/spawn.h"

namespace assay {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string text_of_output(const SpawnResult& result) {
  return {reinterpret_cast<const char*>(result.output.data()), result.output.size()};
}

/// A home with a secret, and a folder that a program in a box may read.
class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto& abilities = sandbox_abilities();
    if (abilities.landlock_abi == 0 || abilities.namespaces_error != 0 ||
        abilities.seccomp_error != 0) {
      GTEST_SKIP() << "this kernel or container lacks Landlock, namespaces or seccomp";
    }
    ASSERT_TRUE(write_file_atomically(secret_, "secret\n"));
    ASSERT_TRUE(write_file_atomically(data_ / "data", "data\n"));
  }

  SpawnResult run_script(const std::string& script) {
    SpawnRequest request{.argv = {"/bin/sh", "-c", script}};
    request.sandbox = {.mode = SandboxMode::kRequired, .readable = {data_.string()}};
    request.limits.wall_ns = 60'000'000'000;
    auto result = spawn_and_wait(request);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result ? *std::move(result) : SpawnResult{};
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-sandbox").value();
  std::filesystem::path secret_ = folder_.path() / "private" / "secret";
  std::filesystem::path data_ = folder_.path() / "data";
};

TEST_F(SandboxTest, ReadsWhatItNeedsAndNothingElse) {
  const auto link = data_ / "link";
  std::filesystem::create_symlink(secret_, link);
  const auto result = run_script(fmt::format(
      "cat {}/data; cat {} {} /proc/self/root{} /etc/shadow; ls {}; cat /etc/passwd",
      data_.string(), secret_.string(), link.string(), secret_.string(), folder_.path().string()));
  EXPECT_THAT(text_of_output(result), HasSubstr("data\n"));
  EXPECT_THAT(text_of_output(result), HasSubstr("root:"));
  EXPECT_THAT(text_of_output(result), Not(HasSubstr("secret")));
}

TEST_F(SandboxTest, ReadsFilesOfOtherUsersAsRoot) {
  if (::getuid() != 0) {
    GTEST_SKIP() << "needs root";
  }
  constexpr uid_t kOther = 1234;
  ASSERT_EQ(::chown((data_ / "data").c_str(), kOther, kOther), 0);
  ASSERT_EQ(::chmod((data_ / "data").c_str(), 0600), 0);
  EXPECT_EQ(text_of_output(run_script(fmt::format("cat {}/data", data_.string()))), "data\n");
}

TEST_F(SandboxTest, OpensNoDevice) {
  SpawnRequest request{
      .argv = {"/bin/sh", "-c", "ls /dev/char /dev/block; : < /dev/ptmx && echo opened"}};
  request.sandbox = {.mode = SandboxMode::kRequired,
                     .readable = {"/dev", "/dev/ptmx", "/dev/char", "/dev/block"}};
  const auto result = spawn_and_wait(request);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(text_of_output(*result), "");
}

TEST_F(SandboxTest, WritesToItsPrivateFolderAlone) {
  const auto result = run_script(
      fmt::format("echo x > $TMPDIR/mine && cat mine; echo x > {0}/data; echo x > {0}/new; "
                  "rm {0}/data; echo x > /tmp/assay-sandbox-test; echo x > /dev/null && echo null",
                  data_.string()));
  EXPECT_EQ(text_of_output(result), "x\nnull\n");
  EXPECT_EQ(read_file(data_ / "data").value_or(""), "data\n");
  EXPECT_FALSE(std::filesystem::exists(data_ / "new"));
  EXPECT_FALSE(std::filesystem::exists("/tmp/assay-sandbox-test"));
}

TEST_F(SandboxTest, SeesNoOtherProcess) {
  const auto result = run_script(fmt::format(
      "echo me=$$ parent=$PPID; kill -0 {} && echo alive; ls -d /proc/[0-9]* | wc -l", ::getpid()));
  EXPECT_THAT(text_of_output(result), HasSubstr("me=2 parent=1\n"));
  EXPECT_THAT(text_of_output(result), Not(HasSubstr("alive")));
  EXPECT_THAT(text_of_output(result), Not(HasSubstr("\n10")));
}

TEST_F(SandboxTest, EndsAsItsProgramEnds) {
  EXPECT_EQ(run_script("exit 3").end.exit_code, 3);
  EXPECT_EQ(run_script("kill -SEGV $$").end.signal_name, "SIGSEGV");
  EXPECT_EQ(run_script("kill -ABRT $$").end.signal_name, "SIGABRT");
}

TEST_F(SandboxTest, EndsWhatIsLeftAndCountsIt) {
  const auto result = run_script("for i in 1 2 3; do setsid sleep 100 & done; exit 0");
  EXPECT_EQ(result.end.left_processes, 3);
}

TEST_F(SandboxTest, SaysWhatItEnforces) {
  const auto result = run_script("true");
  ASSERT_TRUE(result.end.sandbox);
  EXPECT_EQ(result.end.sandbox->enforced,
            (std::vector<std::string>{"network", "filesystem", "processes", "disk space",
                                      "system calls"}));
  EXPECT_TRUE(result.end.sandbox->missing.empty());
}

TEST_F(SandboxTest, AFolderThatHoldsTheHomeIsNotOpened) {
  SpawnRequest request{.argv = {"/bin/sh", "-c", fmt::format("cat {}", secret_.string())}};
  request.sandbox = {.mode = SandboxMode::kOn, .readable = {"/", folder_.path().string()}};
  ::setenv("HOME", (folder_.path() / "private").c_str(), 1);
  const auto result = spawn_and_wait(request);
  ASSERT_TRUE(result);
  EXPECT_EQ(text_of_output(*result), "");
}

/// Temporary files and models in shared memory, of which a box has one of its own.
class SharedMemoryTest : public SandboxTest {
 protected:
  void SetUp() override {
    SandboxTest::SetUp();
    if (::access("/dev/shm", W_OK) != 0) {
      GTEST_SKIP() << "no /dev/shm to write to";
    }
    const char* const former = std::getenv("TMPDIR");
    former_ = former == nullptr ? "" : former;
    ::setenv("TMPDIR", "/dev/shm", 1);
    memory_.emplace(TemporaryFolder::make("assay-memory").value());
  }

  void TearDown() override {
    if (former_.empty()) {
      ::unsetenv("TMPDIR");
    } else {
      ::setenv("TMPDIR", former_.c_str(), 1);
    }
  }

  std::string former_;
  std::optional<TemporaryFolder> memory_;
};

TEST_F(SharedMemoryTest, HoldsProgramsAndThePrivateFolderOfABox) {
  const auto folder = memory_->path();
  ASSERT_TRUE(write_file_atomically(folder / "models" / "run.sh", "#!/bin/sh\necho ran\n"));
  std::filesystem::permissions(folder / "models" / "run.sh", std::filesystem::perms::owner_all);
  ASSERT_TRUE(write_file_atomically(folder / "one", "one\n"));
  ASSERT_TRUE(write_file_atomically(folder / "hidden", "hidden\n"));
  std::filesystem::create_directory(folder / "out");
  SpawnRequest request{
      .argv = {"/bin/sh", "-c",
               fmt::format("pwd; cd {}; cat models/run.sh one hidden; models/run.sh; "
                           "echo x > one; echo x > models/new; chmod 777 models; "
                           "echo x > out/new; echo y > $TMPDIR/mine && cat $TMPDIR/mine",
                           folder.string())}};
  request.sandbox = {.mode = SandboxMode::kRequired,
                     .readable = {(folder / "models").string(), (folder / "models/run.sh").string(),
                                  (folder / "one").string(), "/dev/shm"},
                     .writable = {(folder / "out").string()}};
  request.limits.wall_ns = 60'000'000'000;
  const auto result = spawn_and_wait(request);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(text_of_output(*result), testing::StartsWith("/dev/shm/assay-launch"));
  EXPECT_THAT(text_of_output(*result), testing::EndsWith("\n#!/bin/sh\necho ran\none\nran\ny\n"));
  EXPECT_EQ(read_file(folder / "one").value_or(""), "one\n");
  EXPECT_FALSE(std::filesystem::exists(folder / "models" / "new"));
  EXPECT_EQ(read_file(folder / "out" / "new").value_or(""), "x\n");
}

TEST_F(SandboxTest, WritesToAFolderThatIsShownForIt) {
  const auto out = folder_.path() / "out";
  std::filesystem::create_directory(out);
  SpawnRequest request{
      .argv = {"/bin/sh", "-c",
               fmt::format("echo x > {0}/new; chmod 640 {0}/new; mv {0}/new {0}/moved; "
                           "echo x > {1}/new; chmod 777 {1} {1}/data",
                           out.string(), data_.string())}};
  request.sandbox = {
      .mode = SandboxMode::kRequired, .readable = {data_.string()}, .writable = {out.string()}};
  ASSERT_TRUE(spawn_and_wait(request));
  EXPECT_EQ(read_file(out / "moved").value_or(""), "x\n");
  EXPECT_EQ(std::filesystem::status(out / "moved").permissions(), std::filesystem::perms(0640));
  EXPECT_NE(std::filesystem::status(data_).permissions(), std::filesystem::perms(0777));
  EXPECT_FALSE(std::filesystem::exists(data_ / "new"));
}

TEST_F(SandboxTest, LeavesTheSettingsOfTheMachine) {
  const auto before = read_file("/proc/sys/kernel/pid_max").value_or("");
  const auto inside = text_of_output(
      run_script("cat /proc/sys/kernel/pid_max; echo 4000 > /proc/sys/kernel/pid_max; "
                 "echo x > /proc/sys/kernel/core_pattern; cat /proc/sys/kernel/pid_max"));
  EXPECT_EQ(inside, has_own_pid_max() ? "4096\n4096\n" : before + before);
  EXPECT_EQ(read_file("/proc/sys/kernel/pid_max").value_or(""), before);
}

TEST_F(SandboxTest, HasNoCapabilityThatChangesTheMachine) {
  // cap_dac_override and cap_dac_read_search at most.
  EXPECT_THAT(
      text_of_output(run_script("grep -E 'Cap(Prm|Inh|Bnd|Amb)' /proc/self/status")),
      testing::ContainsRegex(::getuid() == 0 ? "Prm:\t0000000000000006\n.*Bnd:\t0000000000000006"
                                             : "Prm:\t0000000000000000"));
}

TEST_F(SandboxTest, AProgramThatIsNotThereIsToldAsWithoutIt) {
  SpawnRequest request{.argv = {"/usr/bin/no-such-program"}};
  request.sandbox.mode = SandboxMode::kOn;
  const auto result = spawn_and_wait(request);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
}

/// A command that the agent runs in a box with our streams.
class BoxedCommandTest : public SandboxTest {
 protected:
  CommandOutput run_boxed(const std::string& script) {
    const SandboxRequest box{.mode = SandboxMode::kRequired, .readable = {data_.string()}};
    const auto command = boxed_command(box, own_.path().string(), {"/bin/sh", "-c", script});
    auto output =
        run_command({.argv = command, .stderr_file = words_.string()}, std::chrono::minutes(1));
    EXPECT_TRUE(output) << (output ? "" : output.error().message);
    return output ? *std::move(output) : CommandOutput{};
  }

  TemporaryFolder own_ = TemporaryFolder::make("assay-box").value();
  std::filesystem::path words_ = folder_.path() / "words";
};

TEST_F(BoxedCommandTest, HasOurStreamsAndItsOwnFolder) {
  ::setenv("ASSAY_BOX_TEST", "handed on", 1);
  ::setenv("DEPLOY_TOKEN", "secret", 1);
  const auto output = run_boxed("pwd; echo $ASSAY_BOX_TEST $DEPLOY_TOKEN; echo words >&2; exit 3");
  EXPECT_EQ(output.output, own_.path().string() + "\nhanded on\n");
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_EQ(read_file(words_).value_or(""), "words\n");
}

TEST_F(BoxedCommandTest, OpensMorePathsThanOneArgumentHolds) {
  SandboxRequest box{.mode = SandboxMode::kRequired};
  for (int i = 0; i < 5000; ++i) {
    box.readable.push_back(fmt::format("{}/a-part-of-a-large-model-{}", data_.string(), i));
  }
  box.readable.push_back((data_ / "data").string());
  const auto command =
      boxed_command(box, own_.path().string(), {"/bin/cat", (data_ / "data").string()});
  const auto output =
      run_command({.argv = command, .stderr_file = words_.string()}, std::chrono::minutes(1));
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->output, "data\n") << read_file(words_).value_or("");
}

TEST_F(BoxedCommandTest, ReadsAndReachesWhatIsOpenedAlone) {
  const auto output =
      run_boxed(fmt::format("cat {}/data {}; echo me=$$; kill -0 {} || echo alone; echo x > {}/new",
                            data_.string(), secret_.string(), ::getpid(), data_.string()));
  EXPECT_EQ(output.output, "data\nme=2\nalone\n");
  EXPECT_FALSE(std::filesystem::exists(data_ / "new"));
}

TEST_F(BoxedCommandTest, KeepsTheFilesOfABuildAndTakesItsNetwork) {
  const SandboxRequest box{.mode = SandboxMode::kOn, .keeps_files = true};
  if (!promise_sandbox(box.mode, box.keeps_files).value().missing.empty()) {
    GTEST_SKIP() << "no namespaces here";
  }
  const auto script = fmt::format(
      "pwd; cat {}; echo x > new; grep -c : /proc/net/dev; kill -0 {} || echo alone; "
      "sleep 1000 &",
      secret_.string(), ::getpid());
  const auto output =
      run_command({.argv = boxed_command(box, own_.path().string(), {"/bin/sh", "-c", script}),
                   .stderr_file = words_.string(),
                   .leads_group = true},
                  std::chrono::minutes(1));
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->output,
            own_.path().string() + "\n" + read_file(secret_).value_or("") + "1\nalone\n");
  EXPECT_EQ(read_file(own_.path() / "new").value_or(""), "x\n");
}

TEST_F(BoxedCommandTest, EndsAsItsProgramEnds) {
  constexpr int kBySignal = 128;
  EXPECT_EQ(run_boxed("kill -SEGV $$").exit_code, kBySignal + SIGSEGV);
}

#ifndef __SANITIZE_ADDRESS__  // Its search for leaks at exit traces the process, which a box
                              // denies.
TEST_F(BoxedCommandTest, SaysThatItCannotBeStarted) {
  const auto command =
      boxed_command({.mode = SandboxMode::kOn}, own_.path().string(), {"/no/such"});
  const auto output =
      run_command({.argv = command, .stderr_file = words_.string()}, std::chrono::minutes(1));
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->exit_code, kNoBox);
  EXPECT_THAT(read_file(words_).value_or(""), HasSubstr("no program '/no/such'"));
}
#endif

TEST(BoxedCommand, IsTheCommandItselfWithoutABox) {
  EXPECT_EQ(boxed_command({}, "/tmp", {"true", "x"}), (std::vector<std::string>{"true", "x"}));
}

}  // namespace
}  // namespace assay
