// The program assay-agent as a host, a file or a user starts it.
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <span>
#include <sstream>
#include <stdlib.h>
#include <string>
#include <vector>

#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/device/agent_process.h"
#include "assay/record/spawn.h"
#include "assay/supervise/agent_client.h"
#include "assay/supervise/testing/unshared_transport.h"
#include "assay/wire/channel.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

using testing::HasSubstr;

TEST(AgentProgram, AnswersFramesFromAFile) {
  const auto folder = TemporaryFolder::make("assay-job").value();
  const SpawnRequest echo{.argv = {"/bin/echo", "done"}};
  std::string job;
  for (const auto& frame : {wire::frame_of(wire::MessageType::kHello, 1, wire::Hello{}),
                            wire::frame_of(wire::MessageType::kSpawn, 2, echo)}) {
    const auto bytes = wire::bytes_from_frame(frame);
    job.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  ASSERT_TRUE(write_file_atomically(folder.path() / "in", job));
  const auto out = folder.path() / "out";
  const auto run = run_command(
      {.argv = {agent_path(), "--job", (folder.path() / "in").string(), "--out", out.string()}},
      std::chrono::seconds(20));
  ASSERT_TRUE(run);
  EXPECT_EQ(run->exit_code, 0);
  const auto answers = read_file(out);
  ASSERT_TRUE(answers);
  const auto sequence = wire::frames_from_bytes(std::as_bytes(std::span(*answers)));
  ASSERT_TRUE(sequence.status);
  ASSERT_EQ(sequence.frames.size(), 2U);
  EXPECT_EQ(output_text(sequence.frames[1].blob), "done\n");
}

/// The state that a shell or a service leaves which ends its own children so.
TEST(AgentProgram, SeesItsChildrenEndWhereThatSignalWasIgnored) {
  UnsharedTransport transport({"/bin/sh", "-c", "trap '' CHLD; exec " + agent_path()});
  auto client = AgentClient::connect(transport);
  ASSERT_TRUE(client) << client.error().message;
  const auto result = client->spawn({.argv = {"/bin/true"}, .limits = {.wall_ns = 5'000'000'000}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end.exit_code, 0);
  EXPECT_FALSE(result->end.is_timed_out);
}

/// Copies the agent to a file named for its content, as on a device.
TEST(AgentProgram, KeepsCoresBusyUnderAnyName) {
  const auto folder = TemporaryFolder::make("assay-agent-copy").value();
  const auto copy = folder.path() / "assay-agent-0123456789abcdef";
  std::filesystem::copy_file(agent_path(), copy);
  UnsharedTransport transport({copy.string()});
  auto client = AgentClient::connect(transport);
  ASSERT_TRUE(client) << client.error().message;
  SpawnRequest request{.argv = {"/bin/echo", "done"}};
  request.surroundings.companions = {{.argv = {"assay-agent", "--keep-busy", "cpu"}}};
  const auto result = client->spawn(request);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(output_text(result->output), "done\n");
}

TEST(AgentProgram, RefusesWrongUse) {
  for (const auto& flags : std::vector<std::vector<std::string>>{
           {"--nonsense"}, {"stray"}, {"--job", "x"}, {"--out", "x"}}) {
    Subprocess::Options options{.argv = {agent_path()}, .stderr_file = "/dev/null"};
    options.argv.insert(options.argv.end(), flags.begin(), flags.end());
    EXPECT_EQ(run_command(options, std::chrono::seconds(20))->exit_code, 2) << flags[0];
  }
}

TEST(AgentProgram, AnswersGarbageWithAnErrorAndEnds) {
  auto process = AgentProcess::start({agent_path()});
  ASSERT_TRUE(process);
  const std::string garbage(64, 'x');
  ASSERT_EQ(::write(process->write_fd(), garbage.data(), garbage.size()), 64);
  wire::Channel channel(process->read_fd(), process->write_fd());
  const auto reply = channel.receive(10'000);
  ASSERT_TRUE(reply && *reply);
  EXPECT_EQ(wire::error_from_frame(**reply).code, ErrorCode::kCorrupt);
  EXPECT_EQ(process->close(), "exited with 3");
}

/// HOME and TMPDIR of a child of the agent that `argv` starts, if it can write to both.
std::vector<std::string> folders_of_child(const std::vector<std::string>& argv) {
  UnsharedTransport transport(argv);
  auto client = AgentClient::connect(transport);
  EXPECT_TRUE(client) << client.error().message;
  const auto result = client->spawn(
      {.argv = {"/bin/sh", "-c", "echo x > $HOME/x && echo y > $TMPDIR/y && echo $HOME $TMPDIR"}});
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  std::istringstream words(result ? output_text(result->output) : "");
  return {std::istream_iterator<std::string>(words), {}};
}

/// A folder outside of /tmp.
std::filesystem::path new_folder_beside_programs() {
  auto pattern = (executable_folder() / "agent-home.XXXXXX").string();
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  return pattern;
}

TEST(AgentProgram, KeepsAllBelowItsHomeOnABareSystem) {
  if (agent_path().starts_with("/tmp/")) {
    GTEST_SKIP() << "the build is in /tmp, which this test hides";
  }
  const auto home = new_folder_beside_programs();
  const auto script =
      "mount -t tmpfs -o ro none /tmp && exec env -i ASSAY_AGENT_HOME=\"$0\" \"$1\"";
  const std::vector<std::string> bare = {"unshare", "-Urm", "/bin/sh", "-c", script};
  auto probe = bare;
  probe.insert(probe.end(), {home.string(), "/bin/true"});
  const auto is_permitted = run_command({.argv = probe}, std::chrono::seconds(20));
  if (!is_permitted || is_permitted->exit_code != 0) {
    std::filesystem::remove_all(home);
    GTEST_SKIP() << "no mount namespaces here";
  }
  auto argv = bare;
  argv.insert(argv.end(), {home.string(), agent_path()});
  EXPECT_THAT(folders_of_child(argv),
              testing::ElementsAre((home / "home").string(),
                                   testing::StartsWith((home / "tmp/assay-launch.").string())));
  EXPECT_TRUE(std::filesystem::exists(home / "home/x"));
  EXPECT_TRUE(std::filesystem::is_empty(home / "tmp"));
  std::filesystem::remove_all(home);
}

TEST(AgentProgram, ReplacesFoldersThatCannotBeUsed) {
  const auto folder = TemporaryFolder::make("assay-client").value();
  const auto home = folder.path().string();
  const auto agent_with = [&](const std::string& variables) {
    return std::vector<std::string>{"/bin/sh", "-c",
                                    fmt::format("exec env -i {} {}", variables, agent_path())};
  };
  const auto in_home =
      testing::ElementsAre(home + "/a/home", testing::StartsWith(home + "/a/tmp/assay-launch."));
  const auto agent_home = fmt::format("ASSAY_AGENT_HOME={}/a", home);
  EXPECT_THAT(folders_of_child(agent_with(agent_home + " HOME=/ TMPDIR=/no/such/folder")), in_home);
  const auto usable = fmt::format(" HOME={0} TMPDIR={0}", home);
  EXPECT_THAT(folders_of_child(agent_with(agent_home + usable)),
              testing::ElementsAre(home, testing::StartsWith(home + "/assay-launch.")));
}

TEST(AgentProgram, SaysThatItsHomeCannotBeWritten) {
  UnsharedTransport transport(
      {"/bin/sh", "-c", fmt::format("exec env -i ASSAY_AGENT_HOME=/proc/none {}", agent_path())});
  const auto client = AgentClient::connect(transport);
  ASSERT_FALSE(client);
  EXPECT_THAT(client.error().message, HasSubstr("exited with 3"));
}

}  // namespace
}  // namespace assay
