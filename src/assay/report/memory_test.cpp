#include "assay/report/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace assay::report {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

CaseSummary measured_case() {
  CaseSummary cell;
  cell.memory = MemoryReport{
      .stages = {{.name = "start",
                  .rss_bytes = 5120,
                  .parts = {{"libraries", 4096}, {"malloc", 1024}, {"unattributed", 0}}},
                 {.name = "steady",
                  .rss_bytes = 8192,
                  .parts = {{"libraries", 4096},
                            {"declared.arena", 2048},
                            {"malloc_other", 1536},
                            {"never_touched", -512},
                            {"unattributed", 1024}},
                  .allocations =
                      AllocationCounts{.live_bytes = 3584, .peak_live_bytes = 9000, .count = 12}}},
      .declared = {{"arena", 2048}, {"temp", 700, /*is_peak=*/true}},
      .probe_ns = 1'200'000,
      .probe_bytes = 5000,
      .inferences = 10,
      .inference_allocations = 25};
  cell.leaks = {{.text = "no leak larger than 0 bytes a load (malloc, 16 cycles)"}};
  return cell;
}

std::vector<std::string> texts_of(const TextColumn& column) {
  std::vector<std::string> texts;
  for (const auto& cell : column.cells) {
    texts.push_back(cell.text);
  }
  return texts;
}

TEST(MemoryTable, HasAPartARowAndTheirSumBelow) {
  const auto table = memory_table(*measured_case().memory);
  ASSERT_EQ(table.columns.size(), 3U);
  EXPECT_THAT(texts_of(table.columns[0]),
              ElementsAre("executable and libraries", "malloc, live", "declared: arena",
                          "malloc, live, not declared", "of live malloc, never touched",
                          "unattributed", "sum: resident set"));
  EXPECT_THAT(texts_of(table.columns[1]), ElementsAre("4.0", "1.0", "", "", "", "0.0", "5.0"));
  EXPECT_THAT(texts_of(table.columns[2]),
              ElementsAre("4.0", "", "2.0", "1.5", "-0.5", "1.0", "8.0"));
}

TEST(MemoryTable, IsEmptyWhereMappingsAreNotTold) {
  EXPECT_TRUE(memory_table({.stages = {{.name = "start"}}}).columns.empty());
}

TEST(MemoryLines, TellMallocThePeaksTheProbeAndTheLeaks) {
  const auto lines = memory_lines(measured_case());
  EXPECT_THAT(lines, Contains("malloc: 3.58 kB live at steady, 9 kB at the most, in 12 "
                              "allocations; 2.5 allocations an inference"));
  EXPECT_THAT(lines, Contains("declared as a peak, not held now: temp 700 B"));
  EXPECT_THAT(lines, Contains("a reading costs 1.20 ms and 5 kB of malloc"));
  EXPECT_THAT(lines, Contains(HasSubstr("no leak larger than 0 bytes")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("negative"))));
}

TEST(MemoryLines, SayWhyAPartIsNegative) {
  auto cell = measured_case();
  cell.memory->stages[1].parts[4].bytes = -1;
  EXPECT_THAT(memory_lines(cell), Contains(HasSubstr("unattributed is negative")));
}

TEST(MemoryLines, SayWhyMallocIsNotCounted) {
  auto cell = measured_case();
  cell.memory->allocations_unavailable = "not glibc";
  EXPECT_THAT(memory_lines(cell), Contains("malloc: unavailable: not glibc"));
}

}  // namespace
}  // namespace assay::report
