#include "assay/device/core_clusters.h"

#include <cstddef>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "assay/device/environment.h"
#include "assay/device/testing/sample_root.h"

namespace assay {
namespace {

using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

void add_cores(SampleRoot& root, const char* file, const std::vector<int>& values) {
  for (std::size_t core = 0; core < values.size(); ++core) {
    root.with(fmt::format("sys/devices/system/cpu/cpu{}/{}", core, file),
              fmt::format("{}\n", values[core]));
  }
  root.with("sys/devices/system/cpu/cpufreq/policy0/cpuinfo_max_freq", "1\n")
      .with("sys/devices/system/cpu/cpuidle/current_driver", "none\n");
}

TEST(CoreClusters, AreNamedByCapacity) {
  SampleRoot root;
  add_cores(root, "cpufreq/cpuinfo_max_freq", {9, 9, 9, 9});  // Capacity says more.
  add_cores(root, "cpu_capacity", {446, 446, 1024, 1024});
  EXPECT_THAT(read_core_clusters(root.path()),
              UnorderedElementsAre(Pair("big", "2-3"), Pair("little", "0-1")));
}

TEST(CoreClusters, HaveTheRestInTheMiddle) {
  SampleRoot root;
  add_cores(root, "cpu_capacity", {250, 250, 250, 800, 871, 800, 250, 1024});
  EXPECT_THAT(read_core_clusters(root.path()),
              UnorderedElementsAre(Pair("big", "7"), Pair("mid", "3-5"), Pair("little", "0-2,6")));
}

TEST(CoreClusters, AreNamedByFrequencyWhereNothingElseTells) {
  SampleRoot root;
  add_cores(root, "cpufreq/cpuinfo_max_freq", {5'500'000, 5'300'000, 4'200'000, 4'200'000});
  EXPECT_THAT(read_core_clusters(root.path()),
              UnorderedElementsAre(Pair("big", "0-1"), Pair("little", "2-3")));
}

TEST(CoreClusters, AreNoneWhereCoresAreAlikeOrTellNothing) {
  SampleRoot alike;
  add_cores(alike, "cpu_capacity", {1024, 1024});
  EXPECT_THAT(read_core_clusters(alike.path()), IsEmpty());
  EXPECT_THAT(read_core_clusters(SampleRoot().path()), IsEmpty());
}

TEST(CoreClusters, StandBesideTheIdentityOfTheMachine) {
  SampleRoot root;
  const auto before = environment_from({}, root.path());
  EXPECT_FALSE(before.details.contains("cores"));
  add_cores(root, "cpu_capacity", {446, 1024});
  const auto after = environment_from({}, root.path());
  EXPECT_EQ(after.details["cores"]["big"], "1");
  EXPECT_EQ(after.id, before.id);
}

}  // namespace
}  // namespace assay
