#include "assay/campaign/campaign.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/uuid.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/launch_schedule.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

using testing::HasSubstr;
using wire::Frame;
using wire::MessageType;

// ---- plan --------------------------------------------------------------------------------------

TEST(Plan, PutsTimingLastAndGoesRoundRobin) {
  const auto steps = schedule_launches(3, {Pass::kTiming, Pass::kEvaluate}, 2, 7);
  ASSERT_EQ(steps.size(), 3U + 6U);
  EXPECT_TRUE(std::all_of(steps.begin(), steps.begin() + 3,
                          [](const ScheduledLaunch& s) { return s.pass == Pass::kEvaluate; }));
  for (int round = 0; round < 2; ++round) {
    std::vector<std::size_t> cells;
    for (int i = 0; i < 3; ++i) {
      const int at = 3 + round * 3 + i;
      const auto& step = steps[static_cast<std::size_t>(at)];
      EXPECT_EQ(step.pass, Pass::kTiming);
      EXPECT_EQ(step.index, round);
      cells.push_back(step.cell);
    }
    EXPECT_THAT(cells, testing::UnorderedElementsAre(0, 1, 2));
  }
}

TEST(Plan, IsReplayedByItsSeedAndChangedByAnother) {
  const auto cells = [](std::uint64_t seed) {
    std::vector<std::size_t> order;
    for (const auto& step : schedule_launches(20, {Pass::kTiming}, 1, seed)) {
      order.push_back(step.cell);
    }
    return order;
  };
  EXPECT_EQ(cells(1), cells(1));
  EXPECT_NE(cells(1), cells(2));
}

// ---- answers -----------------------------------------------------------------------------------

LaunchRequest timing_order() {
  return {.pass = Pass::kTiming, .plan = {.warmup_iterations = 1, .iterations = 1}};
}

/// The answer of a healthy runner to a timing launch, cut to `frames` frames.
SpawnResult timing_answer(int frames = 5) {
  Measurement measurement{.first = {1, 50, 1},
                          .warmup_iterations = 1,
                          .iterations = 1,
                          .stopped_by = "count",
                          .inferences = 2,
                          .inferences_ns = 40,
                          .wall_ns = 20};
  auto measure = wire::frame_of(MessageType::kMeasure, 3, measurement);
  measure.blob =
      wire::blob_from_samples({.bind_ns = {1, 1}, .execute_ns = {20, 10}, .fetch_ns = {1, 1}});
  const std::vector<Frame> all = {
      wire::frame_of(MessageType::kHello, 1, wire::Hello{.program = "fake"}),
      wire::frame_of(MessageType::kLoad, 2, LoadReport{.stages = {{"program", 30}}}),
      measure,
      wire::frame_of(MessageType::kUnload, 4, Json::object()),
      wire::frame_of(MessageType::kBye, 5, Json::object()),
  };
  SpawnResult result;
  result.end.exit_code = 0;
  result.end.wall_ns = 1000;
  for (int i = 0; i < frames; ++i) {
    wire::append_frame(result.output, all[static_cast<std::size_t>(i)]);
  }
  return result;
}

TEST(Answer, BringsSamplesAndOverheadBack) {
  const auto launch = result_from_answer(timing_answer(), timing_order()).launch;
  EXPECT_EQ(launch.outcome, Outcome::kCompleted);
  ASSERT_TRUE(launch.measurement.has_value());
  EXPECT_EQ(launch.measurement->samples.execute_ns, (std::vector<std::int64_t>{20, 10}));
  // 1000 less 30 for loading, 52 for the first inference and 40 for the others, of which 34 are
  // samples: pauses and inferences without a sample are no overhead.
  EXPECT_EQ(launch.overhead_ns, 1000 - 30 - 52 - 40);
}

TEST(Answer, ThatBreaksOffIsACrashAtTheStageThatWasTold) {
  auto result = timing_answer(2);
  wire::append_frame(result.output, wire::frame_of(MessageType::kStage, 3,
                                                   wire::StageNote{.stage = Stage::kSteady}));
  result.end.exit_code = -1;
  result.end.signal = 11;
  result.end.signal_name = "SIGSEGV";
  const auto launch = result_from_answer(result, timing_order()).launch;
  EXPECT_EQ(launch.outcome, Outcome::kCrashed);
  EXPECT_EQ(launch.stage, Stage::kSteady);
  EXPECT_EQ(launch.reason_code, "SIGSEGV");
  EXPECT_TRUE(launch.load.has_value());
}

