#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// A plug-in in Assay's source tree and is loaded on demand.
struct KnownPlugin {
  struct NamedRecipe {
    std::string name;
    std::string description;
  };
  std::string name;
  std::string flags;  ///< The flags that bring it: "--plugin delegates/… --library executorch=…".
  std::vector<NamedRecipe> recipes;
};

/// python/assay/data/plugins.json, as built in; empty if built without the Python package's data.
std::span<const KnownPlugin> known_plugins();

/// The plug-in that brings a recipe; null: none that is known.
const KnownPlugin* find_plugin_of_recipe(std::string_view recipe);

}  // namespace assay
