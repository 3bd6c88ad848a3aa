#include "assay/report/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/record/calibration.h"

namespace assay::report {
namespace {

using testing::HasSubstr;

Calibration calibrated_sample() {
  Calibration calibration{.unix_ns = 1'795'257'684'000'000'000,
                          .program = "loop",
                          .pairs = 70,
                          .pair_ns = 140'000'000,
                          .null_inference_ns = 60,
                          .launch_overhead_ns = 3'200'000};
  calibration.detectable = {{.budget_ns = 10'000'000'000, .pairs = 70, .ratio = 0.0131},
                            {.budget_ns = 600'000'000'000, .pairs = 160, .ratio = 0.006}};
  return calibration;
}

TEST(CalibrationText, IsALineForTheHeadOfAReport) {
  EXPECT_EQ(
      line_from_calibration(calibrated_sample()),
      "in loop a difference of 1.3 % shows in 10 s, 0.6 % in 10 min (assay calibrate, 2026-11-21)");
}

TEST(CalibrationText, SaysNothingWhereNothingCanBeShown) {
  auto calibration = calibrated_sample();
  for (auto& found : calibration.detectable) {
    found.ratio = -1;
  }
  EXPECT_EQ(line_from_calibration(calibration), "");
  EXPECT_THAT(console_from_calibration(calibration), HasSubstr("nothing: 70 pairs are too few"));
}

TEST(CalibrationText, TellsTheHarnessApart) {
  const auto text = console_from_calibration(calibrated_sample());
  EXPECT_THAT(text, HasSubstr("in   10 s  differences from 1.3 % on, with 70 pairs"));
  EXPECT_THAT(text, HasSubstr("60 ns an inference that does nothing"));
}

}  // namespace
}  // namespace assay::report
