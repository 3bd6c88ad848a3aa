#include "features/exchange/fai_pep/result_document.h"

#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/profile.h"
#include "assay/record/summary.h"

namespace assay::fai_pep {
namespace {

using testing::DoubleNear;
using testing::SizeIs;

CaseSummary timed_case(const std::string& key, std::vector<std::int64_t> times) {
  CaseSummary cell{.case_key = key, .label = key, .model = "small-0.command", .engine = "toy@0123"};
  cell.launches.push_back({.warmup_iterations = 1, .execute_ns = std::move(times)});
  return cell;
}

TEST(ResultDocument, HasTheSteadyTimesAndTheirStatistics) {
  RunSummary summary;
  summary.run.spec = {{"models", {"/x/tflite/small/small-0.command.json"}}};
  summary.cases = {timed_case("a", {9'000'000, 1'000, 2'000, 3'000, 6'000})};
  const auto results = results_from_summary(summary);
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_EQ(results[0]["meta"]["framework"], "tflite");
  EXPECT_EQ(results[0]["meta"]["net_name"], "small");
  EXPECT_EQ(results[0]["meta"]["identifier"], "small-0");
  EXPECT_EQ(results[0]["meta"]["commit"], "0123");
  const auto& latency = results[0]["data"]["NET latency"];
  EXPECT_EQ(latency["values"], (Json{1.0, 2.0, 3.0, 6.0}));
  EXPECT_EQ(latency["num_runs"], 4);
  const auto& numbers = latency["summary"];
  EXPECT_EQ(numbers["mean"], 3.0);
  EXPECT_EQ(numbers["p0"], 1.0);
  EXPECT_EQ(numbers["p50"], 2.5);
  EXPECT_THAT(numbers["p90"].get<double>(), DoubleNear(5.1, 1e-12));
  EXPECT_EQ(numbers["MAD"], 1.0);
  EXPECT_THAT(numbers["stdev"].get<double>(), DoubleNear(1.8708286933869707, 1e-12));
}

TEST(ResultDocument, LaysATreatmentBesideItsControl) {
  RunSummary summary;
  summary.cases = {timed_case("a", {0, 1'000, 3'000}), timed_case("b", {0, 2'000, 6'000})};
  summary.comparisons.push_back({.comparison = {.a_case = "a", .b_case = "b"}});
  const auto results = results_from_summary(summary);
  EXPECT_FALSE(results[0]["data"]["NET latency"].contains("control_values"));
  const auto& latency = results[1]["data"]["NET latency"];
  EXPECT_EQ(latency["control_values"], (Json{1.0, 3.0}));
  EXPECT_EQ(latency["diff_summary"]["p0"], -1.0) << "2 less 3, the mirror image";
  EXPECT_EQ(latency["diff_summary"]["p100"], 5.0);
  EXPECT_EQ(latency["diff_summary"]["mean"], 2.0);
}

TEST(ResultDocument, HasNumbersOfTheLaunchAndOperators) {
  RunSummary summary;
  CaseSummary cell{.case_key = "a", .label = "a", .model = "m", .engine = "command"};
  cell.metrics["program:net_latency"] = {.value = 5'000, .count = 3, .unit = "ns"};
  cell.metrics["program:rate"] = {.value = 7, .count = 3, .unit = "1/s"};
  cell.metrics["program_bytes"] = {.value = 100, .count = 1};
  cell.breakdown = ProfileBreakdown{.iterations = 2};
  cell.breakdown->parts = {{.name = "conv", .kind = "operator", .mean_ns = 4'000, .min_ns = 3'000},
                           {.name = "outside any operator", .kind = "rest"}};
  summary.cases = {cell, CaseSummary{.case_key = "b"}};
  const auto results = results_from_summary(summary);
  ASSERT_THAT(results, SizeIs(1)) << "a case without a number is left out";
  const auto& data = results[0]["data"];
  EXPECT_THAT(data, SizeIs(3));
  EXPECT_EQ(data["NET latency"]["summary"]["p50"], 5.0);
  EXPECT_EQ(data["NET latency"]["unit"], "us");
  EXPECT_EQ(data["NET rate"]["summary"]["p50"], 7);
  EXPECT_EQ(data["conv latency"]["summary"]["mean"], 4.0);
}

}  // namespace
}  // namespace assay::fai_pep
