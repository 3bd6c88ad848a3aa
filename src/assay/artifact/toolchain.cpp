#include "assay/artifact/toolchain.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/python_command.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"

namespace assay {
namespace {

constexpr std::chrono::seconds kQueryTimeout{30};

constexpr std::string_view kLacks =
    "it lacks torch or executorch, or does not find the package assay";

/// Why an interpreter cannot be used, and how to get one that can.
auto unusable(const std::filesystem::path& python, std::string_view why) {
  return fail(
      ErrorCode::kUnavailable,
      fmt::format("the toolchain '{}' cannot make artifacts: {}; make build in Assay's source tree "
                  "sets one up in .venv, a wheel from the tree brings one with its extra "
                  "executorch; or name another interpreter by --python or ASSAY_PYTHON",
                  python.string(), why));
}

/// The JSON that a module of the toolchain prints.
Result<Json> ask(const std::filesystem::path& python, const char* module, const char* key) {
  const auto output = run_command({.argv = python_module_argv(python, module),
                                   .env = python_environment(),
                                   .stderr_file = "/dev/null"},
                                  kQueryTimeout);
  if (!output) {
    return unusable(python, output.error().message);
  }
  auto answer = parse_json(output->output, "toolchain");
  if (output->exit_code != 0 || !answer || !answer->contains(key)) {
    return unusable(python, kLacks);
  }
  return answer;
}

}  // namespace

std::filesystem::path default_python(const std::filesystem::path& requested) {
  if (!requested.empty()) {
    return requested;
  }
  if (const char* named = std::getenv("ASSAY_PYTHON"); named != nullptr && *named != '\0') {
    return named;
  }
  if (auto beside = executable_folder() / "python3"; std::filesystem::exists(beside)) {
    return beside;
  }
  return ASSAY_DEFAULT_PYTHON;
}

Result<Toolchain> query_toolchain(const std::filesystem::path& python) {
  ASSAY_ASSIGN_OR_RETURN(const Json answer, ask(python, "assay.toolchain.identity", "id"));
  Toolchain toolchain{.python = python, .id = answer.at("id").get<std::string>(), .packages = {}};
  toolchain.compiles_for = answer.value("compiles_for", "");
  const Json reads = answer.value("reads", Json::array());
  for (const auto& path : reads) {
    toolchain.reads.push_back(path.is_string() ? path.get<std::string>() : "");
  }
  const Json packages = answer.value("packages", Json::object());
  for (const auto& [name, version] : packages.items()) {
    toolchain.packages[name] = version.is_string() ? version.get<std::string>() : "";
  }
  return toolchain;
}

Result<std::map<std::string, std::string>> query_missing_recipes(
    const std::filesystem::path& python) {
  ASSAY_ASSIGN_OR_RETURN(const Json answer,
                         ask(python, "assay.toolchain.recipes.availability", "missing"));
  std::map<std::string, std::string> reasons;
  for (const auto& [recipe, reason] : answer.at("missing").items()) {
    reasons[recipe] = reason.is_string() ? reason.get<std::string>() : "";
  }
  return reasons;
}

Result<Json> query_presets(const std::filesystem::path& python) {
  return ask(python, "assay.toolchain.recipes.presets", "recipes");
}

}  // namespace assay
