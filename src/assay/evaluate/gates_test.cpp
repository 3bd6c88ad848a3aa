#include "assay/evaluate/gates.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

TEST(Gates, ShowNoValueRoundedToTheBoundThatItMisses) {
  const auto text = [](std::string_view metric, double value, std::string_view bound) {
    const auto result =
        check_gate(metric, bound, {{std::string(metric), {.value = value}}}, Timing::kSteady);
    return result ? result->text : result.error().message;
  };
  EXPECT_EQ(text("program_bytes", 20'000'100, "<=20MB"),
            "program_bytes 20000100 bytes, required <=20MB");
  EXPECT_EQ(text("sqnr_db", 29.99996, ">=30"), "sqnr_db 29.99996 dB, required >=30");
  EXPECT_EQ(text("delegated_ratio", 0.989996, ">=0.99"),
            "delegated_ratio 0.989996, required >=0.99");
  EXPECT_EQ(text("aot_ns", 12'000'001, "<=12ms"), "aot_ns 12000001 ns, required <=12ms");
  EXPECT_EQ(text("program_bytes", 20'000'000, "<=20MB"), "program_bytes 20 MB, required <=20MB");
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
            "12.9 ms]; --launches 73 may decide");
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

TEST(Gates, HoldABoundOnARateAsOneOnTheTimeThatIsItsReciprocal) {
  // Bounds at every place of an interval about 5 ms, by a factor of the time.
  for (const double factor : {0.5, 0.79, 0.85, 0.999, 1.01, 1.2, 1.24, 1.26, 4.0}) {
    for (const int launches : {1, 3, 12}) {
      const auto ends = [launches](double end) {
        return launches == 1 ? std::nullopt : std::optional(end);
      };
      const std::map<std::string, Estimate> metrics = {
          {"program:time",
           {.value = 5e6, .low = ends(4e6), .high = ends(6.25e6), .count = launches, .unit = "ns"}},
          {"program:rate",
           {.value = 2e-7,
            .low = ends(1.6e-7),
            .high = ends(2.5e-7),
            .count = launches,
            .unit = "1/s",
            .better = Better::kHigher}}};
      const auto time =
          check_gate("program:time", fmt::format("<={}ms", 5 * factor), metrics, Timing::kSteady);
      const auto rate = check_gate("program:rate", fmt::format(">={}", 1 / (5e6 * factor)), metrics,
                                   Timing::kSteady);
      ASSERT_TRUE(time && rate) << time.error().message << rate.error().message;
      EXPECT_EQ(time->is_met, rate->is_met) << factor << " of " << launches;
      EXPECT_EQ(time->is_undecided, rate->is_undecided) << factor << " of " << launches;
      const auto advice = [](const GateResult& result) {
        return result.text.substr(std::min(result.text.rfind("; "), result.text.size()));
      };
      EXPECT_EQ(advice(*time), advice(*rate)) << factor;
    }
  }
}

TEST(Gates, JudgeWhatIsNoTimeByItsIntervalToo) {
  const std::map<std::string, Estimate> metrics = {
      {"energy_per_inference_j", {.value = 2, .low = 1.5, .high = 2.5, .count = 5}},
      {"steady_pss_bytes", {.value = 14e6, .count = 1}}};
  const auto energy =
      check_gate("energy_per_inference_j", "<=2.2", metrics, Timing::kSteady).value();
  EXPECT_TRUE(energy.is_undecided) << energy.text;
  const auto memory = check_gate("steady_pss_bytes", "<=20MB", metrics, Timing::kUnsteady).value();
  EXPECT_TRUE(memory.is_met) << "an unsteady clock says nothing of memory; " << memory.text;
}

TEST(Gates, DecideNothingByWhatAnEmulatorsTimesGive) {
  const std::map<std::string, Estimate> metrics = {
      {"speedup_ratio", {.value = 3, .count = 3}},
      {"steady_interval_ratio", {.value = 0.02, .count = 3}},
      {"program_bytes", {.value = 14e6, .count = 1}}};
  const auto of = [&metrics](std::string_view metric, std::string_view bound, Timing timing) {
    return check_gate(metric, bound, metrics, timing).value();
  };
  for (const auto& [metric, bound] :
       {std::pair("speedup_ratio", ">=2"), std::pair("steady_interval_ratio", "<=0.1")}) {
    EXPECT_TRUE(of(metric, bound, Timing::kSteady).is_met) << metric;
    EXPECT_TRUE(of(metric, bound, Timing::kEmulated).is_undecided) << metric;
  }
  EXPECT_TRUE(of("program_bytes", "<=20MB", Timing::kEmulated).is_met);
}

}  // namespace
}  // namespace assay
