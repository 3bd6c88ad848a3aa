#include "assay/campaign/testing/campaign_bench.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/artifact/toolchain.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/testing/scripted_device.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

constexpr const char* kEnding = ".fake.json";

}  // namespace

std::string program_of(const LaunchRequest& request) {
  const auto& entry = request.artifact.entry;
  return entry.substr(0, entry.find(kEnding));
}

Case CampaignBench::add_program(const std::string& name, const std::string& engine_build) {
  const auto path = folder.path() / (name + kEnding);
  ASSAY_CHECK(write_file_atomically(path, "{\"name\": \"" + name + "\"}").has_value());
  return {.model = {.ref = path.string(), .source_sha256 = name},
          .recipe = {.name = "program", .is_preset = true, .produces = "fake"},
          .engine = engine_build.substr(0, engine_build.find('@')),
          .device_class = "test",
          .engine_build = engine_build};
}

CampaignRequest CampaignBench::request_for(std::vector<Case> cases) const {
  CampaignRequest request{
      .run = {.id = make_uuid7(), .purpose = "measure", .seed = 1, .environment = "machine"},
      .cases = std::move(cases),
      .builds = {{.name = "fake", .label = "1", .runner = "/fake", .build_id = "f"},
                 {.name = "other", .label = "1", .runner = "/other", .build_id = "o"}}};
  for (auto& build : request.builds) {
    build.details = {{"formats", {"fake"}}};
  }
  request.environment.id = "machine";
  request.environment.cpus = 4;
  request.settings.plan = {.warmup_iterations = 2, .iterations = 20};
  request.settings.launches = {.least = 2, .most = 2};
  request.settings.passes = {Pass::kTiming};
  request.settings.against.clear();
  return request;
}

CampaignTools CampaignBench::tools() {
  return {.store = *store,
          .cache = cache,
          .toolchain_of = [](const Json&) -> Result<Toolchain> {
            return fail(ErrorCode::kUnavailable, "there is no toolchain");
          },
          .connect_target = device.connector(),
          .lock_device = [this]() -> Result<std::shared_ptr<void>> {
            ++locks;
            return std::make_shared<int>(0);
          },
          .listener = listener};
}

std::vector<Launch> CampaignBench::launches_of_run(const std::string& run) {
  std::vector<Launch> launches;
  const auto attempts = store->attempts_of_run(run).value();
  for (const auto& attempt : attempts) {
    const auto own = store->launches_of_attempt(attempt.id).value();
    launches.insert(launches.end(), own.begin(), own.end());
  }
  std::ranges::sort(launches, {}, &Launch::order);
  return launches;
}

std::vector<Attempt> CampaignBench::attempts_of_program(const std::string& run,
                                                        const std::string& name) {
  std::vector<std::string> keys;
  const auto cases = store->cases_of_run(run).value();
  for (const auto& cell : cases) {
    if (cell.model.source_sha256 == name) {
      keys.push_back(case_key(cell));
    }
  }
  auto attempts = store->attempts_of_run(run).value();
  std::erase_if(attempts, [&keys](const Attempt& attempt) {
    return std::ranges::find(keys, attempt.case_key) == keys.end();
  });
  return attempts;
}

}  // namespace assay
