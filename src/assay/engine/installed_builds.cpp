#include "assay/engine/installed_builds.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <future>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
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

constexpr const char* kNoPythonRunner =
    "its runner was not made: pip install nanobind, then configure and build again";

struct KnownEngine {
  const char* name;
  const char* how_to_get;
};

/// In the order in which they are listed; others that are found come behind them.
constexpr std::array<KnownEngine, 7> kKnownEngines = {{
    {"executorch",
     "its runner was not built: pip install executorch, then build again, or assay engine add "
     "executorch@NAME --prefix DIR"},
    {"onnxruntime", kNoPythonRunner},
    {"openvino", "its runner was not built: pip install openvino, then configure and build again"},
    {"litert", kNoPythonRunner},
    {"torch", kNoPythonRunner},
    {"command", "its runner was not built"},
    {"fake", "its runner was not built"},
}};
constexpr std::string_view kRunnerPrefix = "assay-runner-";

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

/// A runner that may be usable. `label`: empty for those beside the running executable.
struct Candidate {
  std::filesystem::path runner;
  std::string name;
  std::string label;
};

std::size_t rank_of(const std::string& name) {
  const auto* found = std::ranges::find(kKnownEngines, name, &KnownEngine::name);
  return static_cast<std::size_t>(found - kKnownEngines.begin());
}

std::vector<Candidate> runners_beside(const std::filesystem::path& folder) {
  std::vector<Candidate> candidates;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with(kRunnerPrefix)) {
      candidates.push_back({entry.path(), name.substr(kRunnerPrefix.size()), ""});
    }
  }
  std::ranges::sort(candidates, {}, [](const Candidate& candidate) {
    return std::pair(rank_of(candidate.name), candidate.name);
  });
  return candidates;
}

void add_described(const Candidate& candidate, Result<EngineBuild> build,
                   InstalledBuilds& installed) {
  const auto& [runner, name, label] = candidate;
  if (!build) {
    installed.missing.push_back({label.empty() ? name : name + "@" + label, build.error().message});
    return;
  }
  if (!label.empty()) {
    build->label = label;
  }
  installed.builds.push_back(std::move(*build));
}

/// The last line that a failed runner said; empty: none.
std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of("\n ");
  if (end == std::string::npos) {
    return "";
  }
  const auto begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin + 1) + 1);
}

Error undescribed(const std::filesystem::path& runner, const CommandOutput& output,
                  const std::string& said) {
  if (!said.empty()) {
    return {.code = ErrorCode::kUnavailable, .message = said};
  }
  return {.code = ErrorCode::kUnavailable,
          .message = fmt::format("'{} --describe' failed (exit code {}); a library that it needs "
                                 "may be missing: ldd {}",
                                 runner.string(), output.exit_code, runner.string())};
}

}  // namespace

std::filesystem::path engines_folder(const std::filesystem::path& home) { return home / "engines"; }

Result<EngineBuild> describe_runner(const std::filesystem::path& runner) {
  ASSAY_ASSIGN_OR_RETURN(const auto folder, TemporaryFolder::make("assay-describe"));
  const auto words = folder.path() / "stderr";
  const auto output = run_command(
      {.argv = {runner.string(), "--describe"}, .env = {}, .stderr_file = words.string()},
      kDescribeTimeout);
  if (!output) {
    return fail(ErrorCode::kUnavailable, output.error().message);
  }
  const auto details = parse_json(output->output, runner.string());
  if (output->exit_code != 0 || !details || !details->is_object() || !details->contains("name")) {
    return std::unexpected(undescribed(runner, *output, last_line(read_file(words).value_or(""))));
  }
  return EngineBuild{.name = details->at("name").get<std::string>(),
                     .label = details->value("version", "unknown"),
                     .runner = runner.string(),
                     .build_id = details->value("build_id", ""),
                     .details = *details};
}

InstalledBuilds find_installed_builds(const std::filesystem::path& home) {
  InstalledBuilds installed;
  auto candidates = runners_beside(executable_folder());
  for (const auto& build : read_registry(home)) {
    candidates.push_back({build.runner, build.name, build.label});
  }
  // At the same time: an engine in Python takes as long as its interpreter does.
  std::vector<std::future<Result<EngineBuild>>> described;
  described.reserve(candidates.size());
  for (const auto& candidate : candidates) {
    described.push_back(std::async(std::launch::async, describe_runner, candidate.runner));
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    add_described(candidates[i], described[i].get(), installed);
  }
  for (const auto& known : kKnownEngines) {
    const auto is_it = [&known](const auto& one) { return one.name == known.name; };
    if (std::ranges::none_of(installed.builds, is_it) &&
        std::ranges::none_of(installed.missing, is_it)) {
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
