#include "assay/device/run_queue.h"

#include <gtest/gtest.h>

#include "assay/device/sample_root.h"

namespace assay {
namespace {

TEST(RunQueue, SumsTheWaitOfAllThreads) {
  SampleRoot root;
  root.with("proc/self/task/7/schedstat", "5000000 1200 30\n")
      .with("proc/self/task/19/schedstat", "90 34 2\n");
  EXPECT_EQ(read_run_queue_wait_ns(root.path()), 1234);
}

TEST(RunQueue, IsAbsentWhereTheKernelDoesNotCount) {
  SampleRoot root;
  EXPECT_FALSE(read_run_queue_wait_ns(root.path()));
  root.with("proc/self/task/7/schedstat", "0 0 0\n").with("proc/self/task/8/schedstat", "many");
  EXPECT_FALSE(read_run_queue_wait_ns(root.path()));
}

TEST(RunQueue, OfThisProcessNeverShrinksWhileItsThreadsLive) {
  const auto before = read_run_queue_wait_ns();
  const auto after = read_run_queue_wait_ns();
  ASSERT_EQ(before.has_value(), after.has_value());
  if (before) {
    EXPECT_GE(*after, *before);
  }
}

}  // namespace
}  // namespace assay
