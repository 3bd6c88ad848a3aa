#include "assay/campaign/case_launch.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/preparation.h"
#include "assay/campaign/run_context.h"
#include "assay/device/physical_memory.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/record/sandbox.h"
#include "assay/record/spawn.h"
#include "assay/record/subject.h"
#include "assay/supervise/longest_spawn.h"
#include "assay/tensor/safetensors.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

constexpr std::int64_t kDefaultAllowanceNs = 600'000'000'000;

/// Counts the samples in a file that the runner reads itself.
int count_samples_in(const std::string& file) {
  return std::max(1, count_samples_of_file(file).value_or(1));
}

wire::InputSource inputs_for(const PreparedCase& prepared, const Reference* reference, Pass pass) {
  const auto& inputs = prepared.cell.inputs;
  const bool is_all = pass == Pass::kEvaluate;
  if (reference == nullptr && inputs.generator == "file") {
    return {.file = inputs.file, .samples = is_all ? count_samples_in(inputs.file) : 1};
  }
  if (reference == nullptr) {
    return {.is_generated = true, .seed = inputs.seed, .samples = is_all ? inputs.count : 1};
  }
  // The number of samples of a file or a callable is known after it was read.
  const int samples = is_all ? reference->document.value("samples", inputs.count) : 1;
  const auto path = std::filesystem::path(reference->folder) / "inputs.safetensors";
  // The model's own inputs, for a program that may have been cast.
  const bool converts = !prepared.cell.recipe.quantization.is_null();
  return {.file = path.string(), .samples = samples, .converts_floating = converts};
}

/// Tells an engine that can be told the sizes that the program leaves open and its inputs bind.
void bind_sizes(const Reference& reference, LaunchRequest& request) {
  constexpr const char* kOption = "input_shapes";
  const auto binds = reference.document.value("binds", "");
  if (!binds.empty() && !request.options.contains(kOption) && has_option(request.build, kOption)) {
    request.options[kOption] = binds;
  }
}

}  // namespace

bool has_option(const EngineBuild& build, std::string_view name) {
  const auto options =
      build.details.is_object() ? build.details.value("options", Json::array()) : Json::array();
  return std::ranges::any_of(options, [name](const Json& one) {
    const auto told = one.is_object() ? one.find("name") : one.end();
    return told != one.end() && *told == name;
  });
}

std::int64_t longest_pass_ns(Pass pass, const MeasurePlan& plan) {
  // A leak check has two series, each within the budget; a profile is followed by as many
  // inferences under the kernel's counters.
  const std::int64_t times = pass == Pass::kMemory || pass == Pass::kProfile ? 2 : 1;
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max() / 4;
  return times * std::min(plan.time_budget_ns, kMost);
}

std::int64_t longest_launch_ns(const LaunchRequest& request) {
  return longest_spawn_ns({.limits = request.limits, .surroundings = request.surroundings});
}

std::int64_t most_output_bytes(std::int64_t memory_bytes) {
  constexpr std::int64_t kCopies = 8;
  constexpr auto kMost = static_cast<std::int64_t>(wire::kMaxBlobBytes);
  return std::clamp(memory_bytes / kCopies, SpawnLimits{}.output_bytes, kMost);
}

const Reference* find_input_reference(const PreparedCase& prepared) {
  const auto& references = prepared.references;
  const auto floating = references.find("float32");
  const auto found = floating == references.end() ? references.begin() : floating;
  return found == references.end() ? nullptr : &found->second;
}

std::string_view engine_of_library(std::string_view library) {
  const auto end = library.find('=');
  const bool is_named = end != std::string_view::npos && end < library.find('/');
  return is_named ? library.substr(0, end) : std::string_view();
}

std::vector<std::string> libraries_of_engine(const std::vector<std::string>& libraries,
                                             std::string_view engine) {
  std::vector<std::string> own;
  for (const auto& library : libraries) {
    const auto of = engine_of_library(library);
    if (of.empty()) {
      own.push_back(library);
    } else if (of == engine) {
      own.push_back(library.substr(of.size() + 1));
    }
  }
  return own;
}

SandboxMode choose_sandbox_mode(const LaunchRequest& request, std::optional<SandboxMode> asked) {
  const bool brings_native_code = request.build.name == "command" || !request.libraries.empty();
  return asked.value_or(brings_native_code ? SandboxMode::kOn : SandboxMode::kOff);
}

LaunchRequest launch_request_from_case(const PreparedCase& prepared, Pass pass,
                                       const CampaignSettings& settings) {
  const auto* reference = find_input_reference(prepared);
  LaunchRequest request{.build = prepared.build,
                        .artifact = prepared.artifact.value_or(Artifact{}),
                        .method = prepared.cell.method,
                        .options = prepared.cell.options,
                        .libraries = libraries_of_engine(settings.libraries, prepared.cell.engine),
                        .pass = pass,
                        .inputs = inputs_for(prepared, reference, pass),
                        .plan = settings.plan};
  if (reference != nullptr) {
    bind_sizes(*reference, request);
  }
  request.sandbox = choose_sandbox_mode(request, settings.sandbox);
  request.limits.memory_bytes = settings.memory_limit_bytes;
  if (pass == Pass::kEvaluate) {
    request.limits.output_bytes = most_output_bytes(physical_memory_bytes());
  }
  request.limits.wall_ns = settings.launch_timeout_ns != 0
                               ? settings.launch_timeout_ns
                               : longest_pass_ns(pass, settings.plan) + kDefaultAllowanceNs;
  return request;
}

}  // namespace assay
