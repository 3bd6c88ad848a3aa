#include "assay/evaluate/gates.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

const std::map<std::string, Estimate> kMetrics = {
    {"steady_ns", {.value = 12.4e6, .low = 12.1e6, .high = 12.9e6, .count = 3}},
    {"load_ns", {.value = 2e6, .count = 1}},
    {"aot_ns", {.value = 2e9, .count = 1}},
    {"delegated_ratio", {.value = 0.93, .count = 1}},
    {"program_bytes", {.value = 14e6, .count = 1}},
    {"sqnr_db", {.value = 0, .count = 1, .special = "inf"}},
    {"qdq.sqnr_db", {.value = 31.25, .count = 1}},
    {"max_abs_error", {.value = 0, .count = 1, .special = "nan"}},
    {"program:p99", {.value = 5e6, .low = 4e6, .high = 6e6, .count = 3, .unit = "ns"}},
};

GateResult gate(std::string_view metric, std::string_view bound, Timing timing = Timing::kSteady) {
  const auto result = check_gate(metric, bound, kMetrics, timing);
  EXPECT_TRUE(result) << result.error().message;
  return result ? *result : GateResult{};
}

TEST(Gates, HoldBoundsOnWhatAProgramPrints) {
  EXPECT_TRUE(gate("program:p99", "<=6ms").is_met);
  EXPECT_TRUE(gate("program:p99", "<=5ms").is_undecided);
  EXPECT_TRUE(gate("program:p99", "<=3ms").is_broken());
  EXPECT_EQ(gate("program:p99", "<=3ms").text, "program:p99 5 ms, required <=3ms");
  EXPECT_TRUE(gate("program:p99", "<=3").is_broken());
  EXPECT_THAT(gate("program:p99", "<=3").text, HasSubstr("program:p99 is in ns"));
  EXPECT_THAT(gate("program:p50", "<=3ms").text, HasSubstr("not measured"));
}

TEST(Gates, HoldBoundsInTheMetricsUnit) {
  EXPECT_TRUE(gate("steady_ns", "<=13ms").is_met);
  EXPECT_FALSE(gate("steady_ns", "<=12ms").is_met);
  EXPECT_TRUE(gate("program_bytes", "<= 14MB").is_met);
  EXPECT_FALSE(gate("program_bytes", "<14MB").is_met);
  EXPECT_TRUE(gate("qdq.sqnr_db", ">=31.25").is_met);
  EXPECT_TRUE(gate("float32.sqnr_db", ">= 30").is_met);
}

TEST(Gates, SayWhatWasMeasuredAndWhatIsRequired) {
  EXPECT_EQ(gate("delegated_ratio", ">=0.99").text, "delegated_ratio 0.93, required >=0.99");
  EXPECT_EQ(gate("steady_ns", "<=12ms").text, "steady_ns 12.4 ms, required <=12ms");
  EXPECT_EQ(gate("program_bytes", "<10MB").text, "program_bytes 14 MB, required <10MB");
  EXPECT_EQ(gate("qdq.sqnr_db", ">=40").text, "qdq.sqnr_db 31.25 dB, required >=40");
}

TEST(Gates, WhatIsNotMeasuredIsNotMet) {
  const auto result = gate("first_ns", "<=1s");
  EXPECT_FALSE(result.is_met);
  EXPECT_EQ(result.text, "first_ns not measured, required <=1s");
}

TEST(Gates, HoldATimeWithItsInterval) {
  const auto within = gate("steady_ns", "<=13ms");
  EXPECT_TRUE(within.is_met);
  EXPECT_FALSE(within.is_undecided);
  const auto beyond = gate("steady_ns", "<=12ms");
  EXPECT_TRUE(beyond.is_broken());
  for (const auto* bound : {"<=12.5ms", "<=12.2ms", ">=12.3ms", ">12.5ms"}) {
    const auto open = gate("steady_ns", bound);
    EXPECT_TRUE(open.is_undecided) << bound;
    EXPECT_FALSE(open.is_met) << bound;
    EXPECT_FALSE(open.is_broken()) << bound;
  }
  EXPECT_EQ(gate("steady_ns", "<=12.5ms").text,
            "steady_ns 12.4 ms, required <=12.5ms: the bound lies within its interval [12.1 ms, "
            "12.9 ms]; --launches 75 may decide");
}

