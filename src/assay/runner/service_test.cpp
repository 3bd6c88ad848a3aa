#include "assay/runner/service.h"

#include <cstring>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/engines/fake/fake_engine.h"
#include "assay/tensor/safetensors.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using wire::Frame;
using wire::frame_of;
using wire::MessageType;

MemoryProbe fake_probe() {
  return {.read_stage = [](std::string_view name,
                           std::span<const std::string> /*files*/) -> Result<MemoryStage> {
            return MemoryStage{.name = std::string(name), .private_dirty_bytes = 10};
          },
          .read_allocations = [] { return std::optional<AllocationCounts>(); },
          .read_private_dirty_bytes = []() -> Result<std::int64_t> { return 10; }};
}

/// Serves frames through files, as --job does.
class ServiceTest : public testing::Test {
 protected:
  std::string write_program(const std::string& text) {
    const auto path = folder_.path() / "m.fake.json";
    std::ofstream(path) << text;
    return path;
  }

  std::vector<Frame> serve(const std::vector<Frame>& requests, MemoryProbe probe = fake_probe()) {
    const auto in = folder_.path() / "in";
    const auto out = folder_.path() / "out";
    write_requests(in, requests);
    const int read_fd = ::open(in.c_str(), O_RDONLY);
    const int write_fd = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    wire::Channel channel(read_fd, write_fd);
    status_ = RunnerService(engine_, channel, std::move(probe)).serve();
    ::close(read_fd);
    ::close(write_fd);
    const auto bytes = read_file(out).value();
    return wire::frames_from_bytes(std::as_bytes(std::span(bytes))).frames;
  }

  static void write_requests(const std::filesystem::path& path,
                             const std::vector<Frame>& requests) {
    std::ofstream file(path, std::ios::binary);
    for (const auto& request : requests) {
      const auto bytes = wire::bytes_from_frame(request);
      file.write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
    }
  }

  TemporaryFolder folder_ = TemporaryFolder::make("service").value();
  fake::FakeEngine engine_;
  Status status_;
};

constexpr const char* kAddOne =
    R"({"inputs": [{"name": "x", "dtype": "float32", "shape": [2]}],
        "outputs": [{"name": "y", "dtype": "float32", "shape": [2]}],
        "output": {"rule": "affine", "a": 1, "b": 1}})";

const wire::InputSource kGenerated{.is_generated = true};

Frame load_frame(const std::string& entry, Json options = Json::object()) {
  return frame_of(MessageType::kLoad, 1, wire::Load{.entry = entry, .options = std::move(options)});
}

std::vector<Stage> stages_in(const std::vector<Frame>& frames) {
  std::vector<Stage> stages;
  for (const auto& frame : frames) {
    if (frame.type == MessageType::kStage) {
      stages.push_back(wire::body_of<wire::StageNote>(frame).value().stage);
    }
  }
  return stages;
}

wire::ErrorBody error_in(const Frame& frame) {
  EXPECT_EQ(frame.type, MessageType::kError) << frame.body.dump();
  return wire::body_of<wire::ErrorBody>(frame).value_or(wire::ErrorBody{});
}

TEST_F(ServiceTest, GreetsWithItsEngineAndTarget) {
  const auto replies = serve({frame_of(MessageType::kHello, 7, wire::Hello{.program = "assay"})});
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].request, 7U);
  const auto hello = wire::body_of<wire::Hello>(replies[0]).value();
  EXPECT_EQ(hello.program, "assay-runner-fake");
  EXPECT_EQ(hello.engine, "fake");
  EXPECT_THAT(hello.target, HasSubstr("-"));
  EXPECT_GT(hello.clock_resolution_ns, 0);
}

TEST_F(ServiceTest, RefusesAProtocolItDoesNotSpeak) {
  const auto replies = serve(
      {frame_of(MessageType::kHello, 1, wire::Hello{.protocol_min = 99, .protocol_max = 100})});
  EXPECT_EQ(error_in(replies.at(0)).code, ErrorCode::kUnsupported);
}

TEST_F(ServiceTest, LoadsAndMeasuresInOneGo) {
  const MeasurePlan plan{.warmup_iterations = 2, .iterations = 5};
  const auto replies =
      serve({load_frame(write_program(kAddOne)),
             frame_of(MessageType::kMeasure, 2, wire::Measure{.inputs = kGenerated, .plan = plan}),
             Frame{.type = MessageType::kBye, .request = 3}});
  EXPECT_THAT(stages_in(replies), ElementsAre(Stage::kLoad, Stage::kFirst, Stage::kSteady));
  ASSERT_EQ(replies.size(), 6U);
  EXPECT_EQ(replies[1].type, MessageType::kLoad);
  EXPECT_EQ(wire::body_of<LoadReport>(replies[1])->inputs.at(0).name, "x");
  EXPECT_EQ(replies[4].type, MessageType::kMeasure);
  EXPECT_EQ(wire::body_of<Measurement>(replies[4])->iterations, 5);
  EXPECT_EQ(wire::samples_from_blob(replies[4].blob).value().execute_ns.size(), 7U);
  EXPECT_EQ(replies[5].type, MessageType::kBye);
  EXPECT_TRUE(status_);
}

