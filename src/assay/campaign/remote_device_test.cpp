#include "assay/campaign/remote_device.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdlib.h>
#include <string>

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/base/digest.h"
#include "assay/base/folders.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/launch_target.h"
#include "assay/campaign/remote_target.h"
#include "assay/device/device_lock.h"
#include "assay/device/environment.h"
#include "assay/device/process_space.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/spawn.h"
#include "assay/record/subject.h"
#include "assay/remote/address.h"
#include "assay/remote/device_bundle.h"
#include "assay/remote/device_policy.h"
#include "assay/remote/device_programs.h"
#include "assay/remote/remote_transport.h"
#include "assay/supervise/agent_client.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

/// A board that is this machine behind an ssh of ours, with a home and locks of its own, and no
/// engines.
class RemoteDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    stdfs::create_directories(bin());
    stdfs::create_directories(home());
    const auto agent = executable_folder() / "assay-agent";
    stdfs::copy_file(agent, bin() / "assay-agent");
    ::setenv("ASSAY_BIN_DIR", bin().c_str(), 1);
    put_agent();
    write_ssh("");
    ::setenv("ASSAY_SSH", (folder_.path() / "ssh").c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("ASSAY_SSH");
    ::unsetenv("ASSAY_BIN_DIR");
  }

  [[nodiscard]] stdfs::path bin() const { return folder_.path() / "bin"; }
  [[nodiscard]] stdfs::path home() const { return folder_.path() / "board"; }
  [[nodiscard]] stdfs::path storage() const { return home() / ".cache/assay-agent"; }

  /// The board has the agent, as after a first contact: to send it takes a disk a while.
  void put_agent() {
    static const auto digest = sha256_hex_of_file(executable_folder() / "assay-agent").value();
    stdfs::create_directories(storage());
    stdfs::create_hard_link(bin() / "assay-agent",
                            storage() / ("assay-agent-" + digest.substr(0, 16)));
  }

  /// `before`: what happens there first; "$1" is the command, which the shell executes then.
  void write_ssh(const std::string& before) {
    const auto script = fmt::format(
        "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done; shift 2; F={0}\n"
        "export HOME=$F/board TMPDIR=$F/board ASSAY_RUNTIME_DIR=$F/board/run\nunset "
        "XDG_CACHE_HOME\ncd \"$HOME\"\n{1}\nexec sh -c \"$1\"\n",
        folder_.path().string(), before);
    ASSERT_TRUE(write_file_atomically(folder_.path() / "ssh", script, 0755));
  }

  static RemoteTransport transport(const std::string& folder = "") {
    return RemoteTransport({.address = {.reach = Reach::kSsh, .host = "board"},
                            .folder = folder,
                            .clear_patience = std::chrono::seconds(0)});
  }

  std::unique_ptr<RemoteDevice> open() {
    auto device =
        RemoteDevice::open(std::make_unique<RemoteTransport>(transport()), {.home = bin()});
    EXPECT_TRUE(device) << (device ? "" : device.error().message);
    return device ? *std::move(device) : nullptr;
  }

  static std::unique_ptr<LaunchTarget> connect(RemoteDevice& device) {
    auto target = device.connect({.gate = {}, .keep_waiting = [] { return true; }});
    EXPECT_TRUE(target) << (target ? "" : target.error().message);
    return target ? *std::move(target) : nullptr;
  }

  /// An engine that is not known before its runner was started there, which notes each start.
  void add_engine() {
    const auto bundle = folder_.path() / "bundle";
    const auto runner = fmt::format(
        "#!/bin/sh\ncase $HOME in {0}*) echo x >>{0}/starts;; esac\necho '{{\"name\": \"toy\", "
        "\"version\": \"1\"}}'\n",
        folder_.path().string());
    ASSERT_TRUE(write_file_atomically(bundle / "run", runner, 0755));
    const Json document = {{"triple", triple_of_machine(read_system_facts().machine)},
                           {"argv", {"run"}},
                           {"files", {{"run", sha256_hex(runner)}}}};
    ASSERT_TRUE(write_file_atomically(bundle / "bundle.json", document.dump()));
    ASSERT_TRUE(register_build(bin(), {.name = "toy",
                                       .label = "mine",
                                       .runner = (bundle / "run").string(),
                                       .details = {{kBundleKey, bundle.string()}}}));
  }

  /// Agents that the board has.
  [[nodiscard]] stdfs::path agent_file() const {
    for (const auto& entry : stdfs::directory_iterator(storage())) {
      if (entry.path().filename().string().starts_with("assay-agent-")) {
        return entry.path();
      }
    }
    return {};
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-remote-device").value();
};

