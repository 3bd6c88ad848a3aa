#include "assay/wire/answer_check.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/launch.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/safetensors.h"
#include "assay/tensor/tensor.h"
#include "assay/wire/answer_body.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay::wire {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kWallNs = 200'000'000;

// ---- what a field can hold ----------------------------------------------------------------------

std::string complaint_about(const Json& body) {
  const auto read = body_from_answer<Measurement>({.body = body});
  return read ? "" : read.error().message;
}

TEST(AnswerBody, TakesNoNumberThatItsFieldCannotHold) {
  EXPECT_EQ(complaint_about({{"iterations", 4}, {"first", {{"bind_ns", 1}}}}), "");
  EXPECT_EQ(complaint_about(Json::parse(R"({"iterations": 4, "wall_ns": 9223372036854775807})")),
            "");
  EXPECT_EQ(complaint_about({{"iterations", 4.0}, {"unknown", {1, 2}}}), "");
  EXPECT_THAT(complaint_about({{"iterations", 4'294'967'300}}),
              HasSubstr("iterations is 4294967300"));
  EXPECT_THAT(complaint_about({{"iterations", 1.5}}), HasSubstr("iterations is 1.5"));
  EXPECT_THAT(complaint_about({{"iterations", true}}), HasSubstr("iterations is true"));
  EXPECT_THAT(complaint_about({{"first", {{"bind_ns", std::uint64_t{1} << 63}}}}),
              HasSubstr("first.bind_ns is 9223372036854775808"));
  EXPECT_THAT(complaint_about({{"iterations", "4"}}), HasSubstr("malformed message"));
}

// ---- who answers what ---------------------------------------------------------------------------

Frame frame(MessageType type, std::uint32_t request) { return {.type = type, .request = request}; }

std::string complaint_about(const std::vector<Frame>& answers) {
  const std::vector requests = {frame(MessageType::kHello, 1), frame(MessageType::kLoad, 2)};
  const auto status = check_answers(answers, requests);
  return status ? "" : status.error().message;
}

TEST(Answers, AreOneForEachRequestAndOfItsType) {
  const auto hello = frame(MessageType::kHello, 1);
  const auto load = frame(MessageType::kLoad, 2);
  EXPECT_EQ(complaint_about({hello, frame(MessageType::kStage, 2), load}), "");
  EXPECT_EQ(complaint_about({hello, frame(MessageType::kError, 2)}), "");
  EXPECT_THAT(complaint_about({hello}), HasSubstr("load was not answered"));
  EXPECT_THAT(complaint_about({hello, load, load}), HasSubstr("load was answered twice"));
  EXPECT_THAT(complaint_about({hello, load, frame(MessageType::kError, 2)}), HasSubstr("twice"));
  EXPECT_THAT(complaint_about({load, hello, frame(MessageType::kBye, 7)}), HasSubstr("request 7"));
  EXPECT_THAT(complaint_about({hello, frame(MessageType::kInfer, 2)}),
              HasSubstr("the answer to load is of type 17, not 16"));
  EXPECT_THAT(complaint_about({hello, frame(static_cast<MessageType>(99), 2)}),
              HasSubstr("of type 99"));
}

// ---- load ---------------------------------------------------------------------------------------

std::string complaint_about(const LoadReport& report) {
  const auto status = check_load_report(report, kWallNs);
  return status ? "" : status.error().message;
}

TEST(LoadReport, HoldsOptionsTimesAndSignaturesThatAreOfThisWorld) {
  const LoadReport honest{.stages = {{"program", 1000}, {"method", 0}},
                          .inputs = {{.name = "x", .shape = {kUnboundDimension, 4}}}};
  EXPECT_EQ(complaint_about(honest), "");
  const auto lie = [&honest](const std::function<void(LoadReport&)>& change) {
    auto report = honest;
    change(report);
    return complaint_about(report);
  };
  EXPECT_THAT(lie([](auto& r) { r.effective_options = Json::array(); }),
              HasSubstr("effective_options is of the type array"));
  EXPECT_THAT(lie([](auto& r) { r.stages[1].ns = -5; }), HasSubstr("stages[1].ns is -5"));
  EXPECT_THAT(lie([](auto& r) { r.stages[1].ns = kMost; }), HasSubstr("lived"));
  EXPECT_THAT(lie([](auto& r) { r.stages[0].name.assign(100'000, 'x'); }),
              HasSubstr("stages[0].name has 100000 bytes"));
  EXPECT_THAT(lie([](auto& r) { r.inputs[0].shape = {-2}; }), HasSubstr("inputs[0].shape is -2"));
  EXPECT_THAT(lie([](auto& r) { r.inputs[0].quantization = Quantization{.scales = {1.0}}; }),
              HasSubstr("1 scales and 0 zero points"));
  EXPECT_THAT(lie([](auto& r) { r.declared_memory = {{"arena", -1}}; }),
              HasSubstr("declared_memory[0].bytes is -1"));
}

// ---- measure ------------------------------------------------------------------------------------

constexpr MeasurePlan kPlan{.warmup_iterations = 2, .iterations = 3, .min_iterations = 1};

Measurement honest_measurement() {
  return {.first = {.bind_ns = 0, .execute_ns = 9000, .fetch_ns = 0},
          .warmup_iterations = 2,
          .iterations = 3,
          .stopped_by = "count",
          .inferences = 5,
          .inferences_ns = 100'000'000,
          .wall_ns = 60'000'000,
          .cpu_ns = 1,
          .clock_resolution_ns = 1,
          .samples = {.bind_ns = {0, 0, 0, 0, 0},
                      .execute_ns = {9000, 9000, 8000, 8000, 0},
                      .fetch_ns = {1, 1, 1, 1, 1}}};
}

std::string complaint_about(const std::function<void(Measurement&)>& change,
                            const MeasurePlan& plan = kPlan) {
  auto measurement = honest_measurement();
  change(measurement);
  const auto status = check_measurement(measurement, plan, kWallNs);
  return status ? "" : status.error().message;
}

TEST(MeasurementCheck, TakesWhatCanBeTrue) {
  EXPECT_EQ(complaint_about([](auto&) {}), "");
  EXPECT_EQ(complaint_about([](auto& m) { m.samples.execute_ns.assign(5, 20'000'000); }), "");
}

Measurement self_told_measurement() {
  auto measurement = honest_measurement();
  measurement.times = TimesTold::kSteady;
  measurement.first = {};
  measurement.warmup_iterations = 0;
  measurement.iterations = 5;
  measurement.metrics = {{.name = "p99", .unit = "ns", .value = 5}};
  return measurement;
}

std::string complaint_about_self_told(const std::function<void(Measurement&)>& change) {
  auto measurement = self_told_measurement();
  change(measurement);
  const auto status = check_measurement(measurement, kPlan, kWallNs);
  return status ? "" : status.error().message;
}

TEST(MeasurementCheck, TakesAProcessThatDoesMoreThanInferOnlyWhereItsTimesAreSummed) {
  const auto with_times = [](std::int64_t inferences_ns) {
    return [inferences_ns](Measurement& m) {
      m.samples.execute_ns.assign(5, 1'000'000);
      m.samples.bind_ns.assign(5, 0);
      m.samples.fetch_ns.assign(5, 0);
      m.inferences_ns = inferences_ns;
      m.wall_ns = kWallNs / 2;
    };
  };
  EXPECT_EQ(complaint_about_self_told(with_times(5'000'000)), "");
  EXPECT_THAT(complaint_about_self_told(with_times(5'000'001)), HasSubstr("wall_ns"));
  EXPECT_THAT(complaint_about_self_told([&](auto& m) {
                with_times(5'000'000)(m);
                m.wall_ns = 2 * kWallNs;
              }),
              HasSubstr("wall_ns"));
}

TEST(MeasurementCheck, SaysWhereTimesOfRequestsOverlap) {
  const auto complaint = complaint_about_self_told([](Measurement& m) {
    m.samples.bind_ns.assign(5, 0);
    m.samples.execute_ns.assign(5, kWallNs);
    m.samples.fetch_ns.assign(5, 0);
    m.inferences_ns = 5 * kWallNs;
  });
  EXPECT_THAT(complaint, HasSubstr("more than it ran"));
  EXPECT_THAT(complaint_about_self_told([](Measurement& m) {
                m.samples.execute_ns.assign(5, std::numeric_limits<std::int64_t>::max());
                m.inferences_ns = 5;
              }),
              Not(HasSubstr("more than it ran")));
}

TEST(MeasurementCheck, TakesProgramsThatWarmUpByThemselvesOrTellNumbersAlone) {
  EXPECT_EQ(complaint_about_self_told([](auto&) {}), "");
  EXPECT_EQ(complaint_about_self_told([](auto& m) {
              m.times = TimesTold::kNone;
              m.samples = {};
            }),
            "");
  EXPECT_THAT(complaint_about_self_told([](auto& m) { m.iterations = 4; }),
              HasSubstr("number of samples"));
  EXPECT_THAT(complaint_about_self_told([](auto& m) { m.first.execute_ns = 1; }),
              HasSubstr("first.execute_ns"));
  EXPECT_THAT(complaint_about_self_told([](auto& m) { m.times = TimesTold::kNone; }),
              HasSubstr("number of samples"));
}

TEST(MeasurementCheck, RefusesMetricsThatCannotBe) {
  EXPECT_THAT(complaint_about_self_told([](auto& m) { m.metrics[0].name = "p 99"; }),
              HasSubstr("metrics[0].name"));
  EXPECT_THAT(complaint_about_self_told([](auto& m) { m.metrics[0].unit = "ms"; }),
              HasSubstr("metrics[0].unit is 'ms'"));
  EXPECT_THAT(complaint_about_self_told([](auto& m) { m.metrics[0].value = NAN; }),
              HasSubstr("metrics[0].value"));
  EXPECT_THAT(complaint_about_self_told([](auto& m) { m.metrics.push_back(m.metrics[0]); }),
              HasSubstr("'p99' twice"));
  EXPECT_THAT(complaint_about_self_told([](auto& m) {
                m.times = TimesTold::kNone;
                m.samples = {};
                m.metrics.clear();
              }),
              HasSubstr("metrics"));
}

std::string complaint_about_sustained(const std::function<void(Measurement&)>& change) {
  auto measurement = honest_measurement();
  measurement.warmup_iterations = 0;
  measurement.iterations = 5;
  measurement.stopped_by = "duration";
  measurement.duration_ns = 90'000'000;
  measurement.stride = 4;
  measurement.inferences = 18;
  measurement.begin_ns = 7;
  measurement.end_ns = 60'000'007;
  change(measurement);
  auto plan = kPlan;
  plan.duration_ns = 90'000'000;
  const auto status = check_measurement(measurement, plan, kWallNs);
  return status ? "" : status.error().message;
}

TEST(MeasurementCheck, HoldsASustainedLaunchAgainstItsDuration) {
  EXPECT_EQ(complaint_about_sustained([](auto&) {}), "");
  EXPECT_THAT(complaint_about_sustained([](auto& m) { m.stopped_by = "count"; }),
              HasSubstr("stopped_by is 'count', where the launch was to go on for 90 ms"));
  EXPECT_THAT(complaint_about_sustained([](auto& m) { m.inferences_ns = 80'000'000; }),
              HasSubstr("inferences_ns is 80000000"));
  EXPECT_THAT(complaint_about_sustained([](auto& m) { m.inferences = 16; }),
              HasSubstr("inferences is 16"));
  EXPECT_THAT(complaint_about_sustained([](auto& m) { m.stride = 0; }), HasSubstr("stride is 0"));
  EXPECT_THAT(complaint_about_sustained([](auto& m) { m.duration_ns = 1; }),
              HasSubstr("duration_ns is 1"));
  EXPECT_THAT(complaint_about_sustained([](auto& m) { m.end_ns = 6; }), HasSubstr("end_ns is 6"));
  EXPECT_THAT(complaint_about([](auto& m) { m.stopped_by = "duration"; }),
              HasSubstr("stopped_by is 'duration'"));
  EXPECT_THAT(complaint_about([](auto& m) { m.stride = 2; }), HasSubstr("stride is 2"));
}

TEST(MeasurementCheck, HoldsCountsAgainstThePlan) {
  using M = Measurement;
  EXPECT_THAT(complaint_about([](M& m) { m.warmup_iterations = 1'000'000; }),
              HasSubstr("warmup_iterations is 1000000; only 0 to 2"));
  EXPECT_THAT(complaint_about([](M& m) { m.iterations = 0; }), HasSubstr("iterations is 0"));
  EXPECT_THAT(complaint_about([](M& m) { m.samples = {}; }),
              HasSubstr("0 samples, where warmup_iterations 2 and iterations 3 make 5"));
  EXPECT_THAT(complaint_about([](M& m) { m.streams = 2; }), HasSubstr("streams is 2, where 1"));
  EXPECT_THAT(complaint_about([](M& m) { m.gap_ns = 2; }), HasSubstr("gap_ns is 2"));
  EXPECT_THAT(complaint_about([](M& m) { m.detects_warmup = true; }), HasSubstr("detects_warmup"));
  EXPECT_THAT(complaint_about([](M& m) { m.inferences = 7; }), HasSubstr("inferences is 7"));
}

TEST(MeasurementCheck, LetsTheTimeBudgetExplainFewerIterations) {
  const auto stop_early = [](Measurement& m) {
    m.iterations = 2;
    m.inferences = 4;
    for (auto* column : {&m.samples.bind_ns, &m.samples.execute_ns, &m.samples.fetch_ns}) {
      column->resize(4);
    }
  };
  auto plan = kPlan;
  EXPECT_THAT(complaint_about(stop_early), HasSubstr("iterations is 2, where 3"));
  const auto by_budget = [&stop_early](Measurement& m) {
    stop_early(m);
    m.stopped_by = "time_budget";
  };
  EXPECT_THAT(complaint_about(by_budget, plan), HasSubstr("stopped_by is time_budget after 2"));
  plan.time_budget_ns = 90'000'000;
  EXPECT_EQ(complaint_about(by_budget, plan), "");
  plan.min_iterations = 3;
  EXPECT_THAT(complaint_about(by_budget, plan), HasSubstr("iterations is 2; only 3 to 3"));
  EXPECT_THAT(complaint_about([](auto& m) { m.stopped_by = "boredom"; }), HasSubstr("boredom"));
}

TEST(MeasurementCheck, LetsTheTimeBudgetExplainAShorterWarmUp) {
  const auto warm_less = [](Measurement& m) {
    m.warmup_iterations = 1;
    m.inferences = 4;
    for (auto* column : {&m.samples.bind_ns, &m.samples.execute_ns, &m.samples.fetch_ns}) {
      column->resize(4);
    }
  };
  EXPECT_THAT(complaint_about(warm_less), HasSubstr("warmup_iterations is 1, where 2"));
  auto plan = kPlan;
  plan.time_budget_ns = 100'000'000;  // The warm-up took 40 ms of it.
  EXPECT_EQ(complaint_about(warm_less, plan), "");
}

TEST(MeasurementCheck, RefusesTimesThatCannotBe) {
  using M = Measurement;
  EXPECT_THAT(complaint_about([](M& m) { m.samples.execute_ns[1] = -1000; }),
              testing::AllOf(HasSubstr("sample 1"), HasSubstr("execute_ns is -1000")));
  EXPECT_THAT(complaint_about([](M& m) { m.samples.execute_ns[1] = kMost; }),
              HasSubstr("9223372036854775807"));
  EXPECT_THAT(complaint_about([](M& m) { m.samples.fetch_ns.assign(5, 3'600'000'000'000); }),
              HasSubstr("fetch_ns is 3600000000000"));
  EXPECT_THAT(complaint_about([](M& m) { m.samples.execute_ns.assign(5, 40'000'000); }),
              HasSubstr("add up to more than"));
  EXPECT_THAT(complaint_about([](M& m) { m.samples.execute_ns.assign(5, 0); }),
              HasSubstr("all 5 samples of execute_ns are 0, by a clock with steps of 1 ns"));
  EXPECT_THAT(complaint_about([](M& m) { m.first.execute_ns = -1; }),
              HasSubstr("first.execute_ns"));
  EXPECT_THAT(complaint_about([](M& m) { m.first.execute_ns = kMost; }),
              HasSubstr("first.execute_ns"));
  EXPECT_THAT(complaint_about([](M& m) { m.inferences_ns = 3 * kWallNs; }),
              HasSubstr("inferences_ns"));
  EXPECT_THAT(complaint_about([](M& m) { m.wall_ns = 2 * m.inferences_ns; }), HasSubstr("wall_ns"));
  EXPECT_THAT(complaint_about([](M& m) { m.cpu_ns = -1; }), HasSubstr("cpu_ns is -1"));
  EXPECT_THAT(complaint_about([](M& m) { m.run_queue_wait_ns = -1; }), HasSubstr("run_queue_wait"));
  EXPECT_THAT(complaint_about([](M& m) { m.clock_resolution_ns = kMost; }),
              HasSubstr("clock_resolution_ns"));
}

TEST(MeasurementCheck, GivesAClockOfLargeStepsItsStepAReading) {
  const auto rounded = [](std::int64_t resolution_ns, std::int64_t execute_ns) {
    return complaint_about([&](Measurement& m) {
      m.clock_resolution_ns = resolution_ns;
      m.samples.execute_ns.assign(5, execute_ns);
    });
  };
  EXPECT_EQ(rounded(1'000'000, 0), "");
  EXPECT_EQ(rounded(10'000'000, 30'000'000), "");
  EXPECT_NE(rounded(1, 30'000'000), "");
  EXPECT_NE(rounded(1'000'000'000, 3'600'000'000'000), "");
}

// ---- infer --------------------------------------------------------------------------------------

std::vector<std::byte> outputs_named(const std::vector<std::string>& names) {
  std::vector<NamedTensor> tensors;
  for (const auto& name : names) {
    tensors.push_back({name, Tensor::zeros(Dtype::kFloat32, {2})});
  }
  return safetensors_from_tensors(tensors);
}

std::string complaint_about(const std::vector<std::byte>& blob, const InferReply& reply) {
  const Infer asked{.inputs = {.samples = 2}, .repeat = 2};
  const auto status = check_infer_reply(reply, asked, 2, blob);
  return status ? "" : status.error().message;
}

TEST(InferCheck, WantsEachOutputOfEachSampleAndNothingElse) {
  const InferReply honest{.samples = 2, .repeat = 2};
  const auto all = outputs_named({"0.0", "0.1", "1.0", "1.1"});
  EXPECT_EQ(complaint_about(all, honest), "");
  EXPECT_THAT(complaint_about({}, honest), HasSubstr("0 bytes are too few"));
  EXPECT_THAT(complaint_about(outputs_named({"0.0", "0.1", "1.1"}), honest), HasSubstr("no '1.0'"));
  EXPECT_THAT(complaint_about(outputs_named({"0.0", "0.1", "1.0", "1.1", "1.2"}), honest),
              HasSubstr("'1.2', which was not requested"));
  EXPECT_THAT(complaint_about(all, {.samples = 1, .repeat = 2}),
              HasSubstr("samples is 1, where 2"));
  EXPECT_THAT(complaint_about(all, {.samples = 2, .repeat = 1}), HasSubstr("repeat is 1, where 2"));
  EXPECT_THAT(complaint_about(all, {.samples = 2, .repeat = 2, .differing_elements = -1}),
              HasSubstr("differing_elements is -1"));
}

// ---- memory and profile -------------------------------------------------------------------------

TEST(MemoryCheck, WantsItsStagesAndNothingBelowNothing) {
  const Observe asked{.iterations = 4, .leak_loads = 2};
  MemoryReport honest{.inferences = 4};
  for (const auto* name : {"start", "loaded", "first", "steady", "unloaded"}) {
    honest.stages.push_back({.name = name, .rss_bytes = 1});
  }
  honest.leak_series = {{.cycle = "load", .private_dirty_bytes = {1, 2}, .stopped_by = "count"}};
  EXPECT_TRUE(check_memory_report(honest, asked));
  const auto lie = [&](const std::function<void(MemoryReport&)>& change) {
    auto report = honest;
    change(report);
    const auto status = check_memory_report(report, asked);
    return status ? "" : status.error().message;
  };
  EXPECT_THAT(lie([](auto& r) { r.stages.clear(); }), HasSubstr("0 stages"));
  EXPECT_THAT(lie([](auto& r) { r.stages[3].rss_bytes = -7; }),
              HasSubstr("stage steady: rss_bytes is -7"));
  EXPECT_THAT(lie([](auto& r) { r.inferences = 5; }), HasSubstr("inferences is 5, where 4"));
  EXPECT_THAT(lie([](auto& r) { r.leak_series.clear(); }), HasSubstr("leak_series is 0, where 1"));
  EXPECT_THAT(lie([](auto& r) { r.leak_series[0].private_dirty_bytes.pop_back(); }),
              HasSubstr("readings in private_dirty_bytes is 1"));
}

TEST(ProfileCheck, RefersToEventsThatAreThere) {
  const Observe asked{.iterations = 2};
  const ProfileReport honest{.iterations = 2,
                             .events = {{.name = "execute", .count = 2, .total_ns = 8}},
                             .spans = {{.event = 0, .iteration = 1, .start_ns = 5}}};
  EXPECT_TRUE(check_profile_report(honest, asked, kWallNs));
  const auto lie = [&](const std::function<void(ProfileReport&)>& change) {
    auto report = honest;
    change(report);
    const auto status = check_profile_report(report, asked, kWallNs);
    return status ? "" : status.error().message;
  };
  EXPECT_THAT(lie([](auto& r) { r.iterations = 0; }), HasSubstr("iterations is 0"));
  EXPECT_THAT(lie([](auto& r) { r.spans[0].event = 1; }), HasSubstr("spans[0].event is 1"));
  EXPECT_THAT(lie([](auto& r) { r.spans[0].iteration = 2; }), HasSubstr("spans[0].iteration is 2"));
  EXPECT_THAT(lie([](auto& r) { r.events[0].total_ns = -1; }), HasSubstr("events[0].total_ns"));
  EXPECT_THAT(lie([](auto& r) { r.method_median_ns = 3 * kWallNs; }),
              HasSubstr("method_median_ns"));
  EXPECT_THAT(lie([](auto& r) { r.counters = {{.name = "cycles", .value = -1.0}}; }),
              HasSubstr("counters[0] is -1"));
}

}  // namespace
}  // namespace assay::wire
