#include "assay/report/timing_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "assay/record/axes.h"
#include "assay/record/summary.h"

namespace assay::report {
namespace {

using testing::HasSubstr;
using testing::Not;

CaseSummary timed(double ratio, Timing timing = Timing::kSteady) {
  CaseSummary cell{.timing = timing};
  cell.metrics["steady_ns"] = {.value = 1e6, .confidence = 0.75, .count = 3};
  cell.metrics["steady_uncertainty_ratio"] = {.value = ratio, .count = 3};
  return cell;
}

TEST(TimingText, MarksATimeByHowFarItMayBeOff) {
  EXPECT_EQ(mark_of_time(timed(0.0284)), "±2.8");
  EXPECT_EQ(mark_of_time(timed(1.2e-5)), "±0.10");
  EXPECT_EQ(mark_of_time({}), "");
  EXPECT_EQ(mark_of_time(timed(0.0284, Timing::kEmulated)), "");
}

TEST(TimingText, SaysWhatTheTimesAreGoodFor) {
  EXPECT_EQ(sentence_on_times({timed(0.006), timed(0.0284)}),
            "these times are sure to ±0.60 to ±2.8 % (75 % confidence): cases whose intervals "
            "overlap are not told apart; assay compare tells smaller differences");
  EXPECT_THAT(sentence_on_times({timed(0.0284)}),
              testing::StartsWith("this time is sure to ±2.8 % (75 % confidence): a run"));
  auto more = timed(0.01);
  more.metrics.at("steady_ns").confidence = 0.9375;
  EXPECT_THAT(sentence_on_times({timed(0.01), more}),
              HasSubstr("±1.0 % (75 % confidence or more)"));
}

TEST(TimingText, NamesUnsteadyTimesWithWhatToDo) {
  EXPECT_THAT(sentence_on_times({timed(0.1, Timing::kUnsteady), timed(0.02)}),
              HasSubstr("1 of 2 times unsteady: it still moved when launches ended, and more "
                        "--iterations"));
  EXPECT_THAT(sentence_on_times({timed(0.1, Timing::kInconclusive)}), Not(HasSubstr("unsteady")));
}

TEST(TimingText, SaysThatOneLaunchSaysNothing) {
  CaseSummary cell{.timing = Timing::kInconclusive};
  cell.metrics["steady_ns"] = {.value = 1e6, .count = 1};
  EXPECT_THAT(sentence_on_times({cell}), HasSubstr("--launches 3"));
}

TEST(TimingText, IsSilentOnEmulatorsAndOnWhatWasNotTimed) {
  CaseSummary below_the_clock{.timing = Timing::kInconclusive};
  below_the_clock.metrics["steady_ns"] = {.value = 0, .count = 5};
  EXPECT_EQ(sentence_on_times({timed(0.02, Timing::kEmulated), {}, below_the_clock}), "");
}

}  // namespace
}  // namespace assay::report