TEST(Answer, OfAnErrorIsItsOutcome) {
  SpawnResult result = timing_answer(1);
  wire::append_frame(result.output,
                     wire::error_frame(2, {.code = ErrorCode::kCorrupt, .message = "not a program"},
                                       Stage::kLoad));
  wire::append_frame(result.output, wire::frame_of(MessageType::kBye, 5, Json::object()));
  const auto launch = result_from_answer(result, timing_order()).launch;
  EXPECT_EQ(launch.outcome, Outcome::kLoadError);
  EXPECT_EQ(launch.stage, Stage::kLoad);
  EXPECT_EQ(launch.text, "not a program");
}

/// A whole conversation in which one answer has been changed.
SpawnResult answer_with(const Frame& changed) {
  auto result = timing_answer();
  auto frames = wire::frames_from_bytes(result.output).frames;
  result.output.clear();
  for (const auto& frame : frames) {
    wire::append_frame(result.output, frame.request == changed.request ? changed : frame);
  }
  return result;
}

TEST(Answer, WithMalformedSamplesIsTheRunnersFailure) {
  auto measure = wire::frame_of(MessageType::kMeasure, 3, Measurement{});
  measure.blob.resize(5);
  const auto launch = result_from_answer(answer_with(measure), timing_order()).launch;
  EXPECT_EQ(launch.outcome, Outcome::kRunError);
  EXPECT_EQ(launch.stage, Stage::kFetch);
  EXPECT_EQ(launch.reason_code, "malformed_answer");
  EXPECT_THAT(launch.text, HasSubstr("5 bytes of samples"));
  EXPECT_FALSE(launch.measurement.has_value());
}

TEST(Answer, ThatLoadedWithOptionsThatAreNoneLeavesNothingBehind) {
  const auto load = wire::frame_of(MessageType::kLoad, 2, Json{{"effective_options", {1, 2}}});
  const auto launch = result_from_answer(answer_with(load), timing_order()).launch;
  EXPECT_EQ(launch.outcome, Outcome::kLoadError);
  EXPECT_EQ(launch.stage, Stage::kLoad);
  EXPECT_EQ(launch.reason_code, "malformed_answer");
  EXPECT_THAT(launch.text, HasSubstr("effective_options is of the type array"));
  EXPECT_FALSE(launch.load.has_value());
  EXPECT_FALSE(launch.measurement.has_value());
}

TEST(Answer, ThatComesTwiceIsTheRunnersFailure) {
  auto result = timing_answer(4);
  wire::append_frame(result.output, wire::frame_of(MessageType::kUnload, 4, Json::object()));
  wire::append_frame(result.output, wire::frame_of(MessageType::kBye, 5, Json::object()));
  const auto launch = result_from_answer(result, timing_order()).launch;
  EXPECT_EQ(launch.reason_code, "malformed_answer");
  EXPECT_THAT(launch.text, HasSubstr("unload was answered twice"));
}

TEST(Answer, OfAnErrorThatIsNoneIsMalformed) {
  const auto error = wire::frame_of(MessageType::kError, 3, Json{{"code", 17}});
  const auto launch = result_from_answer(answer_with(error), timing_order()).launch;
  EXPECT_EQ(launch.outcome, Outcome::kRunError);
  EXPECT_EQ(launch.reason_code, "malformed_answer");
}

TEST(Job, AsksForOneProgramAndOnePassInOneGo) {
  LaunchRequest order;
  order.artifact = {.folder = "/a",
                    .entry = "p.pte",
                    .files = {{"p.pte", "program", 1, ""}, {"w.ptd", "data", 1, ""}}};
  order.pass = Pass::kEvaluate;
  const auto sequence = wire::frames_from_bytes(job_bytes(order));
  ASSERT_TRUE(sequence.status);
  ASSERT_EQ(sequence.frames.size(), 5U);
  const auto load = wire::body_of<wire::Load>(sequence.frames[1]).value();
  EXPECT_EQ(load.entry, "/a/p.pte");
  EXPECT_EQ(load.data, std::vector<std::string>{"/a/w.ptd"});
  EXPECT_EQ(sequence.frames[2].type, MessageType::kInfer);
  EXPECT_EQ(sequence.frames[4].type, MessageType::kBye);
}

}  // namespace
}  // namespace assay
