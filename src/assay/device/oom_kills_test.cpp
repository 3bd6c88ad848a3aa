#include "assay/device/oom_kills.h"

#include <cstdint>
#include <gtest/gtest.h>

#include "assay/device/testing/sample_root.h"

namespace assay {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

TEST(OomKills, AreThoseOfTheOwnGroup) {
  SampleRoot root;
  root.with("proc/vmstat", "oom_kill 7\n").with("proc/self/cgroup", "0::/user.slice/run-1\n");
  EXPECT_EQ(count_oom_kills(root.path()).count, 7) << "the root group tells nothing";
  EXPECT_FALSE(count_oom_kills(root.path()).is_of_group);
  root.with("sys/fs/cgroup/user.slice/run-1/memory.events", "low 0\noom 3\noom_kill 2\n");
  EXPECT_EQ(count_oom_kills(root.path()).count, 2);
  EXPECT_TRUE(count_oom_kills(root.path()).is_of_group);
  root.with("proc/self/cgroup", "5:cpu,cpuacct:/\n4:memory:/docker/1\n0::/none\n")
      .with("sys/fs/cgroup/memory/docker/1/memory.oom_control",
            "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
  EXPECT_EQ(count_oom_kills(root.path()).count, 4) << "version 1";
  const SampleRoot silent;
  EXPECT_EQ(count_oom_kills(silent.path()).count, 0);
}

TEST(OomKills, OfOthersEndNoChild) {
  const OomKills machine{.count = 1};
  const OomKills group{.count = 1, .is_of_group = true};
  EXPECT_FALSE(is_oom_kill(machine, machine, kGiB, kGiB)) << "somebody else sent the signal";
  EXPECT_FALSE(is_oom_kill(machine, {.count = 2}, kGiB / 16, kGiB)) << "another was killed";
  EXPECT_TRUE(is_oom_kill(machine, {.count = 2}, kGiB / 4, kGiB));
  EXPECT_FALSE(is_oom_kill(group, group, kGiB, kGiB));
  EXPECT_TRUE(is_oom_kill(group, {.count = 2, .is_of_group = true}, 1, kGiB));
  EXPECT_FALSE(is_oom_kill(machine, {.count = 9, .is_of_group = true}, kGiB, kGiB));
}

}  // namespace
}  // namespace assay
