#include "assay/spec/known_plugins.h"

#include "spec_data.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {
namespace {

KnownPlugin known_plugin_from_json(const Json& entry) {
  KnownPlugin plugin{.name = entry.at("name").get<std::string>(),
                     .flags = fmt::format("--plugin {}", entry.at("file").get<std::string>()),
                     .recipes = {}};
  if (entry.contains("library")) {
    plugin.flags += fmt::format(" --library {}", entry.at("library").get<std::string>());
  }
  for (const auto& recipe : entry.at("recipes")) {
    plugin.recipes.push_back({.name = recipe.at("name").get<std::string>(),
                              .description = recipe.at("description").get<std::string>()});
  }
  return plugin;
}

std::vector<KnownPlugin> read_known_plugins() {
  std::vector<KnownPlugin> plugins;
  const auto text = spec_data("plugins.json");
  if (text.empty()) {
    return plugins;
  }
  const auto document = parse_json(text, "plugins.json");
  ASSAY_CHECK(document.has_value());
  for (const auto& entry : document->at("plugins")) {
    plugins.push_back(known_plugin_from_json(entry));
  }
  return plugins;
}

}  // namespace

std::span<const KnownPlugin> known_plugins() {
  static const auto plugins = read_known_plugins();
  return plugins;
}

const KnownPlugin* find_plugin_of_recipe(std::string_view recipe) {
  for (const auto& plugin : known_plugins()) {
    const auto& recipes = plugin.recipes;
    if (std::ranges::find(recipes, recipe, &KnownPlugin::NamedRecipe::name) != recipes.end()) {
      return &plugin;
    }
  }
  return nullptr;
}

}  // namespace assay