/// An agent ends when nobody asks it for ten minutes, as while programs are made.
TEST_F(RemoteDeviceTest, ConnectsAnewWhereTheAgentEndedBeforeTheFirstLaunch) {
  const auto device = open();
  auto* const agent = device->agent().value();
  EXPECT_FALSE(agent->spawn({.argv = {"/bin/sh", "-c", "kill -9 $PPID; sleep 100"}}));
  EXPECT_TRUE(connect(*device));
}

/// Acts like a link that broke silently: the far side keeps its end open.
TEST_F(RemoteDeviceTest, EndsTheAgentThatALostConnectionOfItsOwnLeft) {
  const auto device = open();
  ASSERT_TRUE(device);
  write_ssh(
      "case \"$1\" in *'exec '*) mkfifo $F/in.$$ $F/out.$$; sh -c \"$1\" <>$F/in.$$ >$F/out.$$ & "
      "exec 3<$F/out.$$; cat <&3 & exec cat >$F/in.$$;; esac");
  EXPECT_FALSE(device->agent().value()->spawn({.argv = {"/bin/sh", "-c", "kill -9 $PPID"}}));
  auto lost = connect(*device);
  ASSERT_TRUE(lost);
  write_ssh("");
  lost.reset();
  EXPECT_TRUE(connect(*device));
}

/// The line of a lock is written by whoever holds it, perhaps in a container or by another account.
TEST_F(RemoteDeviceTest, EndsNoOtherProcessThanAnAgent) {
  const auto device = open();
  ASSERT_TRUE(device);
  const auto work = fmt::format("agent of process 999999999 on vm ({})", process_space());
  const pid_t holder = ::fork();
  if (holder == 0) {
    const auto lock = DeviceLock::acquire("device", {.folder = storage() / "locks", .work = work});
    constexpr useconds_t kHeldUs = 1'500'000;
    ::usleep(kHeldUs);
    ::_exit(lock ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  const auto line = fmt::format("process {} ({})", holder, work);
  std::string text;
  for (int tries = 0; tries < 1000 && !text.contains(line); ++tries) {
    ::usleep(1000);
    for (const auto& file : entries_with(storage() / "locks", "")) {
      text += read_file(file).value_or("");
    }
  }
  EXPECT_TRUE(connect(*device));
  int status = 0;
  ::waitpid(holder, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), EXIT_SUCCESS);
}

/// Others that wait for it would begin a run, and lose it a moment later.
TEST_F(RemoteDeviceTest, KeepsTheDeviceUntilItStartsAnew) {
  const auto device = open();
  ASSERT_TRUE(device);
  write_ssh(
      "case \"$1\" in *reboot*) for l in $F/board/.cache/assay-agent/locks/*; do flock -n $l "
      "true || echo held >>$F/locks; done; exit 0;; esac");
  const auto target = device->connect({.gate = {},
                                       .policy = {.reboot = {.before_run = true, .wait_ns = 1}},
                                       .keep_waiting = [] { return true; }});
  ASSERT_FALSE(target) << "this one keeps its boot id";
  EXPECT_THAT(target.error().message, HasSubstr("did not come back"));
  EXPECT_EQ(read_file(folder_.path() / "locks").value_or(""), "held\n");
}

TEST_F(RemoteDeviceTest, IsNotClearedUnderARun) {
  const auto device = open();
  auto target = connect(*device);
  ASSERT_TRUE(target);
  const auto refused = transport().clear();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(refused.error().message,
              HasSubstr(fmt::format("in use by process {} on ", ::getpid())));
  EXPECT_TRUE(target->is_alive());
  EXPECT_FALSE(agent_file().empty());
  target.reset();
  auto patient = RemoteTransport({.address = {.reach = Reach::kSsh, .host = "board"}});
  const auto cleared = patient.clear();
  EXPECT_TRUE(cleared) << cleared.error().message;
  EXPECT_FALSE(stdfs::exists(storage()));
}

TEST_F(RemoteDeviceTest, IsNotClearedUnderARunOfAnEarlierAgent) {
  stdfs::remove(agent_file());
  const auto earlier = storage() / "assay-agent-0123456789abcdef";
  ASSERT_TRUE(write_file_atomically(earlier, "#!/bin/sh\nexit 2\n", 0755));
  {
    const auto held = DeviceLock::acquire(
        "device", {.folder = storage() / "locks", .work = "agent of process 1 on laptop"});
    ASSERT_TRUE(held) << held.error().message;
    const auto refused = transport().clear();
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("in use by process 1 on laptop"));
    EXPECT_TRUE(stdfs::exists(earlier) && stdfs::exists(storage() / "locks"));
  }
  const auto cleared = transport().clear();
  EXPECT_TRUE(cleared) << cleared.error().message;
  EXPECT_FALSE(stdfs::exists(storage()));
}

