#include "features/fleet/fleet_worker.h"

#include <cstdint>
#include <exception>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

constexpr const char* kFleetWorkerSchema = "assay/fleet-worker/1";

/// A build without what only its own machine understands.
EngineBuild without_paths(EngineBuild build) {
  build.runner.clear();
  build.reads.clear();
  return build;
}

FleetWorker read_fleet_worker(const Json& document) {
  return {.device = document.at("device").get<std::string>(),
          .host = document.value("host", ""),
          .environment = document.value("environment", Environment{}),
          .builds = document.value("builds", std::vector<EngineBuild>()),
          .state = document.value("state", "unknown"),
          .reason = document.value("reason", ""),
          .job = document.value("job", ""),
          .job_since_unix_ns = document.value("job_since_unix_ns", std::int64_t{0}),
          .heartbeat_unix_ns = document.value("heartbeat_unix_ns", std::int64_t{0})};
}

}  // namespace

Json json_from_worker(const FleetWorker& worker) {
  Json builds = Json::array();
  for (const auto& build : worker.builds) {
    builds.push_back(without_paths(build));
  }
  return {{"schema", kFleetWorkerSchema},
          {"device", worker.device},
          {"host", worker.host},
          {"environment", worker.environment},
          {"builds", std::move(builds)}};
}

Result<FleetWorker> worker_from_json(const Json& document) {
  const auto schema = document.is_object() ? document.value("schema", "") : "";
  if (schema != kFleetWorkerSchema) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("a worker's description has schema '{}', and this build reads {}; use "
                            "one version of assay for the driver and its workers",
                            schema, kFleetWorkerSchema));
  }
  try {
    return read_fleet_worker(document);
  } catch (const std::exception& error) {
    return fail(ErrorCode::kCorrupt, fmt::format("a worker's description: {}", error.what()));
  }
}

}  // namespace assay
