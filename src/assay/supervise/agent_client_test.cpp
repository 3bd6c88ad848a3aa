#include "assay/supervise/agent_client.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdlib.h>
#include <string>
#include <utility>
#include <vector>

#include <signal.h>
#include <unistd.h>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/device/agent_process.h"
#include "assay/device/device_lock.h"
#include "assay/device/environment.h"
#include "assay/device/local_transport.h"
#include "assay/record/spawn.h"
#include "assay/supervise/longest_spawn.h"
#include "assay/supervise/testing/process_probe.h"
#include "assay/supervise/testing/unshared_transport.h"
#include "assay/wire/channel.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

using testing::HasSubstr;

AgentClient connect_local() {
  LocalTransport transport;
  auto client = AgentClient::connect(transport);
  EXPECT_TRUE(client) << (client ? "" : client.error().message);
  return *std::move(client);
}

TEST(LongestSpawn, HasTimeForAllThatComesBeforeTheProcess) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  SpawnRequest request;
  request.limits.wall_ns = 5 * kSecond;
  EXPECT_EQ(longest_spawn_ns(request), 5 * kSecond);
  request.surroundings.companions.resize(2);
  EXPECT_EQ(longest_spawn_ns(request), 125 * kSecond);
  request.surroundings.cool_below_celsius = 45;
  EXPECT_EQ(longest_spawn_ns(request), 725 * kSecond);
  request.surroundings.page_cache = "cold";
  EXPECT_GT(longest_spawn_ns(request), 725 * kSecond);
  request.limits.wall_ns = std::numeric_limits<std::int64_t>::max();
  request.surroundings.cool_timeout_ns = std::numeric_limits<std::int64_t>::max();
  EXPECT_GT(longest_spawn_ns(request), 725 * kSecond);
}

TEST(AgentClient, GreetsTheAgent) {
  const auto client = connect_local();
  EXPECT_EQ(client.hello().program, "assay-agent");
  EXPECT_GT(client.hello().clock_resolution_ns, 0);
  EXPECT_EQ(client.device(), "local");
}

TEST(AgentClient, DescribesTheMachineOfTheAgent) {
  const auto environment = connect_local().environment();
  ASSERT_TRUE(environment) << environment.error().message;
  EXPECT_EQ(environment->id, read_environment().id);
}

TEST(AgentClient, RunsProgramsOneAfterAnother) {
  auto client = connect_local();
  for (int i = 0; i < 3; ++i) {
    SpawnRequest request{.argv = {"/bin/sh", "-c", fmt::format("cat; exit {}", i)}};
    request.input = {std::byte{'a'}, std::byte{'b'}};
    const auto result = client.spawn(request);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->end.exit_code, i);
    EXPECT_EQ(output_text(result->output), "ab");
  }
  ASSERT_TRUE(client.conditions());
}

