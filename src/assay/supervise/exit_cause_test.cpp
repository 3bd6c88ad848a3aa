#include "assay/supervise/exit_cause.h"

#include <cstddef>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

using testing::HasSubstr;
using wire::Frame;
using wire::FrameSequence;
using wire::MessageType;

Frame stage_frame(Stage stage) {
  return wire::frame_of(MessageType::kStage, 2, wire::StageNote{stage});
}
Frame answer_frame(MessageType type) { return {.type = type, .request = 2}; }
Frame refusal(ErrorCode code, Stage stage) {
  return wire::error_frame(2, {.code = code, .message = "no such file"}, stage);
}

/// Frames of a runner that completed.
FrameSequence whole() {
  return {.frames = {answer_frame(MessageType::kHello), stage_frame(Stage::kLoad),
                     answer_frame(MessageType::kLoad), stage_frame(Stage::kSteady),
                     answer_frame(MessageType::kMeasure), answer_frame(MessageType::kBye)}};
}

FrameSequence cut_after(std::size_t frames) {
  auto sequence = whole();
  sequence.frames.resize(frames);
  return sequence;
}

ProcessEnd exited(int code) { return {.exit_code = code}; }
ProcessEnd signalled(int number, const char* name) {
  return {.exit_code = -1, .signal = number, .signal_name = name};
}

TEST(ExitCause, IsNoneForARunnerThatSaidBye) {
  const auto cause = find_exit_cause(exited(0), whole());
  EXPECT_EQ(cause.outcome, Outcome::kCompleted);
  EXPECT_EQ(cause.stage, Stage::kDone);
  EXPECT_EQ(cause.reason_code, "");
}

TEST(ExitCause, IsTheSignalInTheStageItWasIn) {
  auto end = signalled(11, "SIGSEGV");
  end.last_words = "first\nAddress not mapped\n";
  const auto cause = find_exit_cause(end, cut_after(4));
  EXPECT_EQ(cause.outcome, Outcome::kCrashed);
  EXPECT_EQ(cause.stage, Stage::kSteady);
  EXPECT_EQ(cause.reason_code, "SIGSEGV");
  EXPECT_THAT(cause.text,
              HasSubstr("in stage steady; its last line on stderr: Address not mapped"));
}

TEST(ExitCause, BeforeAnyStageIsAtTheStart) {
  const auto cause = find_exit_cause(signalled(6, "SIGABRT"), {});
  EXPECT_EQ(cause.stage, Stage::kStart);
  EXPECT_EQ(cause.reason_code, "SIGABRT");
}

TEST(ExitCause, IsWhatTheSupervisorDidBeforeAllElse) {
  auto end = signalled(9, "SIGKILL");
  end.is_timed_out = true;
  auto cause = find_exit_cause(end, cut_after(2));
  EXPECT_EQ(cause.outcome, Outcome::kTimedOut);
  EXPECT_EQ(cause.stage, Stage::kLoad);
  EXPECT_EQ(cause.reason_code, "deadline");
  end = signalled(9, "SIGKILL");
  end.is_out_of_memory = true;
  cause = find_exit_cause(end, cut_after(2));
  EXPECT_EQ(cause.outcome, Outcome::kOutOfMemory);
  EXPECT_EQ(cause.reason_code, "out_of_memory");
  end = signalled(9, "SIGKILL");
  end.is_output_exceeded = true;
  EXPECT_EQ(find_exit_cause(end, cut_after(2)).reason_code, "output_limit");
}

TEST(ExitCause, IsAKillFromOutsideWhenWeDidNothing) {
  const auto cause = find_exit_cause(signalled(9, "SIGKILL"), cut_after(4));
  EXPECT_EQ(cause.outcome, Outcome::kCrashed);
  EXPECT_EQ(cause.reason_code, "SIGKILL");
  EXPECT_EQ(cause.text, "ended by SIGKILL in stage steady, perhaps for want of memory");
}

TEST(ExitCause, IsAnExitThatCameTooEarly) {
  const auto cause = find_exit_cause(exited(0), cut_after(4));
  EXPECT_EQ(cause.outcome, Outcome::kCrashed);
  EXPECT_EQ(cause.stage, Stage::kSteady);
  EXPECT_EQ(cause.reason_code, "exited_early");
  EXPECT_EQ(find_exit_cause(exited(0), {}).reason_code, "exited_early");
}

TEST(ExitCause, IsTheExitCode) {
  auto end = exited(3);
  end.last_words = "ImportError: no module named x\n";
  const auto cause = find_exit_cause(end, cut_after(1));
  EXPECT_EQ(cause.outcome, Outcome::kCrashed);
  EXPECT_EQ(cause.reason_code, "exit_code_3");
  EXPECT_THAT(cause.text, HasSubstr("ImportError"));
  EXPECT_EQ(find_exit_cause(exited(3), whole()).reason_code, "exit_code_3");
}

TEST(ExitCause, IsGarbageOnTheWire) {
  auto bytes = wire::bytes_from_frame(answer_frame(MessageType::kHello));
  bytes.resize(bytes.size() + 40, std::byte{'x'});
  const auto cause = find_exit_cause(exited(0), wire::frames_from_bytes(bytes));
  EXPECT_EQ(cause.outcome, Outcome::kCrashed);
  EXPECT_EQ(cause.reason_code, "garbage_on_wire");
}

TEST(ExitCause, TellsHalfAnAnswerFromGarbage) {
  auto bytes = wire::bytes_from_frame(answer_frame(MessageType::kHello));
  bytes.pop_back();
  const auto answers = wire::frames_from_bytes(bytes);
  EXPECT_EQ(find_exit_cause(exited(0), answers).reason_code, "truncated_answer");
  EXPECT_EQ(find_exit_cause(signalled(11, "SIGSEGV"), answers).reason_code, "SIGSEGV");
}

TEST(ExitCause, IsTheErrorThatWasItsLastAnswer) {
  auto answers = cut_after(2);
  answers.frames.push_back(refusal(ErrorCode::kNotFound, Stage::kLoad));
  auto cause = find_exit_cause(exited(1), answers);
  EXPECT_EQ(cause.outcome, Outcome::kLoadError);
  EXPECT_EQ(cause.stage, Stage::kLoad);
  EXPECT_EQ(cause.reason_code, "not_found");
  EXPECT_EQ(cause.text, "no such file");
  cause = find_exit_cause(signalled(11, "SIGSEGV"), answers);
  EXPECT_EQ(cause.outcome, Outcome::kLoadError);
  EXPECT_THAT(cause.text, HasSubstr("then ended by SIGSEGV"));
}

TEST(ExitCause, IsNotAnErrorThatItSurvived) {
  auto answers = cut_after(2);
  answers.frames.push_back(refusal(ErrorCode::kUnsupported, Stage::kLoad));
  answers.frames.push_back(stage_frame(Stage::kSteady));
  answers.frames.push_back(answer_frame(MessageType::kInfer));
  EXPECT_EQ(find_exit_cause(signalled(11, "SIGSEGV"), answers).reason_code, "SIGSEGV");
  answers.frames.push_back(answer_frame(MessageType::kBye));
  EXPECT_EQ(find_exit_cause(exited(0), answers).outcome, Outcome::kCompleted);
}

TEST(ExitCause, SurvivesAMalformedStage) {
  FrameSequence answers;
  answers.frames.push_back({.type = MessageType::kStage, .body = {{"stage", 7}}});
  EXPECT_EQ(find_exit_cause(signalled(11, "SIGSEGV"), answers).stage, Stage::kStart);
}

}  // namespace
}  // namespace assay
