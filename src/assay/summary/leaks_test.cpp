#include "assay/summary/leaks.h"

#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <vector>

#include "assay/summary/program.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// 100 KiB that grow by `step` a cycle, after a first cycle that fills caches.
std::vector<std::int64_t> growing(std::int64_t step, int count) {
  std::vector<std::int64_t> bytes = {50'000};
  while (static_cast<int>(bytes.size()) < count) {
    bytes.push_back(102'400 + step * static_cast<std::int64_t>(bytes.size()));
  }
  return bytes;
}

MemoryReport report_with(LeakSeries series) {
  MemoryReport report;
  report.leak_series = {std::move(series)};
  return report;
}

TEST(Leaks, AreFoundByMallocToTheByte) {
  const auto leaks = find_leaks(report_with({.cycle = "inference",
                                             .malloc_live_bytes = growing(128, 50),
                                             .private_dirty_bytes = growing(0, 50)}));
  ASSERT_THAT(leaks, SizeIs(2));
  const auto& leak = leaks[0];
  EXPECT_EQ(leak.source, "malloc");
  EXPECT_EQ(leak.cycles, 40);
  EXPECT_EQ(leak.verdict, LeakVerdict::kLeak);
  EXPECT_EQ(leak.bytes_per_cycle.value, 128);
  EXPECT_EQ(leak.bytes_per_cycle.low, 128);
  EXPECT_EQ(leak.bytes_per_cycle.high, 128);
  EXPECT_GE(leak.bytes_per_cycle.confidence, 0.95);
  EXPECT_THAT(leak.text, HasSubstr("leaks 128 bytes an inference"));
  EXPECT_EQ(find_deciding_leak(leaks, "inference"), &leak);
  EXPECT_THAT(notes_of_leaks(leaks), ElementsAre(leak.text));
}

TEST(Leaks, AreNoneWhereTheLevelStays) {
  const auto leaks = find_leaks(report_with({.cycle = "load",
                                             .malloc_live_bytes = growing(0, 20),
                                             .private_dirty_bytes = growing(0, 20)}));
  EXPECT_EQ(leaks.at(0).verdict, LeakVerdict::kNone);
  EXPECT_EQ(leaks.at(0).text, "no leak larger than 0 bytes a load (malloc, 16 cycles)");
  EXPECT_THAT(notes_of_leaks(leaks), IsEmpty());
}

TEST(Leaks, CannotBeToldFromThreeCycles) {
  const auto leaks =
      find_leaks(report_with({.cycle = "load", .malloc_live_bytes = growing(100, 3)}));
  ASSERT_THAT(leaks, SizeIs(1));
  EXPECT_EQ(leaks[0].verdict, LeakVerdict::kCannotTell);
  EXPECT_FALSE(leaks[0].bytes_per_cycle.low);
  EXPECT_EQ(leaks[0].bytes_per_cycle.confidence, 0);
  EXPECT_THAT(leaks[0].text, HasSubstr("too few"));
  EXPECT_THAT(find_leaks(report_with({.cycle = "load", .malloc_live_bytes = {1}})), IsEmpty());
}

TEST(Leaks, CannotBeToldFromPagesThatComeAndGo) {
  std::mt19937_64 random(3);
  std::uniform_int_distribution<std::int64_t> pages(0, 100);
  std::vector<std::int64_t> bytes;
  for (int i = 0; i < 20; ++i) {
    bytes.push_back(pages(random) * 4096);
  }
  const auto leaks = find_leaks(report_with({.cycle = "load", .private_dirty_bytes = bytes}));
  EXPECT_EQ(leaks.at(0).verdict, LeakVerdict::kCannotTell);
  EXPECT_THAT(leaks.at(0).text, HasSubstr("more cycles would"));
  EXPECT_EQ(find_deciding_leak(leaks, "load"), &leaks[0]);
}

TEST(Leaks, OfPagesThatMallocDoesNotExplainAreTold) {
  const auto leaks = find_leaks(report_with({.cycle = "load",
                                             .malloc_live_bytes = growing(0, 20),
                                             .private_dirty_bytes = growing(8192, 20)}));
  EXPECT_EQ(find_deciding_leak(leaks, "load")->verdict, LeakVerdict::kNone);
  EXPECT_THAT(notes_of_leaks(leaks), ElementsAre(HasSubstr("while malloc does not grow")));
}

TEST(Leaks, OfLessThanAPageAreLeftToMallocWhereItIsCounted) {
  const auto scattered = growing(1000, 20);
  const auto counted = find_leaks(report_with(
      {.cycle = "load", .malloc_live_bytes = growing(0, 20), .private_dirty_bytes = scattered}));
  EXPECT_EQ(counted.at(1).verdict, LeakVerdict::kCannotTell);
  EXPECT_THAT(notes_of_leaks(counted), IsEmpty());
  const auto uncounted =
      find_leaks(report_with({.cycle = "load", .private_dirty_bytes = scattered}));
  EXPECT_EQ(uncounted.at(0).verdict, LeakVerdict::kLeak);
  EXPECT_THAT(uncounted.at(0).text, HasSubstr("grows by 1000 bytes a load"));
}

TEST(Leaks, OfPagesAreKnownToAPageOverAllCycles) {
  const auto leaks =
      find_leaks(report_with({.cycle = "inference", .private_dirty_bytes = growing(0, 50)}));
  EXPECT_EQ(leaks.at(0).verdict, LeakVerdict::kNone);
  EXPECT_NEAR(*leaks.at(0).bytes_per_cycle.high, 4096.0 / 39, 1e-9);
  EXPECT_EQ(leaks.at(0).text,
            "no leak larger than 105 bytes an inference (private dirty pages, 40 cycles)");
}

TEST(Leaks, AreMetricsWithTheirInterval) {
  auto report = report_with({.cycle = "inference", .malloc_live_bytes = growing(64, 50)});
  report.stages = {{.name = "start"}, {.name = "loaded"}, {.name = "steady"}};
  const auto metrics = summarize_memory(report);
  EXPECT_EQ(metrics.at("leak_bytes_per_inference").value, 64);
  EXPECT_EQ(metrics.at("leak_bytes_per_inference").high, 64);
  EXPECT_FALSE(metrics.contains("leak_bytes_per_load"));
}

}  // namespace
}  // namespace assay
