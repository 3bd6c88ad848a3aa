#include "assay/supervise/spawn.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <stdlib.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/pipe.h"
#include "assay/base/result.h"
#include "assay/record/spawn.h"
#include "assay/supervise/child_process.h"
#include "assay/supervise/testing/process_probe.h"

namespace assay {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kMiB = 1 << 20;

SpawnRequest shell(const std::string& script) { return {.argv = {"/bin/sh", "-c", script}}; }

SpawnRequest misbehave(const std::string& how, std::int64_t bytes = 0) {
  return {.argv = {(executable_folder() / "assay_misbehave").string(), how, std::to_string(bytes)}};
}

SpawnResult run(const SpawnRequest& request) {
  auto result = spawn_and_wait(request);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? *std::move(result) : SpawnResult{};
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Spawn, TellsExitCodeOutputAndLastWords) {
  const auto result = run(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(result.end.exit_code, 3);
  EXPECT_EQ(result.end.signal, 0);
  EXPECT_EQ(result.end.signal_name, "");
  EXPECT_FALSE(result.end.is_timed_out || result.end.is_out_of_memory);
  EXPECT_FALSE(result.end.is_output_exceeded);
  EXPECT_EQ(text_of(result.output), "out\n");
  EXPECT_EQ(result.end.last_words, "err\n");
  EXPECT_GT(result.end.wall_ns, 0);
  EXPECT_GT(result.end.peak_rss_bytes, 100'000);
  EXPECT_TRUE(result.before.total_ticks && result.after.total_ticks);
}

TEST(Spawn, CountsTimeOfTheProcessor) {
  const auto result = run(shell("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"));
  EXPECT_GT(result.end.user_ns, 5 * kMs);
  EXPECT_LE(result.end.user_ns + result.end.system_ns, 2 * result.end.wall_ns);
}

TEST(Spawn, NamesTheSignal) {
  EXPECT_EQ(run(shell("kill -SEGV $$")).end.signal_name, "SIGSEGV");
  EXPECT_EQ(run(shell("kill -ABRT $$")).end.signal_name, "SIGABRT");
  const auto killed = run(shell("kill -9 $$"));
  EXPECT_EQ(killed.end.signal, SIGKILL);
  EXPECT_EQ(killed.end.exit_code, -1);
  EXPECT_FALSE(killed.end.is_timed_out);
}

TEST(Spawn, KillsAtTheDeadline) {
  auto request = shell("echo begun; sleep 100");
  request.limits.wall_ns = 100 * kMs;
  const auto result = run(request);
  EXPECT_TRUE(result.end.is_timed_out);
  EXPECT_EQ(result.end.signal_name, "SIGKILL");
  EXPECT_EQ(text_of(result.output), "begun\n");
  EXPECT_GE(result.end.wall_ns, 100 * kMs);
}

TEST(Spawn, KillsAtTheDeadlineWhatIgnoresEverySignal) {
  auto request = shell("trap '' TERM INT HUP; exec 1>&- 2>&- 0<&-; while :; do :; done");
  request.limits.wall_ns = 100 * kMs;
  EXPECT_TRUE(run(request).end.is_timed_out);
}

TEST(Spawn, KillsTheWholeGroupAtTheDeadline) {
  auto request = shell("sleep 100 & echo $!; wait");
  request.limits.wall_ns = 100 * kMs;
  const auto result = run(request);
  EXPECT_TRUE(result.end.is_timed_out);
  EXPECT_TRUE(is_soon_gone(std::stoi(text_of(result.output))));
}

TEST(Spawn, KillsWhatTakesTooMuchMemory) {
  auto request = misbehave("hog", 1000 * kMiB);
  request.limits.memory_bytes = 64 * kMiB;
  const auto result = run(request);
  EXPECT_TRUE(result.end.is_out_of_memory);
  EXPECT_FALSE(result.end.is_timed_out);
  EXPECT_GT(result.end.peak_rss_bytes, 64 * kMiB);
}

TEST(Spawn, CountsTheMemoryOfDescendants) {
  auto request = misbehave("hog", 1000 * kMiB);
  request.argv = {"/bin/sh", "-c", request.argv[0] + " hog 1000000000; true"};
  request.limits.memory_bytes = 64 * kMiB;
  EXPECT_TRUE(run(request).end.is_out_of_memory);
}

/// The shell is killed with its child, and so waits for it no more.
TEST(Spawn, TellsThePeakOfAllThatWasKilled) {
  auto request = misbehave("hog", 1000 * kMiB);
  request.argv = {"/bin/sh", "-c", request.argv[0] + " hog 1000000000; true"};
  request.limits.memory_bytes = 64 * kMiB;
  EXPECT_GT(run(request).end.peak_rss_bytes, 64 * kMiB);
  request.argv = {"/bin/sh", "-c",
                  misbehave("hog", 0).argv[0] + " hog 50000000 & while :; do :; done"};
  request.limits = {.wall_ns = 500 * kMs};
  const auto late = run(request).end;
  EXPECT_TRUE(late.is_timed_out);
  EXPECT_GT(late.peak_rss_bytes, 40 * kMiB);
}

TEST(Spawn, LeavesWhatStaysWithinItsMemory) {
  auto request = shell("exit 0");
  request.limits.memory_bytes = 512 * kMiB;
  EXPECT_FALSE(run(request).end.is_out_of_memory);
}

TEST(Spawn, EndsWhatWritesTooMuch) {
  auto request = misbehave("flood-out", 1000 * kMiB);
  request.limits.output_bytes = kMiB;
  const auto result = run(request);
  EXPECT_TRUE(result.end.is_output_exceeded);
  EXPECT_EQ(result.output.size(), static_cast<std::size_t>(kMiB));
  // Its pipe is closed before it is killed: whichever reaches it first ends it.
  EXPECT_TRUE(result.end.signal_name == "SIGKILL" || result.end.signal_name == "SIGPIPE")
      << result.end.signal_name;
}

TEST(Spawn, TakesExactlyTheOutputThatIsAllowed) {
  auto request = misbehave("flood-out", kMiB);
  request.limits.output_bytes = kMiB;
  const auto result = run(request);
  EXPECT_FALSE(result.end.is_output_exceeded);
  EXPECT_EQ(result.output.size(), static_cast<std::size_t>(kMiB));
  EXPECT_EQ(result.end.exit_code, 0);
}

TEST(Spawn, KeepsTheTailOfAFloodOfErrors) {
  auto request = misbehave("flood-err", 64 * kMiB);
  const auto flooded = run(request);
  EXPECT_EQ(flooded.end.exit_code, 0);
  EXPECT_LE(flooded.end.last_words.size(), 4200U);
  const auto last = run(shell("i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done"));
  EXPECT_TRUE(last.end.last_words.starts_with("…line "));
  EXPECT_TRUE(last.end.last_words.ends_with("line 2999\n"));
}

TEST(Spawn, FeedsAndCollectsLargeDataAtOnce) {
  SpawnRequest request{.argv = {"/bin/cat"}};
  request.input.resize(64 * kMiB);
  for (std::size_t i = 0; i < request.input.size(); i += 4096) {
    request.input[i] = static_cast<std::byte>(i / 4096);
  }
  const auto result = run(request);
  EXPECT_EQ(result.end.exit_code, 0);
  EXPECT_TRUE(result.output == request.input);
#ifndef __SANITIZE_ADDRESS__  // Its shadow memory counts at the fork.
  EXPECT_LT(result.end.peak_rss_bytes, 48 * kMiB) << "the input must not count as the child's";
#endif
}

TEST(Spawn, SurvivesAChildThatDoesNotRead) {
  auto request = shell("exec <&-; exit 5");
  request.input.resize(8 * kMiB);
  EXPECT_EQ(run(request).end.exit_code, 5);
}

TEST(Spawn, GivesAnEmptyInputToWhatReads) {
  EXPECT_EQ(text_of(run(shell("cat; echo end")).output), "end\n");
}

TEST(Spawn, DoesNotWaitForGrandchildrenThatHoldThePipes) {
  const auto result = run(shell("sleep 100 & echo $!"));
  EXPECT_EQ(result.end.exit_code, 0);
  EXPECT_TRUE(is_soon_gone(std::stoi(text_of(result.output))));
}

TEST(Spawn, DoesNotWaitForGrandchildrenThatLeftTheGroup) {
  const auto folder = TemporaryFolder::make("assay-spawn").value();
  const auto file = (folder.path() / "pid").string();
  const auto start = std::chrono::steady_clock::now();
  const auto result = run(shell(fmt::format(
      "setsid /bin/sh -c 'echo $$ > {0}; exec sleep 20' & while [ ! -s {0} ]; do sleep 0.01; done",
      file)));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
  EXPECT_EQ(result.end.exit_code, 0);
  const auto pid = wait_for_pid(file);
  EXPECT_EQ(::kill(pid, SIGKILL), 0) << "it must have lived on, or nothing was tested";
}

TEST(Spawn, AddsToTheEnvironment) {
  ::setenv("ASSAY_TEST_KEPT", "kept", 1);
  ::setenv("ASSAY_TEST_CHANGED", "old", 1);
  auto request = shell("echo $ASSAY_TEST_KEPT $ASSAY_TEST_CHANGED $ASSAY_TEST_NEW");
  request.env = {{"ASSAY_TEST_CHANGED", "changed"}, {"ASSAY_TEST_NEW", "a=b"}};
  EXPECT_EQ(text_of(run(request).output), "kept changed a=b\n");
  ::unsetenv("ASSAY_TEST_KEPT");
  ::unsetenv("ASSAY_TEST_CHANGED");
}

TEST(Spawn, InheritsNoDescriptorAndNoSignalDisposition) {
  const int leaked = ::open("/dev/null", O_RDONLY);
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(text_of(run(misbehave("descriptors")).output), "0 1 2 ");
  EXPECT_EQ(run(shell("kill -PIPE $$")).end.signal_name, "SIGPIPE");
  ::signal(SIGPIPE, before);
  ::close(leaked);
}

TEST(Spawn, RunsOnTheRequestedProcessors) {
  auto request = shell("grep Cpus_allowed_list /proc/self/status");
  request.cpus = {0};
  EXPECT_THAT(text_of(run(request).output), HasSubstr("\t0\n"));
  for (const int cpu : {1000, -1, 100'000}) {
    request.cpus = {cpu};
    const auto result = spawn_and_wait(request);
    ASSERT_FALSE(result) << cpu;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(result.error().message, HasSubstr(std::to_string(cpu)));
  }
}

TEST(Spawn, BoundsTheTimeOfTheProcessorByTheDeadline) {
  auto request = shell("ulimit -t; ulimit -Ht");
  request.limits.wall_ns = 60'000 * kMs;
  request.cpus = {0};
  const auto seconds = processor_seconds(request.limits.wall_ns, 1);
  EXPECT_EQ(text_of(run(request).output), fmt::format("{0}\n{0}\n", seconds));
}

TEST(Spawn, GivesEachProcessorMoreTimeThanTheDeadlineLetsItUse) {
  EXPECT_GT(processor_seconds(60'000 * kMs, 1), 60U);
  EXPECT_GT(processor_seconds(60'000 * kMs, 8), 8 * 60U);
  EXPECT_GT(processor_seconds(1, 1), 1U);
  EXPECT_EQ(processor_seconds(0, 8), 0U);
}

TEST(Spawn, RefusesWhatCannotBeStarted) {
  const auto missing = spawn_and_wait({.argv = {"/no/such/program"}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("/no/such/program"));
  EXPECT_EQ(spawn_and_wait({.argv = {"/etc/passwd"}}).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(spawn_and_wait({}).error().code, ErrorCode::kInvalidArgument);
}

TEST(Spawn, FindsProgramsAlongThePath) { EXPECT_EQ(run({.argv = {"true"}}).end.exit_code, 0); }

TEST(Spawn, IsCancelledWhenTheOtherSideHangsUp) {
  auto pipe = Pipe::make();
  ASSERT_TRUE(pipe);
  std::thread host([&pipe] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    pipe->write_end.close();
  });
  const auto result = spawn_and_wait(shell("sleep 100"), {.hang_up_fd = pipe->read_end.get()});
  host.join();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kUnavailable);
}

TEST(Spawn, IsNotCancelledByARequestThatWaits) {
  auto pipe = Pipe::make();
  ASSERT_TRUE(pipe);
  ASSERT_EQ(::write(pipe->write_end.get(), "x", 1), 1);
  const auto result = spawn_and_wait(shell("exit 0"), {.hang_up_fd = pipe->read_end.get()});
  EXPECT_TRUE(result);
}

TEST(Spawn, IsCancelledByDataToRead) {
  auto pipe = Pipe::make();
  ASSERT_TRUE(pipe);
  ASSERT_EQ(::write(pipe->write_end.get(), "x", 1), 1);
  EXPECT_FALSE(spawn_and_wait(shell("sleep 100"), {.readable_fd = pipe->read_end.get()}));
}

TEST(Spawn, LeavesNoZombieAndNoDescriptor) {
  const auto count = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator{});
  };
  const auto before = count();
  for (int i = 0; i < 5; ++i) {
    run(shell("exit 0"));
    (void)spawn_and_wait({.argv = {"/no/such/program"}});
  }
  EXPECT_EQ(count(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

}  // namespace
}  // namespace assay