TEST_F(ServiceTest, InfersSamplesFromTheBlobAndReturnsInputs) {
  Tensor input = Tensor::zeros(Dtype::kFloat32, {2});
  const float values[] = {4, 5};
  std::memcpy(input.data.data(), values, sizeof values);
  Frame infer =
      frame_of(MessageType::kInfer, 2,
               wire::Infer{.inputs = {.in_blob = true}, .repeat = 3, .return_inputs = true});
  infer.blob = safetensors_from_tensors(std::vector<NamedTensor>{{"0.0", input}});
  const auto replies = serve({load_frame(write_program(kAddOne)), infer});
  EXPECT_THAT(stages_in(replies),
              ElementsAre(Stage::kLoad, Stage::kFirst, Stage::kSteady, Stage::kFetch));
  const auto reply = wire::body_of<wire::InferReply>(replies.back()).value();
  EXPECT_EQ(reply.repeat, 3);
  EXPECT_EQ(reply.differing_elements, 0);
  const auto tensors = tensors_from_safetensors(replies.back().blob).value();
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].name, "0.0");
  EXPECT_THAT(doubles_from_tensor(tensors[0].tensor.view()), ElementsAre(5, 6));
  EXPECT_EQ(tensors[1].name, "in.0.0");
  EXPECT_THAT(doubles_from_tensor(tensors[1].tensor.view()), ElementsAre(4, 5));
}

TEST_F(ServiceTest, CountsElementsThatDifferBetweenRepeats) {
  const auto program = write_program(
      R"({"outputs": [{"dtype": "float64", "shape": [50]}], "output": {"rule": "random"}})");
  const auto replies =
      serve({load_frame(program),
             frame_of(MessageType::kInfer, 2, wire::Infer{.inputs = kGenerated, .repeat = 2})});
  const auto reply = wire::body_of<wire::InferReply>(replies.back()).value();
  EXPECT_GT(reply.differing_elements, 25);
  EXPECT_LE(reply.differing_elements, 50);
}

TEST_F(ServiceTest, RefusesMoreSamplesThanAnAnswerHolds) {
  const auto program = write_program(kAddOne);
  const wire::InputSource many{.is_generated = true, .samples = 600'000};
  const auto replies =
      serve({load_frame(program),
             frame_of(MessageType::kInfer, 2, wire::Infer{.inputs = many, .return_inputs = true})});
  const auto error = error_in(replies.back());
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("500000 samples or fewer"));
}

TEST_F(ServiceTest, TakesARefusalInTheMiddleOfAnInferenceForAFault) {
  const auto program = write_program(
      R"({"misbehave": {"at": "steady", "do": "error", "after": 2, "code": "unsupported"}})");
  const wire::InputSource three{.is_generated = true, .samples = 3};
  const auto replies =
      serve({load_frame(program), frame_of(MessageType::kInfer, 2, wire::Infer{.inputs = three})});
  EXPECT_EQ(error_in(replies.back()).code, ErrorCode::kEngine);
}

TEST_F(ServiceTest, SaysAtWhichSampleAnInferenceFails) {
  const auto program =
      write_program(R"({"misbehave": {"at": "steady", "do": "error", "after": 2}})");
  const wire::InputSource three{.is_generated = true, .samples = 3};
  const auto replies =
      serve({load_frame(program), frame_of(MessageType::kInfer, 2, wire::Infer{.inputs = three})});
  EXPECT_EQ(error_in(replies.back()).message, "sample 2: failure on order");
}

TEST_F(ServiceTest, ObservesMemoryAtFiveStagesAndUnloads) {
  const wire::Observe observe{.inputs = kGenerated, .iterations = 2};
  const auto replies =
      serve({load_frame(write_program(kAddOne)), frame_of(MessageType::kMemory, 2, observe),
             frame_of(MessageType::kMemory, 3, observe)});
  EXPECT_THAT(stages_in(replies),
              ElementsAre(Stage::kLoad, Stage::kFirst, Stage::kSteady, Stage::kUnload));
  const auto& reply = replies.at(replies.size() - 2);
  ASSERT_EQ(reply.type, MessageType::kMemory) << reply.body.dump();
  EXPECT_EQ(wire::body_of<MemoryReport>(reply)->stages.size(), 5U);
  EXPECT_THAT(error_in(replies.back()).message, HasSubstr("memory pass unloaded it"));
}

TEST_F(ServiceTest, TellsWhenTheSystemShowsNoMemory) {
  const auto replies = serve({load_frame(write_program(kAddOne)),
                              frame_of(MessageType::kMemory, 2, wire::Observe{kGenerated, 2})},
                             {});
  EXPECT_EQ(error_in(replies.back()).code, ErrorCode::kUnavailable);
}

