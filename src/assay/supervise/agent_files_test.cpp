#include "assay/supervise/agent_files.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <stdlib.h>
#include <string>
#include <variant>

#include <sys/types.h>
#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/supervise/held_device.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;
using testing::HasSubstr;

constexpr std::chrono::milliseconds kNoPatience{0};

/// An agent's folder on a machine with locks of its own.
class AgentFilesTest : public testing::Test {
 protected:
  void SetUp() override { ::setenv("ASSAY_RUNTIME_DIR", (folder_.path() / "run").c_str(), 1); }
  void TearDown() override { ::unsetenv("ASSAY_RUNTIME_DIR"); }

  stdfs::path with(const std::string& name, const std::string& content = "x") {
    EXPECT_TRUE(write_file_atomically(home_ / name, content));
    return home_ / name;
  }
  static void age(const stdfs::path& file, std::chrono::minutes age) {
    stdfs::last_write_time(file, stdfs::file_time_type::clock::now() - age);
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-files").value();
  stdfs::path home_ = folder_.path() / "home";
};

TEST_F(AgentFilesTest, AreAllRemovedAndNothingElse) {
  for (const auto* name : {"blobs/a", "trees/b/c", "tmp/d", "home/e", "claims", "assay-agent-1"}) {
    with(name);
  }
  const auto notes = with("notes.txt");
  EXPECT_TRUE(clear_agent_home(home_, kNoPatience));
  EXPECT_TRUE(stdfs::exists(notes));
  EXPECT_EQ(std::distance(stdfs::directory_iterator(home_), {}), 1);
  stdfs::remove(notes);
  with("blobs/a");
  EXPECT_TRUE(clear_agent_home(home_, kNoPatience));
  EXPECT_FALSE(stdfs::exists(home_));
}

TEST_F(AgentFilesTest, StayWhileSomebodyHasTheDevice) {
  const auto blob = with("blobs/a");
  {
    const auto held = HeldDevice::take(folder_.path() / "home-of-another-user", "ann");
    ASSERT_TRUE(held && std::holds_alternative<HeldDevice>(*held));
    const auto refused = clear_agent_home(home_, kNoPatience);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("in use by ann; wait"));
    EXPECT_TRUE(stdfs::exists(blob));
  }
  EXPECT_TRUE(clear_agent_home(home_, kNoPatience));
}

/// Whoever ends the agent of a lost host must not meet that of the next one: both are replaced at
/// once.
TEST_F(AgentFilesTest, TellHolderAndAgentInOneLine) {
  const auto held = HeldDevice::take(home_, "ann");
  ASSERT_TRUE(held && std::holds_alternative<HeldDevice>(*held));
  std::get<HeldDevice>(*held).name_holder("bob");
  const auto attempt = HeldDevice::take(home_, "carl");
  ASSERT_TRUE(attempt && std::holds_alternative<DeviceHolder>(*attempt));
  EXPECT_EQ(std::get<DeviceHolder>(*attempt).text, "bob");
  EXPECT_EQ(std::get<DeviceHolder>(*attempt).agent, ::getpid());
  ASSERT_EQ(std::distance(stdfs::directory_iterator(home_ / "locks"), {}), 1);
  EXPECT_EQ(read_file(stdfs::directory_iterator(home_ / "locks")->path()).value(),
            fmt::format("process {} (agent of bob)\n", ::getpid()));
}

TEST_F(AgentFilesTest, OfAgentsThatNobodyStartsAreRemoved) {
  const auto old = with("assay-agent-1");
  const auto young = with("assay-agent-2");
  const auto busy = home_ / "assay-agent-3";
  stdfs::copy_file("/bin/sleep", busy);
  age(old, std::chrono::minutes(61));
  age(busy, std::chrono::minutes(61));
  auto running = Subprocess::start({.argv = {busy.string(), "100"}});
  ASSERT_TRUE(running);
  remove_unused_agents(home_);
  EXPECT_FALSE(stdfs::exists(old));
  EXPECT_TRUE(stdfs::exists(young));
  EXPECT_TRUE(stdfs::exists(busy));
}

TEST_F(AgentFilesTest, OfLostMeasurementsAreRemoved) {
  const auto left = with("tmp/wrapped-1/callgrind.out");
  const auto other = with("tmp/other");
  remove_left_wrappers(home_);
  EXPECT_FALSE(stdfs::exists(left.parent_path()));
  EXPECT_TRUE(stdfs::exists(other));
}

TEST_F(AgentFilesTest, MayLieInALockFolderOfAnotherUser) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give a folder away";
  }
  with("locks/device-device.lock", "");
  constexpr uid_t kShell = 2000;
  ASSERT_EQ(::chown((home_ / "locks").c_str(), kShell, kShell), 0);
  const auto held = HeldDevice::take(home_, "ann");
  EXPECT_TRUE(held && std::holds_alternative<HeldDevice>(*held));
}

}  // namespace
}  // namespace assay
