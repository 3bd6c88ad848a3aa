#include "assay/store/testing/run_snapshot.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/launch.h"
#include "assay/store/result_store.h"

namespace assay {

Json snapshot_of_run(ResultStore& store, const std::string& id) {
  auto run = store.get_run(id).value();
  run.labels.clear();
  Json document = {{"run", run},
                   {"environment", store.environment_of_run(id).value()},
                   {"cases", store.cases_of_run(id).value()},
                   {"comparisons", store.comparisons_of_run(id).value()},
                   {"attempts", Json::array()}};
  const auto attempts = store.attempts_of_run(id).value();
  for (const auto& attempt : attempts) {
    Json entry = {{"attempt", attempt},
                  {"subject", store.get_subject(attempt.subject).value()},
                  {"artifact", store.get_artifact(attempt.artifact).value()},
                  {"launches", Json::array()},
                  {"metrics", Json::array()},
                  {"attachments", Json::array()}};
    const auto launches = store.launches_of_attempt(attempt.id).value();
    for (const auto& launch : launches) {
      const auto measurement = launch.measurement.value_or(Measurement{});
      entry["launches"].push_back({launch, measurement.samples.execute_ns});
    }
    const auto metrics = store.metrics_of_attempt(attempt.id).value();
    for (const auto& row : metrics) {
      entry["metrics"].push_back(row.metric);
    }
    const auto attachments = store.attachments_of(attempt.id).value();
    for (const auto& attachment : attachments) {
      entry["attachments"].push_back({attachment.kind, attachment.content});
    }
    document["attempts"].push_back(std::move(entry));
  }
  return document;
}

}  // namespace assay
