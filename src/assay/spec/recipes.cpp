#include "assay/spec/recipes.h"

#include "spec_data.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/record/case.h"
#include "assay/spec/known_plugins.h"

namespace assay {
namespace {

constexpr std::string_view kRecipesSchema = "assay/recipes/1";
constexpr std::string_view kNativePrefix = "executorch/recipe:";

// Two spellings of the same fact: the toolchain's file says {"runtime": "unavailable…",
// "runtime_reason"}.
std::string runtime_unavailable_of(const Json& entry) {
  if (entry.contains("runtime_unavailable")) {
    return entry.at("runtime_unavailable").get<std::string>();
  }
  return entry.contains("runtime") ? entry.value("runtime_reason", "not available here") : "";
}

Recipe recipe_from_entry(const Json& entry) {
  Recipe recipe;
  recipe.name = entry.at("name").get<std::string>();
  recipe.is_preset = true;
  recipe.engine = entry.value("engine", "executorch");
  recipe.quantization = entry.value("quantization", Json(nullptr));
  recipe.lowering = entry.value("lowering", Json::object());
  recipe.produces = entry.value("produces", "pte");
  recipe.tolerance = entry.value("tolerance", Json::object());
  recipe.description = entry.value("description", "");
  recipe.backend = entry.value("backend", "");
  recipe.runtime_unavailable = runtime_unavailable_of(entry);
  return recipe;
}

/// The backend decides what such a recipe does; only its name tells whether it quantizes.
Json native_tolerance(std::string_view name) {
  const auto has = [name](const char* part) { return name.find(part) != std::string_view::npos; };
  if (!has("int8") && !has("int4") && !has("codebook")) {
    return Json::object();
  }
  return {{"sqnr_db", 8},
          {"separation_db", 3},
          {"why", "by its name this recipe quantizes, so the bounds of quantized models hold"}};
}

Recipe native_recipe(std::string_view name) {
  return {
      .name = std::string(name),
      .is_preset = true,
      .engine = "executorch",
      .quantization = nullptr,
      .lowering = {{"flow", "executorch_recipe"}, {"recipe", name.substr(kNativePrefix.size())}},
      .produces = "pte",
      .tolerance = native_tolerance(name),
      .description = "a recipe that ExecuTorch's own backends register"};
}

}  // namespace

const RecipeCatalog& RecipeCatalog::built_in() {
  static const RecipeCatalog catalog = [] {
    const auto text = spec_data("recipes.json");
    if (text.empty()) {
      return RecipeCatalog();
    }
    const auto document = parse_json(text, "recipes.json");
    ASSAY_CHECK(document.has_value());
    auto parsed = from_json(*document, "recipes.json");
    ASSAY_CHECK(parsed.has_value());
    return *std::move(parsed);
  }();
  return catalog;
}

Result<RecipeCatalog> RecipeCatalog::from_json(const Json& document, std::string_view origin) {
  RecipeCatalog catalog;
  try {
    if (document.at("schema") != kRecipesSchema) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: \"schema\" must be \"{}\"", origin, kRecipesSchema));
    }
    const auto quantizations = document.value("quantizations", Json::object());
    for (const auto& [name, value] : quantizations.items()) {
      catalog.quantizations_.emplace(name, value);
    }
    for (const auto& entry : document.at("recipes")) {
      auto recipe = recipe_from_entry(entry);
      if (recipe.quantization.is_string()) {
        ASSAY_ASSIGN_OR_RETURN(recipe.quantization,
                               catalog.get_quantization(recipe.quantization.get<std::string>()));
      }
      catalog.recipes_.push_back(std::move(recipe));
    }
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", origin, error.what()));
  }
  return catalog;
}

Result<Recipe> RecipeCatalog::get_recipe(std::string_view name) const {
  const auto found = std::ranges::find(recipes_, name, &Recipe::name);
  if (found != recipes_.end()) {
    return *found;
  }
  if (name.starts_with(kNativePrefix)) {
    return native_recipe(name);
  }
  if (const auto* plugin = find_plugin_of_recipe(name)) {
    return fail(ErrorCode::kNotFound, fmt::format("recipe '{}' comes with the plug-in {}: give {}",
                                                  name, plugin->name, plugin->flags));
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("unknown recipe '{}'{}", name, suggestion_for(name, recipe_names())));
}

Result<Json> RecipeCatalog::get_quantization(std::string_view name) const {
  if (const auto found = quantizations_.find(name); found != quantizations_.end()) {
    return found->second;
  }
  std::vector<std::string> names;
  names.reserve(quantizations_.size());
  for (const auto& [known, ignored] : quantizations_) {
    names.push_back(known);
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("unknown quantization '{}'{}", name, suggestion_for(name, names)));
}

std::vector<std::string> RecipeCatalog::recipe_names() const {
  std::vector<std::string> names;
  names.reserve(recipes_.size());
  for (const auto& recipe : recipes_) {
    names.push_back(recipe.name);
  }
  return names;
}

}  // namespace assay