TEST(Gates, DoNotPassOnOneLaunch) {
  EXPECT_TRUE(gate("load_ns", "<=1s").is_undecided);
  EXPECT_THAT(gate("load_ns", "<=1s").text, HasSubstr("--launches 3 gives one"));
  EXPECT_TRUE(gate("load_ns", "<=1ms").is_broken());
  EXPECT_TRUE(gate("aot_ns", "<=3s").is_met) << "no time of a launch";
}

TEST(Gates, DoNotPassOnATimeThatIsNotSteady) {
  const auto unsteady = gate("steady_ns", "<=13ms", Timing::kUnsteady);
  EXPECT_TRUE(unsteady.is_undecided);
  EXPECT_THAT(unsteady.text, HasSubstr("the timing is unsteady"));
  EXPECT_TRUE(gate("steady_ns", "<=12ms", Timing::kUnsteady).is_broken());
  EXPECT_TRUE(gate("delegated_ratio", ">=0.9", Timing::kUnsteady).is_met);
}

TEST(Gates, LeaveTimesOfAnEmulatorUndecided) {
  for (const char* bound : {"<=13ms", "<=1ms"}) {
    const auto emulated = gate("steady_ns", bound, Timing::kEmulated);
    EXPECT_TRUE(emulated.is_undecided);
    EXPECT_THAT(emulated.text, HasSubstr("an emulator's time is not that of the hardware"));
  }
  EXPECT_TRUE(gate("delegated_ratio", ">=0.9", Timing::kEmulated).is_met);
}

TEST(Gates, InfinityIsANumberAndNanIsNone) {
  EXPECT_TRUE(gate("sqnr_db", ">=30").is_met);
  EXPECT_EQ(gate("sqnr_db", ">=30").text, "sqnr_db inf, required >=30");
  EXPECT_FALSE(gate("max_abs_error", "<=1").is_met);
  EXPECT_FALSE(gate("max_abs_error", ">=0").is_met);
}

TEST(Gates, RefuseUnknownMetricsAndUnreadableBounds) {
  const auto unknown = check_gate("steady", "<=1ms", kMetrics, Timing::kSteady);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(unknown.error().message, HasSubstr("unknown metric 'steady'"));
  EXPECT_THAT(check_gate("stedy_ns", "<=1ms", kMetrics, Timing::kSteady).error().message,
              HasSubstr("did you mean 'steady_ns'"));
  EXPECT_THAT(check_gate("steady_ns", "<=12", kMetrics, Timing::kSteady).error().message,
              HasSubstr("steady_ns"));
  EXPECT_FALSE(check_gate("steady_ns", "12ms", kMetrics, Timing::kSteady));
  EXPECT_FALSE(check_gate("delegated_ratio", ">=high", kMetrics, Timing::kSteady));
}

TEST(Gates, AreReadFromTheRequireObject) {
  const auto results = check_gates({{"steady_ns", "<=13ms"}, {"delegated_ratio", ">=0.99"}},
                                   kMetrics, Timing::kSteady);
  ASSERT_TRUE(results);
  ASSERT_EQ(results->size(), 2U);
  EXPECT_FALSE(results->front().is_met);
  EXPECT_TRUE(results->back().is_met);
  EXPECT_TRUE(check_gates(Json::object(), kMetrics, Timing::kSteady)->empty());
  EXPECT_THAT(check_gates({{"steady_ns", 12}}, kMetrics, Timing::kSteady).error().message,
              HasSubstr("must be text"));
}

}  // namespace
}  // namespace assay
