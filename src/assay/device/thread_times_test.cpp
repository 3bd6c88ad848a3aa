#include "assay/device/thread_times.h"

#include <gtest/gtest.h>
#include <optional>
#include <vector>

#include "assay/device/testing/sample_root.h"

namespace assay {
namespace {

using Threads = std::vector<ThreadTimes>;

TEST(ThreadTimes, AreReadOfEachThread) {
  SampleRoot root;
  root.with("proc/self/task/7/schedstat", "5000000 1200 30\n")
      .with("proc/self/task/19/schedstat", "250000 34 2\n");
  const auto threads = read_thread_times(root.path());
  ASSERT_TRUE(threads);
  ASSERT_EQ(threads->size(), 2U);
  const auto work = work_between(Threads{}, threads);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->waiting_ns, 1234);
  EXPECT_EQ(work->busy, 2);
}

TEST(ThreadTimes, AreAbsentWhereTheKernelDoesNotCount) {
  SampleRoot root;
  EXPECT_FALSE(read_thread_times(root.path()));
  root.with("proc/self/task/7/schedstat", "0 0 0\n").with("proc/self/task/8/schedstat", "many");
  EXPECT_FALSE(read_thread_times(root.path()));
}

void compute_for_a_while() {
  volatile double sum = 0;
  for (int i = 0; i < 30'000'000; ++i) {
    sum = sum + i;
  }
}

TEST(ThreadTimes, OfThisThreadGrow) {
  compute_for_a_while();  // The kernel adds up at its ticks: a new process has no time yet.
  const auto before = read_thread_times();
  compute_for_a_while();
  const auto after = read_thread_times();
  ASSERT_EQ(before.has_value(), after.has_value());
  if (before) {
    EXPECT_GE(work_between(before, after)->busy, 1);
  }
}

TEST(WorkBetween, CountsThreadsThatWorkedATwentiethAsLongAsTheBusiest) {
  const Threads before = {{.id = 1, .on_cpu_ns = 100, .waiting_ns = 10},
                          {.id = 2, .on_cpu_ns = 100, .waiting_ns = 5}};
  const Threads after = {{.id = 1, .on_cpu_ns = 2100, .waiting_ns = 12},
                         {.id = 2, .on_cpu_ns = 199, .waiting_ns = 6},
                         {.id = 3, .on_cpu_ns = 100, .waiting_ns = 1}};
  const auto work = work_between(before, after);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->busy, 2) << "the first, and the one that is new";
  EXPECT_EQ(work->busiest_ns, 2000);
  EXPECT_EQ(work->waiting_ns, 4);
}

TEST(WorkBetween, CountsNoThreadThatDidNothing) {
  const Threads threads = {{.id = 1, .on_cpu_ns = 100}, {.id = 2, .on_cpu_ns = 100}};
  EXPECT_EQ(work_between(threads, threads)->busy, 0);
}

TEST(WorkBetween, IsUnknownWhenAThreadTookItsTimesAlong) {
  const Threads before = {{.id = 1, .on_cpu_ns = 100}, {.id = 2, .on_cpu_ns = 100}};
  const Threads after = {{.id = 1, .on_cpu_ns = 200}};
  EXPECT_FALSE(work_between(before, after));
  EXPECT_FALSE(work_between(std::nullopt, after));
  EXPECT_FALSE(work_between(before, std::nullopt));
}

}  // namespace
}  // namespace assay
