// Launches through an agent of this machine that shares no files.
#include "assay/campaign/remote_target.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string>
#include <utility>

#include "assay/base/file_digests.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/campaign/launch.h"
#include "assay/device/local_transport.h"
#include "assay/record/axes.h"
#include "assay/remote/device_bundle.h"
#include "assay/supervise/agent_client.h"

namespace assay {
namespace {

using testing::HasSubstr;

/// An engine whose runner answers nothing.
class OnADevice : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("ASSAY_AGENT_HOME", (folder_.path() / "agent").c_str(), 1);
    const auto runner = folder_.path() / "runner";
    ASSERT_TRUE(write_file_atomically(runner, "#!/bin/sh\ncat > /dev/null\n", 0755));
    bundles_["fake@1"] = {
        .argv = {"runner"},
        .files = {{.path = "runner", .source = runner, .sha256 = "", .is_executable = true}}};
    bundles_["fake@1"].files[0].sha256 = FileDigests{{}}.digest_of(runner).value();
    put("small.fake", 10);
    put("large.fake", 5'000'000);
  }

  void TearDown() override { ::unsetenv("ASSAY_AGENT_HOME"); }

  void put(const std::string& name, std::size_t bytes) const {
    ASSERT_TRUE(write_file_atomically(folder_.path() / name, std::string(bytes, 'x')));
  }

  [[nodiscard]] LaunchRequest launch_of(const std::string& program, Pass pass) const {
    return {.build = {.name = "fake", .label = "1"},
            .artifact = {.folder = folder_.path().string(),
                         .entry = program,
                         .files = {{.name = program, .role = "program"}}},
            .pass = pass};
  }

  RemoteTarget connect(RemoteTarget::Options options, std::filesystem::path agent = {}) {
    LocalTransport transport(std::move(agent));
    auto client = AgentClient::connect(transport);
    EXPECT_TRUE(client) << (client ? "" : client.error().message);
    return {*std::move(client), bundles_, std::move(options)};
  }

  /// An agent whose files may have so many blocks of 512 bytes and that is told so, as of a full
  /// disk.
  [[nodiscard]] std::filesystem::path agent_with_room(const std::string& blocks) const {
    auto agent = folder_.path() / ("agent-with-" + blocks);
    const auto real = program_folder() / "assay-agent";
    const auto script =
        "#!/bin/sh\ntrap '' XFSZ\nulimit -f " + blocks + "\nexec " + real.string() + " \"$@\"\n";
    EXPECT_TRUE(write_file_atomically(agent, script, 0755));
    return agent;
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-test").value();
  EngineBundles bundles_;
};

TEST_F(OnADevice, AFullDiskIsNoVerdictAboutTheCaseAlsoWhereTheRunnerIsThere) {
  const auto before =
      connect({.keep_waiting = [] { return true; }}).run(launch_of("small.fake", Pass::kTiming));
  ASSERT_TRUE(before) << before.error().message;
  auto target = connect({.keep_waiting = [] { return true; }}, agent_with_room("8"));
  const auto refused = target.run(launch_of("large.fake", Pass::kTiming));
  ASSERT_FALSE(refused) << refused->launch.text;
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted) << refused.error().message;
}

TEST_F(OnADevice, AStopEndsThePauseBetweenTimedLaunchesAndStartsNone) {
  constexpr std::int64_t kLongPauseNs = 3'600'000'000'000;
  auto target =
      connect({.policy = {.cool_down_ns = kLongPauseNs}, .keep_waiting = [] { return false; }});
  const auto first = target.run(launch_of("small.fake", Pass::kTiming));
  ASSERT_TRUE(first) << first.error().message;
  const auto second = target.run(launch_of("small.fake", Pass::kTiming));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kTimeout);
}

TEST_F(OnADevice, AProgramThatIsTooLargeFailsAloneAndOthersRun) {
  auto target = connect({.keep_waiting = [] { return true; }}, agent_with_room("2000"));
  const auto large = target.run(launch_of("large.fake", Pass::kTiming));
  ASSERT_TRUE(large) << large.error().message;
  EXPECT_EQ(large->launch.outcome, Outcome::kOutOfMemory);
  EXPECT_EQ(large->launch.stage, Stage::kPush);
  EXPECT_THAT(large->launch.text, HasSubstr("bytes are needed"));
  const auto other = target.run(launch_of("small.fake", Pass::kTiming));
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_NE(other->launch.stage, Stage::kPush);
}

}  // namespace
}  // namespace assay
