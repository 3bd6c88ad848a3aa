#include "assay/engines/command/observer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <utility>

#include "assay/base/result.h"
#include "assay/engines/command/printed_values.h"
#include "assay/record/metric.h"

namespace assay::command {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

PrintedValues observed(const std::string& printed) {
  PrintedValues values;
  const auto status = add_observed("PyTorchObserver", printed, values);
  EXPECT_TRUE(status) << status.error().message;
  return values;
}

std::map<std::string, double> metrics_of(const PrintedValues& values) {
  std::map<std::string, double> numbers;
  for (const auto& metric : values.metrics) {
    numbers[metric.name] = metric.value;
  }
  return numbers;
}

TEST(Observer, TakesTimesOfTheWholeNetworkAsInferences) {
  const auto values = observed(
      "noise\n"
      R"(I0101 x.cc:1] PyTorchObserver {"type": "NET", "metric": "latency", "unit": "ms", "value": 1.5})"
      "\n"
      R"(PyTorchObserver {"type": "NET", "metric": "latency", "unit": "us", "value": "250"})"
      "\n"
      R"(Caffe2Observer {"type": "NET", "metric": "latency", "unit": "us", "value": 1})");
  EXPECT_THAT(values.times_ns, ElementsAre(1'500'000, 250'000));
  EXPECT_THAT(values.operators, IsEmpty());
  EXPECT_THAT(values.metrics, IsEmpty());
}

TEST(Observer, TakesTimesOfOtherTypesAsOperators) {
  const auto values = observed(
      R"(PyTorchObserver {"type": "conv_0", "metric": "latency", "unit": "ms", "value": 2})"
      "\n"
      R"(PyTorchObserver {"type": "fc", "metric": "latency", "unit": "us", "num_runs": 4, "summary": {"mean": 5, "p0": 3, "p50": 4}})");
  ASSERT_THAT(values.operators, SizeIs(2));
  EXPECT_EQ(values.operators[0].total_ns, 2e6);
  EXPECT_EQ(values.operators[1].name, "fc");
  EXPECT_EQ(values.operators[1].calls, 4);
  EXPECT_EQ(values.operators[1].total_ns, 20e3);
  EXPECT_EQ(values.operators[1].min_ns, 3e3);
  EXPECT_EQ(values.operators[1].median_ns, 4e3);
}

TEST(Observer, MakesOneValueOfASummary) {
  const auto values = observed(
      R"(PyTorchObserver {"type": "NET", "metric": "latency", "unit": "ms", "num_runs": 9, "summary": {"mean": 5, "p50": 4}})");
  EXPECT_THAT(values.times_ns, IsEmpty());
  EXPECT_THAT(metrics_of(values), ElementsAre(std::pair("net_latency", 4e6)));
}

TEST(Observer, KeepsLongNamesApart) {
  const auto record = [](char last) {
    return "PyTorchObserver {\"type\": \"" + std::string(70, 'a') + last +
           "\", \"metric\": \"flops\", \"unit\": \"flop\", \"value\": 1}\n";
  };
  const auto values = observed(record('b') + record('c'));
  ASSERT_THAT(values.metrics, SizeIs(2));
  EXPECT_TRUE(is_program_metric_name(values.metrics.front().name)) << values.metrics.front().name;
}

TEST(Observer, KeepsWhatIsNoTimeUnderItsOwnName) {
  const auto values = observed(
      R"(PyTorchObserver {"type": "NET", "metric": "flops", "unit": "FLOP", "value": 12})"
      "\n"
      R"(PyTorchObserver {"type": "NET", "metric": "peak memory", "unit": "kB", "value": 2})"
      "\n"
      R"(PyTorchObserver {"type": "NET", "metric": "device", "info_string": "cpu"})");
  EXPECT_THAT(metrics_of(values),
              ElementsAre(std::pair("net_flops_flop", 12), std::pair("net_peak_memory", 2000)));
}

TEST(Observer, TurnsTheMomentsOfALanguageModelIntoDurationsAndRates) {
  const auto values = observed(
      R"(PyTorchObserver {"prompt_tokens":10,"generated_tokens":50,"model_load_start_ms":1000,)"
      R"("model_load_end_ms":1300,"inference_start_ms":1300,"inference_end_ms":2400,)"
      R"("prompt_eval_end_ms":1400,"first_token_ms":1420,"aggregate_sampling_time_ms":7,)"
      R"("SCALING_FACTOR_UNITS_PER_SECOND":1000})");
  EXPECT_THAT(
      metrics_of(values),
      ElementsAre(std::pair("generated_tokens", 50), std::pair("generated_tokens_per_s", 50),
                  std::pair("generation", 1e9), std::pair("inference", 1.1e9),
                  std::pair("model_load", 0.3e9), std::pair("prompt_eval", 0.1e9),
                  std::pair("prompt_tokens", 10), std::pair("prompt_tokens_per_s", 100),
                  std::pair("sampling", 7e6), std::pair("time_to_first_token", 0.12e9)));
}

TEST(Observer, RefusesWhatIsNoRecordAndNoNumber) {
  for (const auto* line : {"PyTorchObserver {\"type\": ", "PyTorchObserver {} {}",
                           R"(PyTorchObserver {"type": "NET", "unit": "ms", "value": "fast"})",
                           R"(PyTorchObserver {"type": "NET", "unit": "ms", "value": -1})"}) {
    PrintedValues values;
    const auto status = add_observed("PyTorchObserver", line, values);
    ASSERT_FALSE(status) << line;
    EXPECT_EQ(status.error().code, ErrorCode::kEngine);
  }
}

}  // namespace
}  // namespace assay::command
