#include "assay/campaign/case_order.h"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "assay/campaign/campaign.h"
#include "assay/campaign/launch_order.h"
#include "assay/campaign/preparation.h"
#include "assay/record/axes.h"
#include "assay/record/subject.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

constexpr std::int64_t kDefaultAllowanceNs = 600'000'000'000;

wire::InputSource inputs_for(const PreparedCase& prepared, Pass pass) {
  const auto reference = prepared.references.find("float32");
  // How many a file or a callable holds is known when a reference was made of them.
  const int all = reference == prepared.references.end()
                      ? prepared.cell.inputs.count
                      : reference->second.document.value("samples", prepared.cell.inputs.count);
  const int samples = pass == Pass::kEvaluate ? all : 1;
  // The model's own inputs, for a program that may have been cast.
  const bool converts = !prepared.cell.recipe.quantization.is_null();
  if (reference != prepared.references.end()) {
    const auto path = std::filesystem::path(reference->second.folder) / "inputs.safetensors";
    return {.file = path.string(), .samples = samples, .converts_floating = converts};
  }
  if (prepared.cell.inputs.generator == "file") {
    return {.file = prepared.cell.inputs.file, .samples = samples, .converts_floating = converts};
  }
  return {.is_generated = true, .seed = prepared.cell.inputs.seed, .samples = samples};
}

}  // namespace

LaunchOrder order_of_case(const PreparedCase& prepared, Pass pass,
                          const CampaignSettings& settings) {
  LaunchOrder order{.build = prepared.build,
                    .artifact = prepared.artifact.value_or(Artifact{}),
                    .method = prepared.cell.method,
                    .options = prepared.cell.options,
                    .libraries = settings.libraries,
                    .pass = pass,
                    .inputs = inputs_for(prepared, pass),
                    .plan = settings.plan};
  order.limits.memory_bytes = settings.memory_limit_bytes;
  order.limits.wall_ns = settings.launch_timeout_ns != 0
                             ? settings.launch_timeout_ns
                             : settings.plan.time_budget_ns + kDefaultAllowanceNs;
  return order;
}

}  // namespace assay