TEST_F(ServiceTest, Profiles) {
  const auto replies = serve({load_frame(write_program(kAddOne)),
                              frame_of(MessageType::kProfile, 2, wire::Observe{kGenerated, 4})});
  const auto report = wire::body_of<ProfileReport>(replies.back()).value();
  EXPECT_EQ(report.iterations, 4);
  EXPECT_EQ(report.events.at(0).count, 4);
}

TEST_F(ServiceTest, AnswersErrorsWithTheirStageAndStaysAlive) {
  const auto program = write_program(
      R"({"misbehave": {"at": "steady", "do": "error", "after": 3, "code": "exhausted"}})");
  const auto replies =
      serve({frame_of(MessageType::kMeasure, 1, wire::Measure{.inputs = kGenerated}),
             load_frame("/nowhere.fake.json"), load_frame(program),
             frame_of(MessageType::kMeasure, 4, wire::Measure{.inputs = kGenerated}),
             Frame{.type = MessageType::kUnload, .request = 5},
             Frame{.type = MessageType::kBye, .request = 6}});
  std::vector<wire::ErrorBody> errors;
  for (const auto& reply : replies) {
    if (reply.type == MessageType::kError) {
      errors.push_back(error_in(reply));
    }
  }
  ASSERT_EQ(errors.size(), 3U);
  EXPECT_THAT(errors[0].message, HasSubstr("send load first"));
  EXPECT_EQ(errors[1].code, ErrorCode::kNotFound);
  EXPECT_EQ(errors[1].stage, Stage::kLoad);
  EXPECT_EQ(errors[2].code, ErrorCode::kExhausted);
  EXPECT_EQ(errors[2].stage, Stage::kSteady);
  EXPECT_EQ(replies.back().type, MessageType::kBye);
}

TEST_F(ServiceTest, HandsOnTheEnginesOwnCode) {
  const auto program = write_program(
      R"({"misbehave": {"at": "load", "do": "error", "message": "why", "engine_code": "0x20"}})");
  EXPECT_EQ(error_in(serve({load_frame(program)}).back()).engine_code, "0x20");
}

TEST_F(ServiceTest, TakesNoEngineCodeFromAText) {
  const auto program = write_program(
      R"({"misbehave": {"at": "load", "do": "error", "message": "at (0x7f21) is no code"}})");
  EXPECT_EQ(error_in(serve({load_frame(program)}).back()).engine_code, "");
}

TEST_F(ServiceTest, SurvivesAnEngineThatThrows) {
  const auto program = write_program(R"({"misbehave": {"at": "first", "do": "throw"}})");
  const auto replies = serve(
      {load_frame(program), frame_of(MessageType::kMeasure, 2, wire::Measure{.inputs = kGenerated}),
       frame_of(MessageType::kDescribe, 3, Json::object())});
  const auto error = error_in(replies.at(replies.size() - 2));
  EXPECT_EQ(error.code, ErrorCode::kEngine);
  EXPECT_THAT(error.message, HasSubstr("exception on order"));
  EXPECT_EQ(wire::body_of<EngineDescription>(replies.back())->name, "fake");
}

TEST_F(ServiceTest, ValidatesOptionsBeforeTheEngineSeesThem) {
  const auto replies = serve({load_frame(write_program(kAddOne), {{"treads", 2}})});
  EXPECT_THAT(error_in(replies.back()).message, HasSubstr("did you mean 'threads'"));
}

TEST_F(ServiceTest, ForgetsStateAndUnloadsOnRequest) {
  const auto replies = serve({load_frame(write_program(kAddOne)),
                              Frame{.type = MessageType::kResetState, .request = 2},
                              Frame{.type = MessageType::kUnload, .request = 3},
                              Frame{.type = MessageType::kResetState, .request = 4}});
  EXPECT_EQ(replies.at(2).type, MessageType::kResetState);
  EXPECT_EQ(replies.at(4).type, MessageType::kUnload);
  EXPECT_THAT(error_in(replies.at(5)).message, HasSubstr("it was unloaded"));
}

TEST_F(ServiceTest, RefusesMessagesItDoesNotKnowOrServe) {
  const auto replies = serve({Frame{.type = static_cast<MessageType>(999), .request = 1},
                              Frame{.type = MessageType::kSpawn, .request = 2},
                              Frame{.type = MessageType::kBye, .request = 3}});
  EXPECT_EQ(error_in(replies.at(0)).code, ErrorCode::kUnsupported);
  EXPECT_EQ(error_in(replies.at(1)).code, ErrorCode::kUnsupported);
  EXPECT_EQ(replies.back().type, MessageType::kBye);
}

TEST_F(ServiceTest, RefusesMalformedBodies) {
  Frame request{.type = MessageType::kLoad, .request = 1};
  request.body = {{"entry", 7}};
  EXPECT_EQ(error_in(serve({request}).back()).code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace assay
