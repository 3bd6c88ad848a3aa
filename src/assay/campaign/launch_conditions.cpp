#include "assay/campaign/launch_conditions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/campaign/case_launch.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/run_context.h"
#include "assay/record/artifact_role.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/core_names.h"
#include "assay/record/device_trace.h"
#include "assay/record/scenario.h"
#include "assay/record/spawn.h"
#include "assay/record/subject.h"
#include "assay/spec/program_files.h"
#include "assay/spec/program_format.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

Result<EngineBuild> build_for(const std::string& program, const std::vector<EngineBuild>& builds) {
  const auto format = find_program_format(program).value_or("");
  const auto loads = [&format](const EngineBuild& build) {
    const auto formats = formats_of(build);
    return std::ranges::find(formats, format) != formats.end();
  };
  const auto found = std::ranges::find_if(builds, loads);
  if (found == builds.end()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("no installed engine loads the companion program '{}'; `assay list "
                            "engines` shows the installed engines",
                            program));
  }
  return *found;
}

/// A launch that executes the program until it is killed.
Result<LaunchRequest> neighbor_launch(const Scenario& scenario, const RunContext& context) {
  ASSAY_ASSIGN_OR_RETURN(const auto build, build_for(scenario.beside, context.builds));
  const stdfs::path path(scenario.beside);
  Artifact artifact{.folder = path.parent_path().string(), .entry = path.filename().string()};
  ASSAY_ASSIGN_OR_RETURN(const auto files, find_program_files(path));
  for (const auto& file : files) {
    artifact.files.push_back({.name = file.name, .role = file.role});
  }
  LaunchRequest request{.build = build,
                        .artifact = std::move(artifact),
                        .pass = Pass::kTiming,
                        .inputs = {.is_generated = true}};
  request.sandbox = choose_sandbox_mode(request, context.settings.sandbox);
  // A deadline is reckoned from the start of the inferences.
  request.plan = {.warmup_iterations = 0,
                  .duration_ns = std::numeric_limits<std::int64_t>::max() / 2};
  return request;
}

std::vector<std::string> program_files(const Artifact& artifact) {
  const stdfs::path folder(artifact.folder);
  std::vector<std::string> files;
  files.reserve(artifact.files.size());
  for (const auto& file : artifact.files) {
    if (file.role != kNamedRole) {
      files.push_back((folder / file.name).string());
    }
  }
  return files;
}

/// "auto" reads them where their readings are needed.
std::int64_t sensors_period_of(const Scenario& scenario, const CampaignSettings& settings) {
  const bool is_needed = scenario.duration_ns > 0 || !settings.meter.empty();
  return settings.sensors_period_ns.value_or(is_needed ? kSensorsPeriodNs : 0);
}

/// An engine that pins its threads pins those of each session to the first cores, as if it were
/// alone: the streams would share them, and the other cores would be idle.
void unpin_streams(LaunchRequest& request) {
  constexpr const char* kOption = "pinning";
  if (request.plan.streams > 1 && !request.options.contains(kOption) &&
      has_option(request.build, kOption)) {
    request.options[kOption] = false;
  }
}

}  // namespace

Result<Companion> companion_from_launch(const LaunchRequest& request, const stdfs::path& folder) {
  auto spawn = spawn_from_launch(request);
  const std::string_view job(reinterpret_cast<const char*>(spawn.input.data()), spawn.input.size());
  const auto file = folder / (sha256_hex(job) + ".job");
  ASSAY_RETURN_IF_ERROR(write_file_atomically(file, job));
  return Companion{.argv = std::move(spawn.argv),
                   .input_file = file.string(),
                   .sandbox = std::move(spawn.sandbox)};
}

std::vector<int> own_cores(int turn, int threads, int cores) {
  if (threads < 1 || threads >= cores) {
    return {};
  }
  std::vector<int> set;
  set.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    set.push_back((turn * threads + i) % cores);
  }
  std::ranges::sort(set);
  return set;
}

int threads_of(const Case& cell) {
  const auto threads = cell.options.find("threads");
  return threads != cell.options.end() && threads->is_number_integer() ? threads->get<int>() : 0;
}

Status apply_scenario(const Case& cell, int turn, const RunContext& context,
                      const stdfs::path& folder, LaunchRequest& request) {
  const auto scenario = cell.scenario.get<Scenario>();
  request.plan.gap_ns = scenario.gap_ns;
  request.plan.streams = scenario.streams;
  unpin_streams(request);
  if (scenario.duration_ns > 0) {
    request.plan.duration_ns = scenario.duration_ns;
    request.limits.wall_ns += context.settings.launch_timeout_ns == 0 ? scenario.duration_ns : 0;
  }
  request.meter = context.settings.meter;
  request.trace_period_ns = sensors_period_of(scenario, context.settings);
  if (scenario.cores == "own") {
    request.cpus = own_cores(turn, threads_of(cell), context.environment.cpus);
  } else if (!scenario.cores.empty()) {
    ASSAY_ASSIGN_OR_RETURN(request.cpus, cores_on_machine(scenario.cores, context.environment));
  }
  auto& surroundings = request.surroundings;
  surroundings.files = program_files(request.artifact);
  surroundings.page_cache = scenario.page_cache;
  surroundings.cool_below_celsius = scenario.cool_below_celsius;
  if (!scenario.background.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const auto background, background_from_text(scenario.background));
    surroundings.companions.assign(static_cast<std::size_t>(background.count),
                                   {.argv = {"assay-agent", "--keep-busy", background.kind}});
  }
  if (!scenario.beside.empty()) {
    ASSAY_ASSIGN_OR_RETURN(auto neighbor, neighbor_launch(scenario, context));
    ASSAY_ASSIGN_OR_RETURN(auto companion, companion_from_launch(neighbor, folder));
    surroundings.companions.push_back(std::move(companion));
    request.beside.push_back(std::move(neighbor));
  }
  return {};
}

}  // namespace assay
