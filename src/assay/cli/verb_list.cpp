#include "assay/cli/verb_list.h"

#include "features/repository/repository_spec.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "assay/artifact/toolchain.h"
#include "assay/artifact/toolchains.h"
#include "assay/base/json.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/device_flag.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/verb.h"
#include "assay/cli/verb_runs.h"
#include "assay/device/environment.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/case.h"
#include "assay/record/metric.h"
#include "assay/remote/inventory.h"
#include "assay/runs/run_overview.h"
#include "assay/spec/engine_choice.h"
#include "assay/spec/known_plugins.h"
#include "assay/spec/models.h"
#include "assay/spec/recipes.h"
#include "assay/spec/spec.h"

namespace assay::cli {
namespace {

struct ListOptions {
  std::string what;
  bool is_json = false;
  int limit = 20;
  std::string device;
  StoreFlags store;
  ToolchainFlags toolchain;
};

/// One thing of a list: what it is called, and a sentence.
struct Item {
  std::string name;
  std::string text;
};
using Items = std::vector<Item>;

Result<Items> list_engines(const ListOptions& options) {
  Items items;
  ASSAY_ASSIGN_OR_RETURN(const auto installed, installed_on(options.device));
  for (const auto& build : installed.builds) {
    std::vector<std::string> backends;
    const Json known = build.details.value("backends", Json::array());
    for (const auto& backend : known) {
      if (backend.value("is_available", false)) {
        backends.push_back(backend.value("name", ""));
      }
    }
    items.push_back(
        {build.reference(),
         fmt::format("formats {}; backends {}",
                     fmt::join(build.details.value("formats", std::vector<std::string>()), ", "),
                     backends.empty() ? "none" : fmt::format("{}", fmt::join(backends, ", ")))});
  }
  for (const auto& missing : installed.missing) {
    items.push_back({missing.name, "not available: " + missing.reason});
  }
  return items;
}

Result<Items> list_models(const ListOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto plugged, options.toolchain.describe_plugins());
  Items items;
  for (const auto& model : listed_models()) {
    items.push_back({model.ref, model.description});
  }
  if (plugged.is_object()) {
    for (const auto& [name, sentence] : plugged.at("models").items()) {
      items.push_back({name, sentence.get<std::string>()});
    }
  }
  items.push_back({"file.py:FACTORY",
                   "a function that returns a torch.nn.Module, or (module, example inputs)"});
  items.push_back({"model.pt2", "a saved torch.export program"});
  items.push_back({"program.pte", "a finished ExecuTorch program; needs no recipe"});
  return items;
}

/// Why a program of the recipe runs on no installed build; empty: it does, or no engine is there.
std::string why_not_run(const Recipe& recipe, const InstalledBuilds& installed) {
  return recipe.runtime_unavailable.empty()
             ? choose_engines({}, recipe, installed.builds).front().lacks
             : recipe.runtime_unavailable;
}

/// Description of a recipe, followed by the reason why it cannot be made or run here.
std::string text_of_recipe(const Recipe& recipe, const InstalledBuilds& installed,
                           const std::map<std::string, std::string>& missing) {
  if (const auto found = missing.find(recipe.name); found != missing.end()) {
    return fmt::format("{} (not available: {})", recipe.description, found->second);
  }
  const auto reason = why_not_run(recipe, installed);
  return reason.empty() ? recipe.description
                        : fmt::format("{} (lowers only: {})", recipe.description, reason);
}

/// Recipes of plug-ins that lie in the tree and are not loaded.
void add_recipes_on_demand(const RecipeCatalog& loaded, Items& items) {
  for (const auto& plugin : known_plugins()) {
    for (const auto& recipe : plugin.recipes) {
      if (!loaded.get_recipe(recipe.name)) {
        items.push_back(
            {recipe.name, fmt::format("{} (needs {})", recipe.description, plugin.flags)});
      }
    }
  }
}

Result<Items> list_recipes(const ListOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto context, options.toolchain.context("assay list"));
  const auto missing = find_missing_recipes(default_python(options.toolchain.python));
  ASSAY_ASSIGN_OR_RETURN(const auto installed, installed_on(options.device));
  Items items;
  for (const auto& recipe : context.catalog->recipes()) {
    items.push_back({recipe.name, text_of_recipe(recipe, installed, missing)});
  }
  add_recipes_on_demand(*context.catalog, items);
  items.push_back(
      {"executorch/recipe:NAME",
       "a recipe that one of ExecuTorch's backends registers; a wrong NAME lists them"});
  return items;
}

