#include "features/fleet/fleet_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/preparation.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/run.h"
#include "assay/record/sandbox.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

using testing::HasSubstr;

Case cell_of(const std::string& name) {
  return {.model = {.ref = "/models/" + name + ".fake.json", .source_sha256 = name},
          .recipe = {.name = "program", .is_preset = true, .produces = "fake"},
          .engine = "fake",
          .device_class = "test:2cpu",
          .engine_build = "fake@1"};
}

FleetJob sample_job() {
  FleetJob job{.id = "id",
               .n = 2,
               .run = {.id = "run", .labels = {{"a", "b"}}, .seed = 7, .environment = "machine"},
               .described = {.id = "machine", .device_class = "test:2cpu", .cpus = 2},
               .device = {.name = "pi5", .device_class = "test:2cpu"},
               .cases = {cell_of("net")},
               .builds = {{.name = "fake", .label = "1", .build_id = "f"}},
               .artifact_store = "/shared",
               .deadline_ns = 5,
               .expected_ns = 6,
               .label = "net"};
  job.run.environment_key = environment_key(job.described);
  PreparedCase prepared{.cell = cell_of("net")};
  prepared.artifact = Artifact{.folder = "/models",
                               .entry = "net.fake.json",
                               .files = {{.name = "net.fake.json", .sha256 = "s"}}};
  prepared.failure = {.stage = Stage::kLower, .reason_code = "why", .text = "because"};
  prepared.references["float32"] = {.key = "k", .kind = "float32", .folder = "/f"};
  prepared.missing_references["qdq"] = {.outcome = Outcome::kSkipped, .text = "none"};
  prepared.pieces = std::make_shared<const PreparedCase>(PreparedCase{.cell = cell_of("piece")});
  job.prepared.push_back(prepared);
  job.settings.launches = {.least = 2, .most = 9, .interval_ratio = 0.5, .budget_ns = 3};
  job.settings.passes = {Pass::kTiming};
  job.settings.sensors_period_ns = 4;
  job.settings.sandbox = SandboxMode::kOn;
  return job;
}

TEST(FleetJob, ReadsWhatItWrote) {
  const auto document = json_from_job(sample_job());
  const auto job = job_from_json(document);
  ASSERT_TRUE(job.has_value()) << job.error().message;
  EXPECT_EQ(json_from_job(*job).dump(), document.dump());
  EXPECT_EQ(job->run.environment_key, sample_job().run.environment_key);
  EXPECT_EQ(job->prepared.front().key, case_key(cell_of("net")));
  EXPECT_EQ(job->prepared.front().pieces->cell.model.source_sha256, "piece");
}

TEST(FleetJob, KeepsThePlanOfAComparison) {
  EXPECT_FALSE(job_from_json(json_from_job(sample_job()))->comparison.has_value());
  auto job = sample_job();
  job.comparison = ComparisonPlan{.metric = "load_ns", .looks = {6}};
  const auto read = job_from_json(json_from_job(job)).value();
  ASSERT_TRUE(read.comparison.has_value());
  EXPECT_EQ(Json(*read.comparison).dump(), Json(*job.comparison).dump());
}

TEST(FleetJob, TellsAnotherSchemaAndADamagedDocument) {
  auto document = json_from_job(sample_job());
  document["schema"] = "assay/fleet-job/2";
  EXPECT_EQ(job_from_json(document).error().code, ErrorCode::kUnsupported);
  document = json_from_job(sample_job());
  document["settings"].erase("plan");
  const auto damaged = job_from_json(document);
  ASSERT_FALSE(damaged.has_value());
  EXPECT_EQ(damaged.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(damaged.error().message, HasSubstr("plan"));
}

TEST(FleetJob, HasAnIdOfItsWorkAlone) {
  const DeviceRequirement any{.name = {}, .device_class = "test:2cpu"};
  const auto id = job_id_of("run", any, {cell_of("net")}, 0);
  auto elsewhere = cell_of("net");
  elsewhere.device = "pi5";
  elsewhere.model.ref = "/moved/net.fake.json";
  EXPECT_EQ(job_id_of("run", any, {elsewhere}, 0), id);
  EXPECT_NE(job_id_of("run", any, {cell_of("net")}, 1), id);
  EXPECT_NE(job_id_of("other run", any, {cell_of("net")}, 0), id);
  EXPECT_NE(job_id_of("run", any, {cell_of("other")}, 0), id);
  EXPECT_NE(job_id_of("run", {.name = "pi5", .device_class = "test:2cpu"}, {cell_of("net")}, 0),
            id);
  auto build = cell_of("net");
  build.engine_build = "fake@2";
  EXPECT_NE(job_id_of("run", any, {build}, 0), id);
}

}  // namespace
}  // namespace assay
