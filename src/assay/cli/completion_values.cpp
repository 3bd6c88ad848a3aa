#include "assay/cli/completion_values.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/fs.h"
#include "assay/cli/completion.h"
#include "assay/cli/verb_list.h"
#include "assay/cli/verb_runs.h"
#include "assay/config/config_key.h"
#include "assay/engine/checkout_backends.h"
#include "assay/engine/installed_builds.h"
#include "assay/engine/known_engines.h"
#include "assay/record/metric.h"
#include "assay/remote/inventory.h"
#include "assay/report/writer.h"
#include "assay/runs/run_overview.h"
#include "assay/spec/known_plugins.h"
#include "assay/spec/model_name.h"
#include "assay/spec/models.h"
#include "assay/spec/recipes.h"
#include "assay/spec/spec.h"

namespace assay::cli {
namespace {

using Words = std::vector<Completion::Word>;

Words words_of_recipes() {
  Words words;
  for (const auto& recipe : RecipeCatalog::built_in().recipes()) {
    words.push_back({recipe.name, recipe.description});
  }
  for (const auto& plugin : known_plugins()) {
    for (const auto& recipe : plugin.recipes) {
      words.push_back({recipe.name, recipe.description});
    }
  }
  return words;
}

Words words_of_added_engines() {
  Words words;
  for (const auto& build : registered_builds(assay_home())) {
    words.push_back({build.reference(), build.runner});
  }
  return words;
}

Words words_of_engines() {
  Words words;
  for (const auto& engine : known_engines()) {
    words.push_back({engine.name, ""});
  }
  std::ranges::move(words_of_added_engines(), std::back_inserter(words));
  return words;
}

Words words_of_models() {
  Words words;
  for (const auto& model : listed_models()) {
    words.push_back({model.ref, model.description});
  }
  return words;
}

Words words_of_formats() {
  Words words;
  for (const auto& format : report_formats()) {
    words.push_back({std::string(format.name), std::string(format.title)});
  }
  words.push_back({"list", "Show the formats"});
  return words;
}

/// The newest runs of the default store.
Words words_of_runs() {
  Words words{{"latest", "The newest run"}};
  const auto runs = find_overviews({}, {.limit = 20});
  if (!runs) {
    return words;
  }
  for (const auto& run : *runs) {
    words.push_back({short_run_id(run.listing.run.id), line_from_overview(run)});
  }
  return words;
}

Words words_of_references() {
  return {{"float32", ""}, {"float64", ""}, {"qdq", ""}, {"file", ""}, {"engine:", ""}};
}

Words words_of_config_keys() {
  Words words;
  for (const auto& key : config_keys()) {
    words.push_back({std::string(key.name), std::string(key.meaning)});
  }
  return words;
}

Words words_of_checkout_backends() {
  Words words;
  for (const auto& backend : checkout_backends()) {
    words.push_back({std::string(backend.name), std::string(backend.registered)});
  }
  return words;
}

Words words_of_lists() {
  Words words;
  for (const auto& name : names_of_lists()) {
    words.push_back({name, ""});
  }
  return words;
}

Words words_of_conditions() {
  Words words;
  for (const auto& object : spec_keys()) {
    for (const auto& key : object.path == "scenario" ? object.keys : decltype(object.keys)()) {
      words.push_back({fmt::format("{}=", key), ""});
    }
  }
  return words;
}

Words words_of_settings() {
  auto words = words_of_config_keys();
  for (auto& word : words) {
    word.text += '=';
  }
  return words;
}

/// Those of a gate, too: its bound follows the name.
Words words_of_metrics() {
  Words words;
  for (const auto& metric : metric_definitions()) {
    words.push_back({std::string(metric.name), std::string(metric.unit)});
  }
  return words;
}

Words words_of_devices() {
  Words words{{"local", "This machine"}};
  const auto inventory = Inventory::read(Inventory::default_file());
  for (const auto& device : inventory ? inventory->devices() : std::vector<InventoryDevice>()) {
    words.push_back({device.name, device.device_class});
  }
  return words;
}

/// Words of the user's own.
Words no_words() { return {}; }

/// Values that begin with "file.py:".
Words words_of_factories(std::string_view typed) {
  Words words;
  const std::string file(typed.substr(0, typed.find(".py:") + 3));
  for (const auto& name : factories_in(file)) {
    words.push_back({fmt::format("{}:{}", file, name), ""});
  }
  return words;
}

struct ValueSource {
  std::string_view option;  ///< A flag, or the name of a positional.
  Words (*list)();
  bool has_files = false;  ///< Names of files stand for values, too.
};

/// Options whose values can be listed. An option has the same values in every verb.
constexpr auto kSources = std::to_array<ValueSource>({
    {"--recipe", words_of_recipes, true},
    {"--baseline", words_of_recipes},
    {"--engine", words_of_engines},
    {"--backends", words_of_checkout_backends},
    {"--format", words_of_formats},
    {"--against", words_of_references},
    {"--against-run", words_of_runs},
    {"--changed-since", words_of_runs},
    {"--resume", words_of_runs},
    {"--run", words_of_runs},
    {"--unset", words_of_config_keys},
    {"--set", words_of_settings},
    {"--scenario", words_of_conditions},
    {"--metric", words_of_metrics},
    {"--require", words_of_metrics},
    {"--device", words_of_devices},
    {"filter", no_words},
    {"model", words_of_models, true},
    {"other", words_of_models, true},
    {"engine", words_of_engines},
    {"reference", words_of_added_engines},
    {"run", words_of_runs},
    {"runs", words_of_runs},
    {"what", words_of_lists},
});

/// Metavars of values that name a file.
constexpr auto kFileNames =
    std::to_array<std::string_view>({"FILE", "FOLDER", "PATH", "PROGRAM", "TEXT"});

/// "{full,pairwise}": help has the words of a check so.
Words words_of_check(const std::string& type_name) {
  Words words;
  if (!type_name.starts_with('{')) {
    return words;
  }
  std::istringstream items(type_name.substr(1, type_name.find('}') - 1));
  for (std::string item; std::getline(items, item, ',');) {
    words.push_back({item, ""});
  }
  return words;
}

bool is_accepted(CLI::Option& option, const std::string& word) {
  try {
    return option.get_validator(0)->operator()(word).empty();
  } catch (const CLI::OptionNotFound&) {
    return true;  // It has no check.
  }
}

bool takes_files(const CLI::Option& option) {
  const auto type = option.get_type_name();
  const bool is_positional = option.get_positional();
  return std::ranges::any_of(kFileNames, [&type, is_positional](std::string_view name) {
    // A positional is called TEXT as long as nothing tells more.
    return type.starts_with(name) && (is_positional || name != "TEXT");
  });
}

}  // namespace

Completion values_of_option(CLI::Option& option, std::string_view typed) {
  const auto name = option.get_name();
  const auto* source = std::ranges::find(kSources, name, &ValueSource::option);
  if (source == kSources.end()) {
    return {.words = words_of_check(option.get_type_name()), .has_files = takes_files(option)};
  }
  if (source->list == words_of_models && typed.contains(".py:")) {
    return {.words = words_of_factories(typed)};
  }
  Completion completion{.words = source->list(), .has_files = source->has_files};
  std::erase_if(completion.words, [&option](const Completion::Word& word) {
    return !is_accepted(option, word.text);
  });
  return completion;
}

}  // namespace assay::cli