Result<Items> list_devices(const ListOptions& /*options*/) {
  const auto environment = read_environment();
  Items items{{"local", fmt::format("{} ({}, {} CPUs)", environment.device_class,
                                    environment.cpu_model, environment.cpus)}};
  ASSAY_ASSIGN_OR_RETURN(const auto inventory, Inventory::read(Inventory::default_file()));
  for (const auto& device : inventory.devices()) {
    items.push_back(
        {device.name, fmt::format("{} ({}){}", device.device_class, device.address.text(),
                                  device.excluded.empty() ? "" : ", excluded")});
  }
  return items;
}

Result<Items> list_metrics(const ListOptions& /*options*/) {
  Items items;
  for (const auto& metric : metric_definitions()) {
    items.push_back(
        {std::string(metric.name),
         fmt::format("{}{}{}", metric.title, metric.unit.empty() ? "" : ", ", metric.unit)});
  }
  return items;
}

Result<Items> list_runs(const ListOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto runs, find_overviews(options.store, {.limit = options.limit}));
  Items items;
  for (const auto& run : runs) {
    items.push_back({run.listing.run.id, line_from_overview(run)});
  }
  return items;
}

struct List {
  const char* name;
  Result<Items> (*make)(const ListOptions&);
};

constexpr std::array<List, 6> kLists = {{{"engines", list_engines},
                                         {"models", list_models},
                                         {"recipes", list_recipes},
                                         {"devices", list_devices},
                                         {"metrics", list_metrics},
                                         {"runs", list_runs}}};

void print_items(const Items& items, bool is_json) {
  if (is_json) {
    Json document = {{"schema", "assay/list/1"}, {"items", Json::array()}};
    for (const auto& item : items) {
      document["items"].push_back({{"name", item.name}, {"text", item.text}});
    }
    print_json(document, 2);
    return;
  }
  std::size_t width = 0;
  for (const auto& item : items) {
    width = std::max(width, item.name.size());
  }
  for (const auto& item : items) {
    print_out("{:<{}}  {}\n", item.name, width, item.text);
  }
}

constexpr const char* kSchemaName = "schema";
constexpr const char* kRepositorySchemaName = "repository-schema";

Result<ExitCode> execute_list(const ListOptions& options) {
  if (options.what == kSchemaName) {
    write_stdout(spec_schema());
    return ExitCode::kOk;
  }
  if (options.what == kRepositorySchemaName) {
    write_stdout(repository_schema());
    return ExitCode::kOk;
  }
  const auto* list = std::ranges::find(kLists, options.what,
                                       [](const List& one) { return std::string(one.name); });
  if (list == kLists.end()) {
    return fail(ErrorCode::kNotFound, fmt::format("'{}' cannot be listed{}", options.what,
                                                  suggestion_for(options.what, names_of_lists())));
  }
  if (!options.device.empty() && list->make != list_engines) {
    return fail(ErrorCode::kInvalidArgument, "only engines are listed by device");
  }
  if (list->make == list_runs && !options.is_json) {
    ASSAY_RETURN_IF_ERROR(show_runs(options.store, {.limit = options.limit}, {}));
    return ExitCode::kOk;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto items, list->make(options));
  print_items(items, options.is_json);
  return ExitCode::kOk;
}

}  // namespace

std::vector<std::string> names_of_lists() {
  std::vector<std::string> names;
  std::ranges::transform(kLists, std::back_inserter(names), &List::name);
  names.emplace_back(kSchemaName);
  names.emplace_back(kRepositorySchemaName);
  return names;
}

Execute declare_list(CLI::App& app) {
  auto options = std::make_shared<ListOptions>();
  app.add_option("what", options->what,
                 "What to list: engines, models, recipes, devices, metrics, runs, schema or "
                 "repository-schema (JSON Schemas of specs and of repository files)")
      ->required();
  app.add_flag("--json", options->is_json, "Print the list as a JSON document");
  app.add_option("--limit", options->limit, "Number of runs to show, newest first")
      ->capture_default_str();
  declare_device_name(app, options->device);
  options->toolchain.declare_sources(app);
  options->store.declare(app);
  return [options] { return execute_list(*options); };
}

}  // namespace assay::cli
