#include "assay/device/perf_events.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <span>
#include <string_view>
#include <vector>

#include <sys/mman.h>

#include "assay/record/launch.h"

namespace assay {
namespace {

using testing::HasSubstr;
using testing::Not;

const EventCount* find_count(const std::vector<EventCount>& counts, std::string_view name) {
  const auto found = std::ranges::find(counts, name, &EventCount::name);
  return found == counts.end() ? nullptr : &*found;
}

std::vector<EventCount> count_all(void (*work)()) {
  const std::array groups = {hardware_events(), software_events()};
  auto counters = PerfCounters::open(groups);
  counters.start();
  work();
  return counters.stop();
}

constexpr std::size_t kPages = 100;
constexpr std::size_t kPageBytes = 4096;

/// One fault for each page, as none is mapped before it is touched.
void touch_pages() {
  auto* memory = static_cast<char*>(::mmap(nullptr, kPages * kPageBytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ::madvise(memory, kPages * kPageBytes, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < kPages; ++i) {
    *static_cast<volatile char*>(memory + i * kPageBytes) = 1;
  }
  ::munmap(memory, kPages * kPageBytes);
}

TEST(PerfCounters, CountsThePagesThatWorkTouches) {
  const auto counts = count_all(touch_pages);
  const auto* faults = find_count(counts, "page-faults");
  ASSERT_NE(faults, nullptr);
  if (!faults->value) {
    GTEST_SKIP() << faults->unavailable;
  }
  EXPECT_GE(*faults->value, kPages);
  EXPECT_LT(*faults->value, 3 * kPages);
  EXPECT_GT(faults->running_ratio, 0);
  EXPECT_LE(faults->running_ratio, 1);
}

TEST(PerfCounters, HasEachEventOnceAndAValueOrAReason) {
  const auto counts = count_all([] {});
  ASSERT_EQ(counts.size(), hardware_events().size() + software_events().size());
  for (const auto& count : counts) {
    EXPECT_EQ(count.value.has_value(), count.unavailable.empty()) << count.name;
  }
}

TEST(PerfCounters, CountsInstructionsWhereTheProcessorTellsThem) {
  const auto nothing = count_all([] {});
  const auto work = count_all([] {
    volatile int sink = 0;
    for (int i = 0; i < 1'000'000; ++i) {
      sink = i;
    }
    EXPECT_EQ(sink, 999'999);
  });
  const auto* instructions = find_count(work, "instructions");
  if (!instructions->value) {
    EXPECT_THAT(instructions->unavailable, HasSubstr("("));
    GTEST_SKIP() << instructions->unavailable;
  }
  EXPECT_GT(*instructions->value, 1'000'000);
  EXPECT_LT(*find_count(nothing, "instructions")->value, *instructions->value);
}

TEST(PerfRefusal, SaysWhatToSet) {
  const auto& hardware = hardware_events().front();
  const auto& switches = software_events()[2];
  EXPECT_THAT(perf_refusal(EACCES, hardware, "4"),
              HasSubstr("perf_event_paranoid is 4, set it with "
                        "sysctl to 2 or less"));
  EXPECT_THAT(perf_refusal(EPERM, switches, "2"), HasSubstr("to 1 or less"));
  EXPECT_THAT(perf_refusal(ENOENT, hardware, ""), HasSubstr("virtual PMU"));
  EXPECT_THAT(perf_refusal(ENOENT, hardware, ""), Not(HasSubstr("paranoid")));
}

}  // namespace
}  // namespace assay
