#include "assay/campaign/testing/campaign_bench.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/artifact/cache.h"
#include "assay/artifact/toolchain.h"
#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/testing/scripted_device.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/spec/reference_kind.h"
#include "assay/store/result_store.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/safetensors.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

constexpr const char* kEnding = ".fake.json";
constexpr const char* kToolchain = "test-toolchain";

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

void CampaignBench::keep_inputs(const Case& cell) const {
  const auto key = reference_key(cell, kInputsKind, kToolchain);
  const auto staging = cache.make_staging_folder(key).value();
  const std::vector<NamedTensor> tensors = {
      {.name = "0.0", .tensor = Tensor::zeros(Dtype::kFloat32, {1})}};
  const auto bytes = safetensors_from_tensors(tensors);
  const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  ASSAY_CHECK(write_file_atomically(staging / "inputs.safetensors", content).has_value());
  const Json document = {{"schema", "assay/reference/1"},
                         {"kind", kInputsKind},
                         {"missing_outputs", "there are only inputs"},
                         {"samples", 1},
                         {"files",
                          {{{"name", "inputs.safetensors"},
                            {"role", "tensors"},
                            {"bytes", bytes.size()},
                            {"sha256", sha256_hex(content)}}}}};
  ASSAY_CHECK(write_file_atomically(staging / "reference.json", document.dump()).has_value());
  ASSAY_CHECK(cache.adopt(key, staging, "reference.json").has_value());
}

CampaignRequest CampaignBench::request_for(std::vector<Case> cases) const {
  CampaignRequest request{
      .context =
          {.run = {.id = make_uuid7(), .purpose = "measure", .seed = 1, .environment = "machine"},
           .builds = {{.name = "fake", .label = "1", .runner = "/fake", .build_id = "f"},
                      {.name = "other", .label = "1", .runner = "/other", .build_id = "o"}}},
      .cases = std::move(cases)};
  for (auto& build : request.context.builds) {
    build.details = {{"formats", {"fake"}}};
  }
  request.context.environment.id = "machine";
  request.context.environment.cpus = 4;
  request.context.settings.plan = {.warmup_iterations = 2, .iterations = 20};
  request.context.settings.launches = {.least = 2, .most = 2};
  request.context.settings.passes = {Pass::kTiming};
  request.context.settings.against.clear();
  return request;
}

CampaignTools CampaignBench::tools() {
  return {.store = *store,
          .cache = cache,
          .toolchain_of = [](const Json&) -> Result<Toolchain> {
            return Toolchain{.id = kToolchain};  // Whatever it would make lies in the cache.
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
