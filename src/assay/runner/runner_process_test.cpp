#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include <sys/wait.h>

#include "assay/base/fs.h"
#include "assay/engine/engine.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

using testing::HasSubstr;
using wire::Frame;
using wire::frame_of;
using wire::MessageType;

/// Runs the real assay-runner-fake, which is next to this test's executable.
class RunnerProcessTest : public testing::Test {
 protected:
  int run(const std::string& arguments) {
    const auto runner = executable_folder() / "assay-runner-fake";
    const auto command =
        "'" + runner.string() + "' " + arguments + " >" + out() + ".stdout 2>" + out() + ".stderr";
    return std::system(command.c_str());  // NOLINT(cert-env33-c,concurrency-mt-unsafe)
  }

  int run_job(const std::string& program, bool is_streamed = false) {
    std::ofstream(path("m.fake.json")) << program;
    std::ofstream file(path("in"), std::ios::binary);
    for (const auto& frame :
         {frame_of(MessageType::kLoad, 1, wire::Load{.entry = path("m.fake.json")}),
          frame_of(MessageType::kMeasure, 2,
                   wire::Measure{.inputs = {.is_generated = true}, .plan = {.iterations = 3}}),
          Frame{.type = MessageType::kBye, .request = 3}}) {
      const auto bytes = wire::bytes_from_frame(frame);
      file.write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
    }
    file.close();
    return is_streamed ? run("<" + path("in"))
                       : run("--job " + path("in") + " --out " + path("out"));
  }

  std::vector<Frame> frames_in(const std::string& name) {
    const auto bytes = read_file(path(name)).value();
    return wire::frames_from_bytes(std::as_bytes(std::span(bytes))).frames;
  }

  std::string path(const std::string& name) { return folder_.path() / name; }
  std::string out() { return path("out"); }

  TemporaryFolder folder_ = TemporaryFolder::make("runner").value();
};

TEST_F(RunnerProcessTest, DescribesItsEngineOnStdout) {
  EXPECT_EQ(run("--describe"), 0);
  const auto json = read_json_file(path("out.stdout")).value();
  EXPECT_EQ(json.get<EngineDescription>().name, "fake");
}

TEST_F(RunnerProcessTest, ServesStandardStreamsAndFilesAlike) {
  for (const bool is_streamed : {false, true}) {
    EXPECT_EQ(run_job("{}", is_streamed), 0);
    const auto frames = frames_in(is_streamed ? "out.stdout" : "out");
    ASSERT_EQ(frames.size(), 6U) << is_streamed;
    EXPECT_EQ(frames[4].type, MessageType::kMeasure);
    EXPECT_EQ(frames[5].type, MessageType::kBye);
  }
}

TEST_F(RunnerProcessTest, KeepsTheWireCleanWhenALibraryPrints) {
  EXPECT_EQ(run_job(R"({"misbehave": {"at": "load", "do": "print_stdout"}})", true), 0);
  EXPECT_EQ(frames_in("out.stdout").size(), 6U);
  EXPECT_THAT(read_file(path("out.stderr")).value(), HasSubstr("a library prints"));
}

TEST_F(RunnerProcessTest, LetsFaultInjectionReachTheWire) {
  run_job(R"({"misbehave": {"at": "load", "do": "garbage_on_wire"}})", true);
  const auto bytes = read_file(path("out.stdout")).value();
  const auto sequence = wire::frames_from_bytes(std::as_bytes(std::span(bytes)));
  EXPECT_FALSE(sequence.status);
  EXPECT_EQ(sequence.frames.size(), 1U) << "the stage note stands before the garbage";
}

TEST_F(RunnerProcessTest, LeavesTheStageOfItsDeathOnTheWire) {
  const int status =
      run_job(R"({"misbehave": {"at": "steady", "do": "segfault", "after": 2}})", true);
  EXPECT_NE(status, 0);
  const auto frames = frames_in("out.stdout");
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames.back().type, MessageType::kStage);
  EXPECT_EQ(wire::body_of<wire::StageNote>(frames.back())->stage, Stage::kSteady);
}

TEST_F(RunnerProcessTest, RefusesWrongArgumentsAndMissingJobs) {
  EXPECT_EQ(WEXITSTATUS(run("--frobnicate")), 2);
  EXPECT_THAT(read_file(path("out.stderr")).value(), HasSubstr("--frobnicate"));
  EXPECT_EQ(WEXITSTATUS(run("--job " + path("in"))), 2);
  EXPECT_EQ(WEXITSTATUS(run("--job /nowhere --out " + path("out"))), 3);
}

TEST_F(RunnerProcessTest, EndsWithAnErrorFrameWhenTheWireIsDamaged) {
  std::ofstream(path("in")) << "this is no frame, though it is longer than a header would be";
  EXPECT_EQ(WEXITSTATUS(run("<" + path("in"))), 3);
  const auto frames = frames_in("out.stdout");
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].type, MessageType::kError);
}

}  // namespace
}  // namespace assay
