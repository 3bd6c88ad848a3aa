#include "assay/campaign/launch_conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/run_context.h"
#include "assay/record/case.h"
#include "assay/record/run.h"
#include "assay/record/sandbox.h"
#include "assay/record/subject.h"
#include "assay/wire/frame.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;

TEST(OwnCores, AlternateBetweenTurnsAndAreNoneWhereAllAreNeeded) {
  EXPECT_THAT(own_cores(0, 1, 2), ElementsAre(0));
  EXPECT_THAT(own_cores(1, 1, 2), ElementsAre(1));
  EXPECT_THAT(own_cores(1, 3, 4), ElementsAre(0, 1, 3));
  EXPECT_THAT(own_cores(5, 2, 2), IsEmpty());
  EXPECT_THAT(own_cores(5, 0, 2), IsEmpty());
}

class ApplyScenario : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = TemporaryFolder::make("assay-surroundings");
    ASSERT_TRUE(folder);
    folder_ = *std::move(folder);
    request_.artifact = {.folder = "/cache/1", .entry = "net.pte", .files = {{.name = "net.pte"}}};
  }

  Status apply(const Json& scenario, int turn = 0) {
    Case cell{.options = {{"threads", 1}}, .scenario = scenario};
    return apply_scenario(cell, turn, context_, folder_->path(), request_);
  }

  std::optional<TemporaryFolder> folder_;
  RunContext context_{.environment = {.cpus = 2},
                      .builds = {{.name = "executorch", .runner = "/bin/runner"}}};
  LaunchRequest request_;
};

TEST_F(ApplyScenario, AsksForNothingButWhatIsCachedWhenItIsEmpty) {
  ASSERT_TRUE(apply(Json::object()));
  EXPECT_EQ(request_.plan.gap_ns, 0);
  EXPECT_EQ(request_.plan.streams, 1);
  EXPECT_THAT(request_.cpus, IsEmpty());
  EXPECT_THAT(request_.surroundings.files, ElementsAre("/cache/1/net.pte"));
  EXPECT_EQ(request_.surroundings.page_cache, "");
  EXPECT_THAT(request_.surroundings.companions, IsEmpty());
}

TEST_F(ApplyScenario, ReachesPlanAndSurroundings) {
  ASSERT_TRUE(apply({{"gap_ns", 5'000'000},
                     {"streams", 2},
                     {"page_cache", "cold"},
                     {"cores", "0,2-3"},
                     {"background", "memory:2"},
                     {"cool_below_celsius", 45}}));
  EXPECT_EQ(request_.plan.gap_ns, 5'000'000);
  EXPECT_EQ(request_.plan.streams, 2);
  EXPECT_THAT(request_.cpus, ElementsAre(0, 2, 3));
  EXPECT_EQ(request_.surroundings.page_cache, "cold");
  EXPECT_EQ(request_.surroundings.cool_below_celsius, 45);
  ASSERT_EQ(request_.surroundings.companions.size(), 2U);
  EXPECT_THAT(request_.surroundings.companions[1].argv,
              ElementsAre("assay-agent", "--keep-busy", "memory"));
}

