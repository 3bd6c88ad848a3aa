#include "assay/campaign/option_check.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/engine/engine.h"
#include "assay/record/case.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

using Builds = std::span<const EngineBuild>;

/// nullopt: the build does not describe its options, or in words of a version that is not this one.
std::optional<std::vector<OptionSchema>> find_schema(const EngineBuild& build) {
  const Json options = build.details.is_object() ? build.details.value("options", Json()) : Json();
  if (!options.is_array()) {
    return std::nullopt;
  }
  try {
    return options.get<std::vector<OptionSchema>>();
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

bool has_option(const std::vector<OptionSchema>& schema, const std::string& name) {
  return std::ranges::find(schema, name, &OptionSchema::name) != schema.end();
}

/// "; onnxruntime has one of that name" for an option that is not this build's.
std::string others_with(const Json& options, const std::vector<OptionSchema>& schema,
                        Builds builds) {
  std::set<std::string> owners;
  for (const auto& [name, value] : options.items()) {
    if (has_option(schema, name)) {
      continue;
    }
    for (const auto& build : builds) {
      const auto other = find_schema(build);
      if (other && has_option(*other, name)) {
        owners.insert(build.name);
      }
    }
  }
  return owners.empty() ? ""
                        : fmt::format(
                              "; {} {} one of that name: name the engine, or exclude the "
                              "combination",
                              fmt::join(owners, " and "), owners.size() == 1 ? "has" : "have");
}

Status check_options(const Json& options, const EngineBuild& build, Builds builds) {
  const auto schema = find_schema(build);
  if (!schema) {
    return {};
  }
  const auto checked = validate_options(options, *schema);
  return checked ? Status()
                 : fail(checked.error().code,
                        fmt::format("engine {}: {}{}", build.reference(), checked.error().message,
                                    others_with(options, *schema, builds)));
}

}  // namespace

Status check_engine_options(const Json& options, const EngineBuild& build) {
  return check_options(options, build, {});
}

Status check_engine_options(std::span<const Case> cases, Builds builds) {
  std::set<std::pair<std::string, std::string>> checked;
  for (const auto& cell : cases) {
    const auto build = std::ranges::find(builds, cell.engine_build, &EngineBuild::reference);
    const bool is_new =
        build != builds.end() && checked.emplace(cell.engine_build, cell.options.dump()).second;
    if (is_new) {
      ASSAY_RETURN_IF_ERROR(check_options(cell.options, *build, builds));
    }
  }
  return {};
}

}  // namespace assay