TEST_F(RemoteDeviceTest, ClearsNothingOfTheUsersInTheFolderThatWasGiven) {
  const auto mine = home() / "card";
  for (const auto* name : {"tmp/a", "home/me/b", "blobs/c", "locks/d"}) {
    ASSERT_TRUE(write_file_atomically(mine / name, "mine"));
  }
  for (const auto& folder : {mine.string(), std::string("card")}) {
    auto given = transport(folder);
    const auto facts = given.ask_facts();
    ASSERT_TRUE(facts) << facts.error().message;
    const auto own = fmt::format("assay-agent-{}", ::geteuid());
    EXPECT_EQ(facts->folder, (mine / own).string()) << "one for each user";
    ASSERT_TRUE(given.start_agent());
    ASSERT_TRUE(write_file_atomically(mine / own / "blobs/x", "Assay's"));
    const auto cleared = given.clear();
    EXPECT_TRUE(cleared) << cleared.error().message;
    EXPECT_FALSE(stdfs::exists(mine / own));
    EXPECT_TRUE(stdfs::exists(mine / "tmp/a") && stdfs::exists(mine / "home/me/b") &&
                stdfs::exists(mine / "blobs/c") && stdfs::exists(mine / "locks/d"));
  }
}

TEST_F(RemoteDeviceTest, TellsWhatCouldNotBeRemoved) {
  stdfs::remove(agent_file());
  ASSERT_TRUE(write_file_atomically(storage() / "blobs/x", "of another user"));
  ASSERT_TRUE(write_file_atomically(
      home() / "rm",
      "#!/bin/sh\necho \"rm: cannot remove 'blobs/x': Permission denied\" >&2\nexit 1\n", 0755));
  write_ssh("PATH=$HOME:$PATH");
  const auto cleared = transport().clear();
  ASSERT_FALSE(cleared);
  EXPECT_THAT(cleared.error().message, HasSubstr("cannot remove 'blobs/x': Permission denied"));
}

/// Leaves the state of a loss of power before the file was on the disk.
TEST_F(RemoteDeviceTest, SendsAnAgentAnewThatIsNotWhole) {
  const auto agent = agent_file();
  stdfs::remove(agent);
  ASSERT_TRUE(write_file_atomically(agent, "", 0755));
  EXPECT_TRUE(open());
  EXPECT_GT(stdfs::file_size(agent), 0U);
}

/// A disk that fails, or a folder that somebody has broken: no verdict about the case.
TEST_F(RemoteDeviceTest, IsLostWhereItCannotKeepTheFilesOfALaunch) {
  add_engine();
  const auto device = open();
  ASSERT_TRUE(device);
  const auto program = folder_.path() / "net";
  ASSERT_TRUE(write_file_atomically(program / "net.json", "{}"));
  LaunchRequest request;
  request.build = get_build(device->installed(), "toy@mine").value();
  request.artifact = {
      .folder = program.string(), .entry = "net.json", .files = {{.name = "net.json"}}};
  const auto target = connect(*device);
  ASSERT_TRUE(target);
  stdfs::remove_all(storage() / "blobs");
  ASSERT_TRUE(write_file_atomically(storage() / "blobs", "no folder"));
  const auto refused = target->run(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable) << refused.error().message;
  EXPECT_FALSE(target->is_alive());
}

/// Does not start its runner, which would disturb whoever measures there.
TEST_F(RemoteDeviceTest, AsksAnEngineOnceAndLeavesTheDeviceFree) {
  add_engine();
  const auto first = open();
  const auto second = open();
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(get_build(second->installed(), "toy@mine"));
  EXPECT_EQ(read_file(folder_.path() / "starts").value_or(""), "x\n");
  EXPECT_TRUE(connect(*second)) << "the first one has not kept it";
}

TEST_F(RemoteDeviceTest, SaysThatAShellPrintsSomethingOfItsOwn) {
  write_ssh("echo 'Welcome to board'");
  const auto opened =
      RemoteDevice::open(std::make_unique<RemoteTransport>(transport()), {.home = bin()});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(opened.error().message,
              AllOf(HasSubstr("prints 'Welcome to board'"), HasSubstr("~/.bashrc")));
}

}  // namespace
}  // namespace assay
