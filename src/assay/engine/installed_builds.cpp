#include "assay/engine/installed_builds.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/base/suggest.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

constexpr std::chrono::seconds kDescribeTimeout{10};

struct KnownEngine {
  const char* name;
  const char* how_to_get;
};

constexpr std::array<KnownEngine, 2> kKnownEngines = {{
    {"executorch",
     "its runner was not built: pip install executorch, then build again, or assay engine add "
     "executorch@NAME --prefix DIR"},
    {"openvino", "its runner was not built: pip install openvino, then configure and build again"},
}};

std::filesystem::path registry_file(const std::filesystem::path& home) {
  return engines_folder(home) / "engines.json";
}

std::vector<EngineBuild> read_registry(const std::filesystem::path& home) {
  const auto document = read_json_file(registry_file(home));
  if (!document || !document->is_object()) {
    return {};
  }
  try {
    return document->value("builds", Json::array()).get<std::vector<EngineBuild>>();
  } catch (const Json::exception&) {
    return {};
  }
}

void add_runner(const std::filesystem::path& runner, const std::string& name,
                const std::string& label, InstalledBuilds& installed) {
  auto build = describe_runner(runner);
  if (!build) {
    installed.missing.push_back({label.empty() ? name : name + "@" + label, build.error().message});
    return;
  }
  if (!label.empty()) {
    build->label = label;
  }
  installed.builds.push_back(std::move(*build));
}

}  // namespace

std::filesystem::path engines_folder(const std::filesystem::path& home) { return home / "engines"; }

Result<EngineBuild> describe_runner(const std::filesystem::path& runner) {
  const auto output =
      run_command({.argv = {runner.string(), "--describe"}, .env = {}, .stderr_file = "/dev/null"},
                  kDescribeTimeout);
  if (!output) {
    return fail(ErrorCode::kUnavailable, output.error().message);
  }
  const auto details = parse_json(output->output, runner.string());
  if (output->exit_code != 0 || !details || !details->is_object() || !details->contains("name")) {
    return fail(
        ErrorCode::kUnavailable,
        fmt::format(
            "'{} --describe' failed (exit code {}); a library that it needs may be missing: ldd {}",
            runner.string(), output->exit_code, runner.string()));
  }
  return EngineBuild{.name = details->at("name").get<std::string>(),
                     .label = details->value("version", "unknown"),
                     .runner = runner.string(),
                     .build_id = details->value("build_id", ""),
                     .details = *details};
}

InstalledBuilds find_installed_builds(const std::filesystem::path& home) {
  InstalledBuilds installed;
  for (const auto* name : {"executorch", "openvino", "fake"}) {
    const auto runner = executable_folder() / fmt::format("assay-runner-{}", name);
    if (std::filesystem::exists(runner)) {
      add_runner(runner, name, "", installed);
    }
  }
  for (const auto& build : read_registry(home)) {
    add_runner(build.runner, build.name, build.label, installed);
  }
  for (const auto& known : kKnownEngines) {
    const auto is_there = [&known](const EngineBuild& build) { return build.name == known.name; };
    if (std::ranges::none_of(installed.builds, is_there)) {
      installed.missing.push_back({known.name, known.how_to_get});
    }
  }
  return installed;
}

Result<EngineBuild> get_build(const InstalledBuilds& installed, const std::string& reference) {
  const auto matches = [&reference](const EngineBuild& build) {
    return build.reference() == reference || build.name == reference;
  };
  if (const auto found = std::ranges::find_if(installed.builds, matches);
      found != installed.builds.end()) {
    return *found;
  }
  const auto missing = std::ranges::find(installed.missing, reference, &MissingEngine::name);
  if (missing != installed.missing.end()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("engine '{}' is not available: {}", reference, missing->reason));
  }
  std::vector<std::string> names;
  std::ranges::transform(installed.builds, std::back_inserter(names), &EngineBuild::reference);
  return fail(ErrorCode::kNotFound,
              fmt::format("no engine '{}'{}", reference, suggestion_for(reference, names)));
}

Status register_build(const std::filesystem::path& home, const EngineBuild& build) {
  auto builds = read_registry(home);
  std::erase_if(builds, [&build](const EngineBuild& other) {
    return other.reference() == build.reference();
  });
  builds.push_back(build);
  return write_file_atomically(
      registry_file(home), Json{{"schema", "assay/engines/1"}, {"builds", builds}}.dump(2) + "\n");
}

}  // namespace assay
