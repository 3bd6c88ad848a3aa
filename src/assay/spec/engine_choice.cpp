#include "assay/spec/engine_choice.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/case.h"
#include "assay/record/subject.h"
#include "assay/spec/program_format.h"
#include "assay/spec/spec.h"

namespace assay {
namespace {

using Builds = std::span<const EngineBuild>;

bool is_fit(const EngineBuild& build, const Recipe& recipe) {
  if (!recipe.engine.empty()) {
    return recipe.engine == build.name;
  }
  // A plug-in's recipe may tell neither engine nor format; then everything is tried.
  const auto formats = formats_of(build);
  return recipe.produces.empty() || std::ranges::find(formats, recipe.produces) != formats.end();
}

/// A hint for PROGRAM.PTE: no program has an ending in capitals.
std::string hint_at_capitals(std::string_view format) {
  const bool has_capital =
      std::ranges::any_of(format, [](char letter) { return letter >= 'A' && letter <= 'Z'; });
  return has_capital ? "; endings are in small letters: rename the file" : "";
}

std::string describe_misfit(const EngineBuild& build, const Recipe& recipe) {
  return recipe.engine.empty() ? fmt::format("{} does not load {} programs{}", build.name,
                                             recipe.produces, hint_at_capitals(recipe.produces))
                               : fmt::format("the recipe makes {} for {}, not for {}",
                                             recipe.produces, recipe.engine, build.name);
}

// The installed build that "name" or "name@label" means.
const EngineBuild* find_build(Builds installed, const SpecEngine& wanted) {
  const auto found = std::ranges::find_if(installed, [&wanted](const EngineBuild& build) {
    return build.name == wanted.name && (wanted.label.empty() || build.label == wanted.label);
  });
  return found == installed.end() ? nullptr : &*found;
}

std::string describe_unavailable(const std::string& engine, Builds installed) {
  std::vector<std::string> references;
  references.reserve(installed.size());
  for (const auto& build : installed) {
    references.push_back(build.reference());
  }
  return fmt::format("unavailable: {} is not installed; installed: {}", engine,
                     references.empty() ? "none" : fmt::format("{}", fmt::join(references, ", ")));
}

/// Why a build does not run what needs a backend; empty if it does. A build that lists no backends
/// may have any.
std::string describe_lack(const EngineBuild& build, const std::string& backend) {
  const auto listed = build.details.find("backends");
  if (backend.empty() || listed == build.details.end() || !listed->is_array()) {
    return {};
  }
  const auto found = std::ranges::find_if(
      *listed, [&backend](const Json& entry) { return entry.value("name", "") == backend; });
  if (found != listed->end() && found->value("is_available", false)) {
    return {};
  }
  const auto reason = found == listed->end() ? "" : found->value("reason", "");
  return fmt::format("{} has no {}{}{}", build.reference(), backend, reason.empty() ? "" : ": ",
                     reason);
}

EngineChoice choose_engine(const SpecEngine& wanted, const Recipe& recipe, Builds installed) {
  const auto* build = find_build(installed, wanted);
  // Whether the parts fit is known without the build, and is the better reason.
  const EngineBuild imagined{.name = wanted.name, .label = wanted.label};
  const auto& judged = build == nullptr ? imagined : *build;
  EngineChoice choice{.name = wanted.name,
                      .reference = build == nullptr ? wanted.reference() : build->reference(),
                      .refusal = {},
                      .lacks = {}};
  if (!is_fit(judged, recipe)) {
    choice.refusal = describe_misfit(judged, recipe);
  } else if (build == nullptr) {
    choice.refusal = describe_unavailable(wanted.reference(), installed);
  } else {
    choice.lacks = describe_lack(*build, recipe.backend);
  }
  return choice;
}

// The engine that a cell takes when the spec names none.
SpecEngine own_engine(const Recipe& recipe, Builds installed) {
  if (!recipe.engine.empty()) {
    const auto complete = std::ranges::find_if(installed, [&recipe](const EngineBuild& build) {
      return is_fit(build, recipe) && describe_lack(build, recipe.backend).empty();
    });
    return {.name = recipe.engine, .label = complete == installed.end() ? "" : complete->label};
  }
  for (const auto& build : installed) {
    if (is_fit(build, recipe)) {
      return {.name = build.name, .label = build.label};
    }
  }
  for (const auto& name : known_engine_names()) {
    if (is_fit({.name = name}, recipe)) {
      return {.name = name, .label = {}};
    }
  }
  return {.name = "any engine", .label = {}};
}

}  // namespace

std::vector<EngineChoice> choose_engines(std::span<const SpecEngine> wanted, const Recipe& recipe,
                                         Builds installed) {
  if (wanted.empty()) {
    return {choose_engine(own_engine(recipe, installed), recipe, installed)};
  }
  std::vector<EngineChoice> choices;
  choices.reserve(wanted.size());
  for (const auto& engine : wanted) {
    choices.push_back(choose_engine(engine, recipe, installed));
  }
  return choices;
}

}  // namespace assay
