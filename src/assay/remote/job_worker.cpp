#include "assay/remote/job_worker.h"

#include <cstdint>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/base/units.h"
#include "assay/device/environment.h"
#include "assay/record/run.h"

namespace assay {
namespace {

constexpr const char* kWorkerSchema = "assay/job-device/1";

Status read_duration_ns(const Json& document, const char* key, std::int64_t& ns) {
  if (const auto found = document.find(key); found != document.end()) {
    ASSAY_ASSIGN_OR_RETURN(ns, duration_ns_from_text(found->get<std::string>()));
  }
  return {};
}

Result<JobWorker> read_worker(const Json& document) {
  JobWorker worker{.environment = document.at("environment").get<Environment>(),
                   .engines = document.at("engines").get<std::vector<Json>>()};
  auto& device_class = worker.environment.device_class;
  if (device_class.empty() || device_class != printable(device_class)) {
    return fail(ErrorCode::kCorrupt, "environment.device_class must be a printable text");
  }
  worker.environment.id = environment_id(worker.environment);
  ASSAY_RETURN_IF_ERROR(read_duration_ns(document, "claimed_within", worker.claimed_within_ns));
  ASSAY_RETURN_IF_ERROR(read_duration_ns(document, "answered_within", worker.answered_within_ns));
  ASSAY_RETURN_IF_ERROR(read_duration_ns(document, "heartbeat", worker.heartbeat_ns));
  return worker;
}

}  // namespace

Result<JobWorker> job_worker_from_json(const Json& document) {
  const auto schema = document.is_object() && document.contains("schema") ? document.at("schema")
                                                                          : Json("no schema");
  if (schema != kWorkerSchema) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("it has schema {}, this build reads {}; use a worker and an assay of "
                            "one version",
                            schema.dump(), kWorkerSchema));
  }
  try {
    return read_worker(document);
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kCorrupt, error.what());
  }
}

}  // namespace assay
