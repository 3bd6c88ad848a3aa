#include "assay/artifact/toolchains.h"

#include "artifact_data.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/artifact/toolchain.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/spec/recipes.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

std::vector<OwnToolchain> read_own_toolchains() {
  const auto document = parse_json(artifact_data("toolchains.json"), "toolchains.json");
  ASSAY_CHECK(document.has_value());
  std::vector<OwnToolchain> toolchains;
  for (const auto& entry : document->at("toolchains")) {
    toolchains.push_back({.name = entry.at("name"),
                          .flows = entry.at("flows").get<std::vector<std::string>>(),
                          .how_to_get = entry.at("how_to_get")});
  }
  return toolchains;
}

std::string variable_of(const std::string& name) {
  std::string upper = name;
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return "ASSAY_PYTHON_" + upper;
}

std::string flow_of(const Json& lowering) {
  return lowering.is_object() ? lowering.value("flow", "") : "";
}

/// The flow that makes machine code: the compiler and the processor are part of its toolchain.
Toolchain for_lowering(Toolchain toolchain, const Json& lowering) {
  constexpr std::string_view kCompilingFlow = "aoti";
  if (flow_of(lowering) == kCompilingFlow) {
    toolchain.id =
        digest_of_json({{"toolchain", toolchain.id}, {"compiles_for", toolchain.compiles_for}});
  }
  return toolchain;
}

}  // namespace

const std::vector<OwnToolchain>& own_toolchains() {
  static const auto toolchains = read_own_toolchains();
  return toolchains;
}

stdfs::path find_own_python(const std::string& name, const stdfs::path& default_python) {
  const auto variable = variable_of(name);
  if (const char* named = std::getenv(variable.c_str()); named != nullptr && *named != '\0') {
    return named;
  }
  const auto environment = default_python.parent_path().parent_path();
  auto beside = environment.parent_path() / (".venv-" + name) / "bin" / "python";
  return stdfs::exists(beside) ? beside : stdfs::path();
}

stdfs::path python_of(const Json& lowering, const stdfs::path& default_python) {
  const auto flow = flow_of(lowering);
  for (const auto& own : own_toolchains()) {
    if (std::ranges::find(own.flows, flow) == own.flows.end()) {
      continue;
    }
    if (auto python = find_own_python(own.name, default_python); !python.empty()) {
      return python;
    }
  }
  return default_python;
}

ToolchainOf toolchains_of(stdfs::path default_python) {
  const auto known = std::make_shared<std::map<stdfs::path, Toolchain>>();
  return [known,
          default_python = std::move(default_python)](const Json& lowering) -> Result<Toolchain> {
    const auto python = python_of(lowering, default_python);
    auto found = known->find(python);
    if (found == known->end()) {
      ASSAY_ASSIGN_OR_RETURN(auto toolchain, query_toolchain(python));
      found = known->emplace(python, std::move(toolchain)).first;
    }
    return for_lowering(found->second, lowering);
  };
}

std::map<std::string, std::string> find_missing_recipes(const stdfs::path& default_python) {
  std::map<stdfs::path, Result<std::map<std::string, std::string>>> asked;
  const auto ask_once = [&asked](const stdfs::path& python) -> const auto& {
    const auto found = asked.find(python);
    return found != asked.end()
               ? found->second
               : asked.emplace(python, query_missing_recipes(python)).first->second;
  };
  auto missing = ask_once(default_python).value_or(std::map<std::string, std::string>());
  for (const auto& recipe : RecipeCatalog::built_in().recipes()) {
    const auto python = python_of(recipe.lowering, default_python);
    const auto& lacking = ask_once(python);
    missing.erase(recipe.name);
    if (!lacking) {
      missing[recipe.name] =
          fmt::format("the toolchain '{}' cannot be used; assay doctor says why", python.string());
    } else if (const auto found = lacking->find(recipe.name); found != lacking->end()) {
      missing[recipe.name] = found->second;
    }
  }
  return missing;
}

}  // namespace assay
