#include "assay/supervise/companions.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/device/conditions.h"
#include "assay/device/page_cache.h"
#include "assay/record/axes.h"
#include "assay/record/sandbox.h"
#include "assay/record/spawn.h"
#include "assay/supervise/process_tree.h"
#include "assay/supervise/sandbox_abilities.h"
#include "assay/supervise/spawn.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kWorkNs = 60'000'000'000;
const Companion kSpinner{.argv = {"assay-agent", "--keep-busy", "cpu"}};

/// Processes that this one has started and that have not ended.
std::size_t count_children() {
  const auto text = read_file(fmt::format("/proc/self/task/{}/children", ::getpid()));
  std::istringstream stream(text.value_or(""));
  return static_cast<std::size_t>(
      std::distance(std::istream_iterator<int>(stream), std::istream_iterator<int>()));
}

TEST(Companions, WorkUntilTheyAreLetGo) {
  {
    auto companions =
        Companions::start({kSpinner, {.argv = {"assay-agent", "--keep-busy", "memory"}}}, kWorkNs);
    ASSERT_TRUE(companions) << companions.error().message;
    EXPECT_EQ(count_children(), 2U);
    EXPECT_EQ(companions->find_failure(), "");
  }
  EXPECT_EQ(count_children(), 0U);
}

