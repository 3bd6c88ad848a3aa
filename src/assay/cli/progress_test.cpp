#include <cstddef>
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "assay/cli/progress_text.h"
#include "assay/report/format.h"

namespace assay::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kSecondNs = 1'000'000'000;

TEST(ProgressText, CountsOneUnitAgainstItsTotal) {
  EXPECT_EQ(text_from_phase({.name = "timing",
                             .unit = "launch",
                             .progress = {.done = 5, .total = 20, .remaining_ns = 12 * kSecondNs}}),
            "timing 5/20 launches, 12 s left");
  EXPECT_EQ(text_from_phase({.name = "confirmation", .unit = "pair", .progress = {.total = 1}}),
            "confirmation 0/1 pair");
}

TEST(ProgressText, CallsALimitALimit) {
  const PhaseState search{
      .name = "search", .unit = "pair", .progress = {.done = 12, .total = 80, .is_limit = true}};
  EXPECT_EQ(text_from_phase(search), "search 12 pairs of at most 80");
  EXPECT_THAT(status_line(search, "", 100), Not(HasSubstr("╌"))) << "a bar promises an end";
}

TEST(ProgressText, NamesNoTotalWhereATimeBudgetEndsThePhase) {
  EXPECT_EQ(text_from_phase({.name = "search",
                             .unit = "pair",
                             .progress = {.done = 172, .remaining_ns = 3 * kSecondNs}}),
            "search 172 pairs, 3 s left");
}

TEST(ProgressText, OpensEachPhaseWithOneLine) {
  EXPECT_EQ(line_from_phase_start(
                {.name = "evaluate", .unit = "launch", .progress = {.done = 1, .total = 4}}),
            "evaluate: 3 launches");
  EXPECT_EQ(line_from_phase_start(
                {.name = "search", .unit = "pair", .progress = {.total = 80, .is_limit = true}}),
            "search: at most 80 pairs");
  EXPECT_EQ(line_from_phase_start(
                {.name = "search", .unit = "pair", .progress = {.remaining_ns = 90 * kSecondNs}}),
            "search: pairs for 1 min 30 s");
  EXPECT_EQ(line_from_phase_start(
                {.name = "timing", .unit = "launch", .progress = {.total = 8, .device = "phone"}}),
            "timing on phone: 8 launches");
  EXPECT_EQ(line_from_phase_start({.name = "artifacts", .unit = "program or reference"}), "")
      << "everything came from the cache";
}

TEST(ProgressText, SaysWhatIsBuiltAtWhichStageForHowLong) {
  const PhaseState building{
      .name = "artifacts", .unit = "program or reference", .progress = {.done = 2, .total = 4}};
  const auto step = text_from_step("mobilenet_v2 xnnpack-int8", "lower", 18 * kSecondNs);
  EXPECT_EQ(step, "mobilenet_v2 xnnpack-int8, lower, 18 s");
  EXPECT_EQ(text_from_phase(building) + ": " + step,
            "building 2/4: mobilenet_v2 xnnpack-int8, lower, 18 s");
  EXPECT_THAT(status_line(building, step, 100), EndsWith("2/4  " + step));
}

TEST(ProgressText, KeepsToTheWidthOfTheTerminal) {
  const PhaseState timing{
      .name = "timing", .unit = "launch", .progress = {.done = 20, .total = 20}};
  const std::string step(300, 'x');
  for (const std::size_t width : {21U, 40U, 50U, 80U, 200U}) {
    EXPECT_LE(report::display_width(status_line(timing, step, width)), width);
  }
}

}  // namespace
}  // namespace assay::cli