TEST(AgentClient, StaysUsableAfterARefusal) {
  auto client = connect_local();
  const auto missing = client.spawn({.argv = {"/no/such/program"}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(client.spawn({}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(client.spawn({.argv = {"true"}}));
}

TEST(AgentClient, TellsHowTheAgentDiedAndCanConnectAgain) {
  auto client = connect_local();
  // The agent is the parent of what it runs.
  const auto lost = client.spawn({.argv = {"/bin/sh", "-c", "kill -9 $PPID; sleep 100"}});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::kCrashed);
  EXPECT_THAT(lost.error().message, HasSubstr("while it ran '/bin/sh'"));
  EXPECT_THAT(lost.error().message, HasSubstr("signal 9"));
  const auto later = client.conditions();
  ASSERT_FALSE(later);
  EXPECT_THAT(later.error().message, HasSubstr("connect again"));
  client = connect_local();
  EXPECT_TRUE(client.conditions());
}

TEST(AgentClient, TakesItsChildrenWithIt) {
  const auto folder = TemporaryFolder::make("assay-client").value();
  const auto pid_file = folder.path() / "pid";
  const auto script = fmt::format("echo $$ > {}; sleep 100", pid_file.string());
  auto process = AgentProcess::start({agent_path()});
  ASSERT_TRUE(process);
  wire::Channel channel(process->read_fd(), process->write_fd());
  const SpawnRequest request{.argv = {"/bin/sh", "-c", script}};
  ASSERT_TRUE(channel.send(wire::frame_of(wire::MessageType::kSpawn, 1, request)));
  const auto pid = wait_for_pid(pid_file);
  ASSERT_GT(pid, 0);
  EXPECT_EQ(process->close(), "exited with 0");
  EXPECT_TRUE(is_soon_gone(pid));
}

TEST(AgentClient, TakesItsChildrenWithItWhenToldToStop) {
  const auto folder = TemporaryFolder::make("assay-client").value();
  const auto pid_file = folder.path() / "pid";
  const auto script = fmt::format("echo $$ > {}; sleep 100", pid_file.string());
  auto process = AgentProcess::start({agent_path()});
  ASSERT_TRUE(process);
  wire::Channel channel(process->read_fd(), process->write_fd());
  const SpawnRequest request{.argv = {"/bin/sh", "-c", script}};
  ASSERT_TRUE(channel.send(wire::frame_of(wire::MessageType::kSpawn, 1, request)));
  const auto pid = wait_for_pid(pid_file);
  ASSERT_GT(pid, 0);
  ::kill(process->pid(), SIGTERM);
  const auto reply = channel.receive(10'000);
  ASSERT_TRUE(reply && *reply);
  EXPECT_EQ((*reply)->type, wire::MessageType::kError);
  EXPECT_TRUE(is_soon_gone(pid));
  EXPECT_FALSE((*channel.receive(10'000)).has_value());
  EXPECT_EQ(process->close(), "exited with 130");
}

TEST(AgentClient, LeavesFilesWhereTheyAreOnADeviceThatSharesThem) {
  auto client = connect_local();
  const auto folder = TemporaryFolder::make("assay-client").value();
  const auto file = folder.path() / "m.pte";
  ASSERT_TRUE(write_file_atomically(file, "program"));
  EXPECT_EQ(client.push_file(file, sha256_hex("program")).value(), file.string());
  EXPECT_EQ(client.push_file(folder.path() / "none", "").error().code, ErrorCode::kNotFound);
}

TEST(AgentClient, SendsFilesToADeviceThatDoesNot) {
  const auto folder = TemporaryFolder::make("assay-client").value();
  ::setenv("ASSAY_AGENT_HOME", folder.path().c_str(), 1);
  UnsharedTransport transport({agent_path()});
  auto client = AgentClient::connect(transport);
  ::unsetenv("ASSAY_AGENT_HOME");
  ASSERT_TRUE(client);
  const std::string content(3 << 20, 'p');
  const auto sha256 = sha256_hex(content);
  const auto file = folder.path() / "m.pte";
  ASSERT_TRUE(write_file_atomically(file, content));
  EXPECT_FALSE(client->has(sha256).value());
  const auto path = client->push_file(file, sha256);
  ASSERT_TRUE(path);
  EXPECT_EQ(*path, (folder.path() / "blobs" / sha256).string());
  EXPECT_TRUE(read_file(*path).value() == content);
  EXPECT_TRUE(client->has(sha256).value());
  EXPECT_EQ(client->push_file(file, sha256).value(), *path);
  EXPECT_EQ(client->push_file(file, sha256_hex("other")).error().code, ErrorCode::kCorrupt);
}

/// A client of an agent that keeps its files in a folder of the test.
class RemoteAgentTest : public testing::Test {
 protected:
  AgentClient connect() { return connect_from(home_); }
  /// Agents of all homes are on one machine with locks of its own.
  AgentClient connect_from(const std::filesystem::path& home) {
    ::setenv("ASSAY_AGENT_HOME", home.c_str(), 1);
    ::setenv("ASSAY_RUNTIME_DIR", (folder_.path() / "run").c_str(), 1);
    UnsharedTransport transport({agent_path()});
    auto client = AgentClient::connect(transport);
    ::unsetenv("ASSAY_AGENT_HOME");
    ::unsetenv("ASSAY_RUNTIME_DIR");
    EXPECT_TRUE(client) << (client ? "" : client.error().message);
    return *std::move(client);
  }
  TreeSource source(const std::string& path, const std::string& content,
                    bool is_executable = false) {
    const auto file = folder_.path() / sha256_hex(path);
    EXPECT_TRUE(write_file_atomically(file, content));
    return {
        .path = path, .file = file, .sha256 = sha256_hex(content), .is_executable = is_executable};
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-client").value();
  std::filesystem::path home_ = folder_.path() / "home";
};

TEST_F(RemoteAgentTest, TakesAFileInParts) {
  auto client = connect();
  const auto file = source("large", std::string((33 << 20) + 7, 'q'));
  const auto path = client.push_file(file.file, file.sha256);
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_EQ(sha256_hex_of_file(*path).value(), file.sha256);
  const auto empty = source("empty", "");
  EXPECT_EQ(read_file(client.push_file(empty.file, empty.sha256).value()).value(), "");
}

TEST_F(RemoteAgentTest, RunsAProgramOfATree) {
  const std::vector<TreeSource> files = {
      source("run", "#!/bin/sh\ncat \"${0%/*}/lib/words.txt\"\n", true),
      source("lib/words.txt", "from the tree")};
  auto client = connect();
  const auto path = client.push_tree(files);
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_TRUE(path->starts_with((home_ / "trees").string()));
  const auto result = client.spawn({.argv = {*path + "/run"}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(output_text(result->output), "from the tree");
}

TEST_F(RemoteAgentTest, MakesATreeWhereFilesAreShared) {
  ::setenv("ASSAY_AGENT_HOME", home_.c_str(), 1);
  auto client = connect_local();
  ::unsetenv("ASSAY_AGENT_HOME");
  const auto path = client.push_tree({source("lib/liba.so.1", "code")});
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_EQ(read_file(*path + "/lib/liba.so.1").value(), "code");
}

TEST_F(RemoteAgentTest, SendsATreeOnlyOnce) {
  const std::vector<TreeSource> files = {source("a", "one"), source("b", "two")};
  const auto path = connect().push_tree(files);
  ASSERT_TRUE(path);
  for (const auto& file : files) {
    std::filesystem::remove(file.file);  // Sending it again would fail.
  }
  EXPECT_EQ(connect().push_tree(files).value(), *path);
}

/// Behind a link whose buffers have taken a whole request that arrives late.
TEST_F(RemoteAgentTest, TakesAFileOverALinkThatIsSlowerThanItsPatience) {
  constexpr std::int64_t kBeatNs = 200'000'000;
  constexpr int kMostMissed = 8;
  ::setenv("ASSAY_AGENT_HOME", home_.c_str(), 1);
  // Three requests begin to pass: hello, has, put. The rest of the last one, less than a pipe
  // holds, is late.
  const auto slow =
      "one() { dd bs=$1 count=1 2>/dev/null; }; { one 64k; one 64k; one 1k; sleep 2; cat; } | " +
      agent_path();
  UnsharedTransport transport({"/bin/sh", "-c", slow});
  auto client =
      AgentClient::connect(transport, {.heartbeat_ns = kBeatNs, .most_missed = kMostMissed});
  ::unsetenv("ASSAY_AGENT_HOME");
  ASSERT_TRUE(client) << client.error().message;
  const auto file = source("large", std::string(60'000, 'q'));
  const auto path = client->push_file(file.file, file.sha256);
  EXPECT_TRUE(path) << path.error().message;
}

TEST_F(RemoteAgentTest, LocksTheDeviceUntilItsAgentEnds) {
  auto first = connect();
  auto second = connect();
  EXPECT_EQ(first.lock("ann at build1")->held_by, "");
  EXPECT_EQ(first.lock("ann at build1 (run 7)")->held_by, "");
  const auto refused = second.lock("bob");
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_EQ(refused->held_by, "ann at build1 (run 7)");
  const auto agent = first.spawn({.argv = {"/bin/sh", "-c", "echo $PPID"}});
  EXPECT_EQ(output_text(agent->output), fmt::format("{}\n", refused->agent));
  first = connect();
  EXPECT_EQ(second.lock("bob")->held_by, "");
  EXPECT_EQ(first.lock("ann")->held_by, "bob");
}

TEST_F(RemoteAgentTest, LocksTheDeviceForAllUsersOfItsMachine) {
  auto first = connect();
  auto other = connect_from(folder_.path() / "home-of-root");
  EXPECT_EQ(first.lock("ann")->held_by, "");
  EXPECT_EQ(other.lock("bob")->held_by, "ann");
  first = connect();
  EXPECT_EQ(other.lock("bob")->held_by, "");
}

TEST_F(RemoteAgentTest, LeavesTheDeviceToWhatIsMeasuredThereWithoutAnAgent) {
  auto client = connect();
  {
    const auto measuring = DeviceLock::acquire(
        "local", {.folder = folder_.path() / "run", .work = "assay bench net.onnx"});
    ASSERT_TRUE(measuring);
    const auto refused = client.lock("ann");
    EXPECT_EQ(refused->held_by, fmt::format("process {} (assay bench net.onnx)", ::getpid()));
    EXPECT_EQ(refused->agent, 0);
  }
  EXPECT_EQ(client.lock("ann")->held_by, "");
}

TEST_F(RemoteAgentTest, FreesTheDeviceWhenItsAgentIsKilled) {
  auto first = connect();
  ASSERT_TRUE(first.lock("ann"));
  EXPECT_FALSE(first.spawn({.argv = {"/bin/sh", "-c", "kill -9 $PPID; sleep 100"}}));
  EXPECT_EQ(connect().lock("bob")->held_by, "");
}

TEST_F(RemoteAgentTest, PrunesWhatNoAgentUses) {
  const auto file = source("a", "some content");
  auto client = connect();
  ASSERT_TRUE(client.push_file(file.file, file.sha256));
  EXPECT_EQ(client.space()->blob_bytes, 12);
  EXPECT_GT(client.space()->free_bytes, 12);
  EXPECT_EQ(connect().prune(0).value(), 0) << "the other agent uses it";
  EXPECT_EQ(client.prune(0).value(), 12) << "its own use is over";
  EXPECT_EQ(client.space()->blob_bytes, 0);
}

TEST_F(RemoteAgentTest, RefusesATreeThatLeadsElsewhere) {
  auto client = connect();
  EXPECT_EQ(client.push_tree({source("../a", "one")}).error().code, ErrorCode::kInvalidArgument);
  auto file = source("a", "one");
  std::filesystem::remove(file.file);
  EXPECT_EQ(client.push_tree({file}).error().code, ErrorCode::kNotFound);
}

TEST(AgentClient, WaitsForAnAgentThatShowsThatItLives) {
  LocalTransport transport;
  auto client = AgentClient::connect(transport, {.heartbeat_ns = 200'000'000});
  ASSERT_TRUE(client);
  EXPECT_TRUE(client->spawn({.argv = {"sleep", "1"}}));  // More than three intervals.
}

/// A program that greets as an agent that promises heartbeats, and then says nothing more.
std::vector<std::string> silent_agent(const std::filesystem::path& folder,
                                      std::int64_t heartbeat_ns) {
  const auto bytes = wire::bytes_from_frame(
      wire::frame_of(wire::MessageType::kHello, 1, wire::Hello{.heartbeat_ns = heartbeat_ns}));
  const auto hello = folder / "hello";
  EXPECT_TRUE(
      write_file_atomically(hello, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  return {"/bin/sh", "-c", fmt::format("cat {}; cat > /dev/null", hello.string())};
}

TEST(AgentClient, LosesAnAgentThatShowsNoSignOfLife) {
  const auto folder = TemporaryFolder::make("assay-client").value();
  UnsharedTransport transport(silent_agent(folder.path(), 50'000'000));
  int told = 0;
  auto client = AgentClient::connect(
      transport, {.heartbeat_ns = 50'000'000, .on_silence = [&told] { ++told; }});
  ASSERT_TRUE(client) << client.error().message;
  const auto lost = client->spawn({.argv = {"true"}});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(lost.error().message, HasSubstr("no sign of life for 0.15 s"));
  EXPECT_EQ(told, 1) << "before it is lost";
  EXPECT_THAT(client->conditions().error().message, HasSubstr("connect again"));
}

TEST(AgentClient, RefusesAProgramThatIsNoAgent) {
  UnsharedTransport talker({"/bin/sh", "-c", "echo Welcome to this machine, have a nice long day"});
  const auto client = AgentClient::connect(talker);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, ErrorCode::kCrashed);
  EXPECT_THAT(client.error().message, HasSubstr("not a frame"));
  UnsharedTransport silent({"/bin/true"});
  EXPECT_EQ(AgentClient::connect(silent).error().code, ErrorCode::kCrashed);
}

}  // namespace
}  // namespace assay