TEST(Companions, ThatEndAreTold) {
  const auto companions =
      Companions::start({{.argv = {"/bin/sh", "-c", "echo no luck >&2"}}}, kWorkNs);
  ASSERT_FALSE(companions);
  EXPECT_EQ(companions.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(companions.error().message, HasSubstr("the companion '/bin/sh' ended too early"));
  EXPECT_THAT(companions.error().message, HasSubstr("no luck"));
}

/// The init of a box becomes a child of an agent when the process that started it is killed.
TEST(Companions, LeaveNoProcessOfTheirBox) {
  const pid_t agent = ::fork();
  if (agent == 0) {
    adopt_orphans();
    std::size_t left = 0;
    for (int i = 0; i < 3; ++i) {
      auto boxed = kSpinner;
      boxed.sandbox = {.mode = SandboxMode::kOn, .readable = {executable_folder().string()}};
      const auto companions = Companions::start({boxed}, kWorkNs);
      left += companions ? 0 : 100;
    }
    ::_exit(static_cast<int>(left + count_children()));
  }
  int status = 0;
  ::waitpid(agent, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Companions, AreKeptInTheirSandbox) {
  if (sandbox_abilities().landlock_abi == 0) {
    GTEST_SKIP() << "this kernel or container lacks Landlock";
  }
  const auto folder = TemporaryFolder::make("assay-companions").value();
  ASSERT_TRUE(write_file_atomically(folder.path() / "secret", "mine\n"));
  const auto script = fmt::format("cat {}/secret >&2; pwd >&2", folder.path().string());
  const Companion reader{.argv = {"/bin/sh", "-c", script}, .sandbox = {.mode = SandboxMode::kOn}};
  const auto companions = Companions::start({reader}, kWorkNs);
  ASSERT_FALSE(companions);
  EXPECT_THAT(companions.error().message, HasSubstr("Permission denied"));
  EXPECT_THAT(companions.error().message, HasSubstr("/assay-beside."));
  EXPECT_THAT(companions.error().message, Not(HasSubstr("mine")));
}

/// A file with what a companion says when it is at work.
std::filesystem::path file_of_steady_note(const std::filesystem::path& folder) {
  const auto bytes = wire::bytes_from_frame(
      wire::frame_of(wire::MessageType::kStage, 0, wire::StageNote{.stage = Stage::kSteady}));
  const auto path = folder / "steady";
  EXPECT_TRUE(
      write_file_atomically(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  return path;
}

TEST(Companions, ThatWriteForEverGoOnWorking) {
  const auto folder = TemporaryFolder::make("assay-test").value();
  const auto marker = folder.path() / "went-on";
  const auto script = fmt::format(
      "cat {}; head -c 8000000 /dev/zero; head -c 8000000 /dev/zero >&2; : > {}; exec yes",
      file_of_steady_note(folder.path()).string(), marker.string());
  auto companions = Companions::start({{.argv = {"/bin/sh", "-c", script}}}, kWorkNs);
  ASSERT_TRUE(companions) << companions.error().message;
  for (int i = 0; i < 6000 && !std::filesystem::exists(marker); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(std::filesystem::exists(marker)) << "its pipe was full, and nobody read it";
  EXPECT_EQ(companions->find_failure(), "");
}

TEST(Companions, ThatOnlyWriteAreRefused) {
  const auto companions = Companions::start({{.argv = {"yes"}}}, kWorkNs);
  ASSERT_FALSE(companions);
  EXPECT_THAT(companions.error().message, HasSubstr("wrote 16 MiB to its stdout before"));
}

TEST(Companions, OfAnUnknownKindAreRefused) {
  const auto companions =
      Companions::start({{.argv = {"assay-agent", "--keep-busy", "disk"}}}, kWorkNs);
  ASSERT_FALSE(companions);
  EXPECT_THAT(companions.error().message, HasSubstr("it is cpu or memory"));
}

TEST(Spawn, RunsBesideItsCompanions) {
  SpawnRequest request{.argv = {"/bin/sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"}};
  request.surroundings.companions = {kSpinner};
  const auto result = spawn_and_wait(request);
  ASSERT_TRUE(result) << result.error().message;
  const std::string seen(reinterpret_cast<const char*>(result->output.data()),
                         result->output.size());
  EXPECT_THAT(seen, HasSubstr("--keep-busy cpu"));
  EXPECT_EQ(result->companion_failure, "");
}

TEST(Spawn, TellsOfACompanionThatDied) {
  const auto agent = (executable_folder() / "assay-agent").string();
  const auto script = fmt::format("timeout -s KILL 0.3 {} --keep-busy cpu; exit 3", agent);
  SpawnRequest request{.argv = {"/bin/sleep", "1"}};
  request.surroundings.companions = {{.argv = {"/bin/sh", "-c", script}}};
  const auto result = spawn_and_wait(request);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->companion_failure, HasSubstr("the companion '/bin/sh' ended too early"));
}

/// An agent adopts orphans, and so would take them for the launch's.
TEST(Spawn, CountsNothingThatACompanionLeavesBehind) {
  const pid_t agent = ::fork();
  if (agent == 0) {
    adopt_orphans();
    const auto folder = TemporaryFolder::make("assay-test").value();
    const auto script = fmt::format("cat {}; sleep 0.3; (setsid sleep 60 &); exec sleep 60",
                                    file_of_steady_note(folder.path()).string());
    SpawnRequest request{.argv = {"/bin/sleep", "1"}};
    request.surroundings.companions = {{.argv = {"/bin/sh", "-c", script}}};
    const auto result = spawn_and_wait(request);
    ::_exit(result ? result->end.left_processes : 100);
  }
  int status = 0;
  ::waitpid(agent, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Spawn, TellsHowMuchOfItsFilesIsCached) {
  SpawnRequest request{.argv = {"/bin/true"}};
  const auto before = spawn_and_wait(request);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->before.cached_ratio, std::nullopt) << "no files were named";
  request.surroundings = {.files = {(executable_folder() / "assay-agent").string()},
                          .page_cache = "warm"};
  const auto warm = spawn_and_wait(request);
  ASSERT_TRUE(warm) << warm.error().message;
  EXPECT_EQ(warm->before.cached_ratio, 1.0);
}

TEST(Spawn, PreparesThePageCacheBehindItsCompanions) {
  const auto folder = TemporaryFolder::make("assay-companions").value();
  const auto program = (folder.path() / "program").string();
  ASSERT_TRUE(write_file_atomically(program, std::string(1 << 20, 'x')));
  const std::vector<std::string> files{program};
  ASSERT_TRUE(drop_from_page_cache(files));
  if (cached_ratio_of(files) != 0.0) {
    GTEST_SKIP() << "the temporary folder lies in memory";
  }
  const auto note = wire::bytes_from_frame(
      wire::frame_of(wire::MessageType::kStage, 0, wire::StageNote{.stage = Stage::kSteady}));
  const auto told = (folder.path() / "note").string();
  ASSERT_TRUE(
      write_file_atomically(told, {reinterpret_cast<const char*>(note.data()), note.size()}));
  const auto script = fmt::format("cat {} > /dev/null; cat {}; exec sleep 60", program, told);
  SpawnRequest request{.argv = {"/bin/true"}};
  request.surroundings = {
      .files = files, .page_cache = "cold", .companions = {{.argv = {"/bin/sh", "-c", script}}}};
  const auto result = spawn_and_wait(request);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->before.cached_ratio, 0.0) << "the companion read the program as well";
}

TEST(Spawn, RefusesToWaitForATemperatureThatNothingTells) {
  if (read_conditions().temperature_celsius) {
    GTEST_SKIP() << "this machine has a sensor";
  }
  SpawnRequest request{.argv = {"/bin/true"}};
  request.surroundings.cool_below_celsius = 45;
  const auto result = spawn_and_wait(request);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(result.error().message, HasSubstr("no temperature sensor"));
}

}  // namespace
}  // namespace assay
