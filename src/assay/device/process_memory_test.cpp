#include "assay/device/process_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "assay/base/result.h"

namespace assay {
namespace {

TEST(ProcessMemory, IsReadFromTheKernelsText) {
  const auto stage = memory_stage_from_text(
      "5609-7ffc ---p 00000000 00:00 0    [rollup]\nRss:   1720 kB\nPss:   217 kB\n"
      "Pss_Dirty:   112 kB\nPrivate_Clean:   40 kB\nPrivate_Dirty:   113 kB\n",
      "Name:\tcat\nVmPeak:\t 3776 kB\nVmHWM:\t 1960 kB\nThreads:\t1\n");
  ASSERT_TRUE(stage);
  EXPECT_EQ(stage->rss_bytes, 1720 * 1024);
  EXPECT_EQ(stage->pss_bytes, 217 * 1024);
  EXPECT_EQ(stage->private_dirty_bytes, 113 * 1024);
  EXPECT_EQ(stage->peak_rss_bytes, 1960 * 1024);
}

TEST(ProcessMemory, IsUnavailableWhereTheKernelDoesNotTell) {
  const auto stage = memory_stage_from_text("Rss: 1 kB\n", "VmHWM: 1 kB\n");
  ASSERT_FALSE(stage);
  EXPECT_EQ(stage.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(stage.error().message, testing::HasSubstr("'Pss'"));
}

TEST(ProcessMemory, GrowsWithWhatIsTouched) {
  constexpr std::int64_t kBytes = 32 << 20;
  const auto before = read_process_memory("before");
  ASSERT_TRUE(before);
  std::vector<std::byte> touched(kBytes, std::byte{1});
  const auto after = read_process_memory("after");
  ASSERT_TRUE(after);
  EXPECT_EQ(std::ranges::count(touched, std::byte{1}), kBytes);
  EXPECT_EQ(after->name, "after");
  EXPECT_GE(after->private_dirty_bytes - before->private_dirty_bytes, kBytes / 2);
  EXPECT_GE(after->peak_rss_bytes, after->rss_bytes / 2);
  EXPECT_GT(after->minor_faults, before->minor_faults);
}

TEST(ProcessThreads, AreCounted) {
  const auto before = count_process_threads();
  ASSERT_TRUE(before);
  int inside = 0;
  std::thread([&inside] { inside = count_process_threads().value_or(0); }).join();
  EXPECT_EQ(inside, *before + 1);
}

}  // namespace
}  // namespace assay
