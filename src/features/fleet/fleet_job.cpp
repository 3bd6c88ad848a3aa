#include "features/fleet/fleet_job.h"

#include "features/fleet/job_builds.h"
#include "features/fleet/prepared_json.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"  // IWYU pragma: keep: JSON of optional values
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

constexpr const char* kJobSchema = "assay/fleet-job/1";
constexpr std::size_t kIdDigits = 32;

/// The part of a build that a device is asked for; the rest belongs to the driver's machine.
Json json_from_build(const EngineBuild& build) {
  return {{"name", build.name}, {"label", build.label}, {"build_id", build.build_id}};
}

std::optional<ComparisonPlan> plan_from_json(const Json& document) {
  const auto plan = document.value("comparison", Json());
  return plan.is_null() ? std::nullopt : std::optional(plan.get<ComparisonPlan>());
}

FleetJob read_job(const Json& document) {
  FleetJob job{.id = document.at("job").get<std::string>(),
               .n = document.at("n").get<int>(),
               .run = document.at("run").get<Run>(),
               .described = document.at("described").get<Environment>(),
               .device = {.name = document.at("device").value("name", ""),
                          .device_class = document.at("device").at("class").get<std::string>()},
               .cases = document.at("cases").get<std::vector<Case>>(),
               .comparison = plan_from_json(document),
               .attempt = document.value("attempt", 0),
               .builds = document.at("builds").get<std::vector<EngineBuild>>(),
               .settings = settings_from_json(document.at("settings")),
               .artifact_store = document.at("artifact_store").get<std::string>(),
               .deadline_ns = document.value("deadline_ns", std::int64_t{0}),
               .expected_ns = document.value("expected_ns", std::int64_t{0}),
               .label = document.value("label", "")};
  job.run.environment_key = environment_key(job.described);
  std::ranges::transform(document.at("prepared"), std::back_inserter(job.prepared),
                         prepared_from_json);
  std::ranges::transform(document.value("brought", Json::array()), std::back_inserter(job.brought),
                         job_build_from_json);
  return job;
}

}  // namespace

std::string DeviceRequirement::queue() const {
  return name.empty() ? "class:" + device_class : "device:" + name;
}

std::string job_id_of(const std::string& run, const DeviceRequirement& device,
                      const std::vector<Case>& cases, int attempt) {
  Json identity = Json::array({run, device.name, device.device_class, attempt});
  for (const auto& cell : cases) {
    identity.push_back({case_key(cell), cell.engine_build});
  }
  return digest_of_json(identity).substr(0, kIdDigits);
}

Json json_from_job(const FleetJob& job) {
  Json builds = Json::array();
  std::ranges::transform(job.builds, std::back_inserter(builds), json_from_build);
  Json brought = Json::array();
  std::ranges::transform(job.brought, std::back_inserter(brought), json_from_job_build);
  Json prepared = Json::array();
  std::ranges::transform(job.prepared, std::back_inserter(prepared), json_from_prepared);
  return {{"schema", kJobSchema},
          {"job", job.id},
          {"n", job.n},
          {"label", job.label},
          {"run", job.run},
          {"described", job.described},
          {"device", {{"name", job.device.name}, {"class", job.device.device_class}}},
          {"cases", job.cases},
          {"comparison", job.comparison},
          {"attempt", job.attempt},
          {"prepared", std::move(prepared)},
          {"builds", std::move(builds)},
          {"brought", std::move(brought)},
          {"settings", json_from_settings(job.settings)},
          {"artifact_store", job.artifact_store},
          {"deadline_ns", job.deadline_ns},
          {"expected_ns", job.expected_ns}};
}

Result<FleetJob> job_from_json(const Json& document) {
  const auto schema = document.is_object() ? document.value("schema", "") : "";
  if (schema != kJobSchema) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("a job has schema '{}', and this build reads {}; use one version of "
                            "assay for the driver and its workers",
                            schema, kJobSchema));
  }
  try {
    return read_job(document);
  } catch (const std::exception& error) {  // A wrong type, or an unknown name.
    return fail(ErrorCode::kCorrupt, fmt::format("a job is damaged: {}", error.what()));
  }
}

}  // namespace assay