TEST_F(ApplyScenario, LetsASustainedLaunchLastAsLongAsItIsTo) {
  request_.limits.wall_ns = 620'000'000'000;
  ASSERT_TRUE(apply({{"duration_ns", 300'000'000'000}}));
  EXPECT_EQ(request_.plan.duration_ns, 300'000'000'000);
  EXPECT_EQ(request_.limits.wall_ns, 920'000'000'000);
  EXPECT_EQ(request_.trace_period_ns, kSensorsPeriodNs);
  context_.settings.launch_timeout_ns = 30'000'000'000;
  request_.limits.wall_ns = 30'000'000'000;
  ASSERT_TRUE(apply({{"duration_ns", 300'000'000'000}}));
  EXPECT_EQ(request_.limits.wall_ns, 30'000'000'000) << "the user's limit stays";
}

TEST_F(ApplyScenario, ReadsSensorsWhereTheyAreAskedForOrNeeded) {
  ASSERT_TRUE(apply(Json::object()));
  EXPECT_EQ(request_.trace_period_ns, 0);
  context_.settings.meter = {"read-meter"};
  ASSERT_TRUE(apply(Json::object()));
  EXPECT_EQ(request_.trace_period_ns, kSensorsPeriodNs);
  EXPECT_THAT(request_.meter, ElementsAre("read-meter"));
  context_.settings.sensors_period_ns = 250'000'000;
  ASSERT_TRUE(apply(Json::object()));
  EXPECT_EQ(request_.trace_period_ns, 250'000'000);
  context_.settings.sensors_period_ns = 0;
  ASSERT_TRUE(apply({{"duration_ns", 300'000'000'000}}));
  EXPECT_EQ(request_.trace_period_ns, 0);
}

TEST_F(ApplyScenario, GivesEachLaunchOwnCoresInTurn) {
  ASSERT_TRUE(apply({{"cores", "own"}}, 0));
  EXPECT_THAT(request_.cpus, ElementsAre(0));
  ASSERT_TRUE(apply({{"cores", "own"}}, 1));
  EXPECT_THAT(request_.cpus, ElementsAre(1));
}

TEST_F(ApplyScenario, TakesCoresByTheNamesOfTheDevice) {
  context_.environment.details[kCoresDetail] = {{"big", "4-5"}, {"little", "0-3"}};
  ASSERT_TRUE(apply({{"cores", "big"}}));
  EXPECT_THAT(request_.cpus, ElementsAre(4, 5));
  EXPECT_THAT(apply({{"cores", "mid"}}).error().message, HasSubstr("it has big 4-5, little 0-3"));
}

TEST_F(ApplyScenario, PinsNoThreadsOfStreamsThatWouldShareCores) {
  request_.build.details = {{"options", {{{"name", "pinning"}}}}};
  ASSERT_TRUE(apply({{"streams", 1}}));
  EXPECT_FALSE(request_.options.contains("pinning"));
  ASSERT_TRUE(apply({{"streams", 2}}));
  EXPECT_EQ(request_.options.at("pinning"), false);
  request_.options["pinning"] = true;
  ASSERT_TRUE(apply({{"streams", 2}}));
  EXPECT_EQ(request_.options.at("pinning"), true) << "as the user says";
  request_.options = Json::object();
  request_.build.details = {{"options", {{{"name", "threads"}}}}};
  ASSERT_TRUE(apply({{"streams", 2}}));
  EXPECT_FALSE(request_.options.contains("pinning")) << "an engine without the option";
}

TEST_F(ApplyScenario, WritesTheJobOfAProgramThatRunsBeside) {
  ASSERT_TRUE(apply({{"beside", "/models/kws.pte"}, {"beside_sha256", "12ab"}}));
  ASSERT_EQ(request_.surroundings.companions.size(), 1U);
  const auto& companion = request_.surroundings.companions[0];
  EXPECT_THAT(companion.argv, ElementsAre("/bin/runner"));
  ASSERT_EQ(request_.beside.size(), 1U);
  EXPECT_EQ(request_.beside[0].artifact.entry, "kws.pte") << "for a target that brings its files";
  const auto job = read_file(companion.input_file);
  ASSERT_TRUE(job) << job.error().message;
  const auto bytes = std::as_bytes(std::span(*job));
  const auto frames = wire::frames_from_bytes({bytes.begin(), bytes.end()}).frames;
  ASSERT_GE(frames.size(), 3U);
  EXPECT_EQ(frames[1].body.at("entry"), "/models/kws.pte");
  EXPECT_GE(frames[2].body.at("plan").at("duration_ns"), 100LL * 365 * 24 * 3600 * 1'000'000'000);
}

TEST_F(ApplyScenario, KeepsAProgramThatRunsBesideInTheSandboxOfItsKind) {
  const Json scenario{{"beside", "/models/kws.pte"}, {"beside_sha256", "12ab"}};
  ASSERT_TRUE(apply(scenario));
  EXPECT_EQ(request_.surroundings.companions[0].sandbox.mode, SandboxMode::kOff);
  context_.builds[0] = {
      .name = "command", .runner = "/bin/runner", .details = {{"formats", {"pte"}}}};
  request_.surroundings.companions.clear();
  ASSERT_TRUE(apply(scenario));
  const auto& box = request_.surroundings.companions[0].sandbox;
  EXPECT_EQ(box.mode, SandboxMode::kOn);
  EXPECT_THAT(box.readable, IsSupersetOf({"/bin/runner", "/models", "/models/kws.pte"}));
  context_.settings.sandbox = SandboxMode::kRequired;
  request_.surroundings.companions.clear();
  ASSERT_TRUE(apply(scenario));
  EXPECT_EQ(request_.surroundings.companions[0].sandbox.mode, SandboxMode::kRequired);
}

TEST_F(ApplyScenario, NamesAProgramThatNothingHereExecutes) {
  const auto status = apply({{"beside", "/models/kws.tflite"}});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(status.error().message,
              HasSubstr("no installed engine loads the companion program '/models/kws.tflite'"));
}

}  // namespace
}  // namespace assay
