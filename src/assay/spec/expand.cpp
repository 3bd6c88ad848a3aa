#include "assay/spec/expand.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/record/case.h"
#include "assay/record/case_id.h"
#include "assay/record/subject.h"
#include "assay/spec/engine_choice.h"
#include "assay/spec/exclusion.h"
#include "assay/spec/model_binding.h"
#include "assay/spec/named_files.h"
#include "assay/spec/pairwise.h"
#include "assay/spec/program_files.h"
#include "assay/spec/program_format.h"
#include "assay/spec/spec.h"

namespace assay {
namespace {

// Before reduction. Nobody runs as many, and finding pairs among more takes seconds.
constexpr std::int64_t kMaxCells = 20'000;

/// One model, recipe, engine and device: a block of cells that differ in options only.
struct Block {
  BoundModel model;
  Recipe recipe;
  std::string engine;
  std::string engine_build;
  const ExpansionDevice* device;
  Coordinates place;
};

using Options = Json;

class Expander {
 public:
  Expander(const Spec& spec, const ExpansionContext& context)
      : spec_(spec), context_(context), exclusion_(spec.exclude) {}

  /// Checks the names of engines and devices.
  Status check_names();
  Result<Expansion> run(std::vector<BoundModel> models);

 private:
  Status check_engines() const;
  Status collect_devices();
  Status check_size() const;
  Status digest_neighbors();
  void collect_blocks();
  void add_blocks_of(int model_index, int recipe_index, const Recipe& recipe);
  void add_block(Block block, const std::string& refusal);
  void add_cells_of(const Block& block);
  void add_scenarios_of(Case& cell, const Coordinates& base);
  void keep_pairs();
  Status drop_repeated();
  Status check_same_files(const Case& kept, const Case& repeated) const;
  void warn_of_idle_rules();
  Status check_count() const;

  const Spec& spec_;
  const ExpansionContext& context_;
  std::vector<BoundModel> models_;
  std::vector<Options> options_;
  std::vector<Coordinates> option_places_;
  std::vector<Json> scenarios_;
  std::vector<Coordinates> scenario_places_;
  std::vector<const ExpansionDevice*> devices_;  ///< In the spec's order.
  std::vector<Block> blocks_;
  std::vector<Coordinates> places_;  ///< Coordinates of expansion_.cases.
  Exclusion exclusion_;
  Expansion expansion_;
};

// Every combination of values, the last name varying fastest; null leaves its name out.
void add_combinations(const std::map<std::string, std::vector<Json>>& options,
                      std::vector<Options>& combinations, std::vector<Coordinates>& places) {
  combinations = {Json::object()};
  places = {{}};
  for (const auto& [name, values] : options) {
    std::vector<Options> wider;
    std::vector<Coordinates> wider_places;
    for (std::size_t i = 0; i < combinations.size(); ++i) {
      for (std::size_t value = 0; value < values.size(); ++value) {
        wider.push_back(combinations[i]);
        if (!values[value].is_null()) {
          wider.back()[name] = values[value];
        }
        wider_places.push_back(places[i]);
        wider_places.back().push_back(static_cast<int>(value));
      }
    }
    combinations = std::move(wider);
    places = std::move(wider_places);
  }
}

Recipe program_recipe(const std::string& format) {
  return {.name = std::string(kProgramRecipe),
          .is_preset = true,
          .quantization = nullptr,
          .produces = format,
          .description = "a finished program"};
}

Result<Expansion> Expander::run(std::vector<BoundModel> models) {
  models_ = std::move(models);
  ASSAY_RETURN_IF_ERROR(check_size());
  add_combinations(spec_.options, options_, option_places_);
  add_combinations(spec_.scenario, scenarios_, scenario_places_);
  ASSAY_RETURN_IF_ERROR(digest_neighbors());
  collect_blocks();
  for (const auto& block : blocks_) {
    add_cells_of(block);
  }
  if (!context_.keeps_repeated) {
    ASSAY_RETURN_IF_ERROR(drop_repeated());
  }
  warn_of_idle_rules();
  expansion_.legal_cells = static_cast<int>(expansion_.cases.size());
  if (spec_.expand == Expand::kPairwise) {
    keep_pairs();
  }
  ASSAY_RETURN_IF_ERROR(check_count());
  return std::move(expansion_);
}

Status Expander::check_names() {
  ASSAY_RETURN_IF_ERROR(check_engines());
  return collect_devices();
}

Status Expander::check_engines() const {
  std::vector<std::string> known = known_engine_names();
  for (const auto& device : context_.devices) {
    std::ranges::transform(device.installed, std::back_inserter(known), &EngineBuild::name);
  }
  for (std::size_t i = 0; i < spec_.engines.size(); ++i) {
    const auto& name = spec_.engines[i].name;
    const bool is_foreign = context_.has_plugins || name.find(':') != std::string::npos;
    if (!is_foreign && std::ranges::find(known, name) == known.end()) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: engines[{}]: unknown engine '{}'{}", spec_.origin, i, name,
                              suggestion_for(name, known)));
    }
  }
  return {};
}

// A device that is not there must not be measured as another one.
Status Expander::collect_devices() {
  const auto& known = context_.devices;
  for (std::size_t i = 0; i < spec_.devices.size(); ++i) {
    const auto& name = spec_.devices[i];
    const auto where = fmt::format("{}: devices[{}]", spec_.origin, i);
    const auto found = std::ranges::find(known, name, &ExpansionDevice::name);
    if (found == known.end()) {
      std::vector<std::string> names(known.size());
      std::ranges::transform(known, names.begin(), &ExpansionDevice::name);
      return fail(ErrorCode::kInvalidArgument, fmt::format("{}: unknown device '{}'{}", where, name,
                                                           suggestion_for(name, names)));
    }
    if (std::ranges::find(devices_, &*found) != devices_.end()) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: duplicate device '{}'", where, name));
    }
    devices_.push_back(&*found);
  }
  return {};
}

// Multiplies before anything is built, so that a slip of the pen does not eat the memory.
Status Expander::check_size() const {
  const auto axis = [](std::size_t size) { return std::max<std::size_t>(1, size); };
  double cells = static_cast<double>(models_.size() * axis(spec_.recipes.size())) *
                 static_cast<double>(axis(spec_.engines.size()) * axis(spec_.devices.size()));
  for (const auto* axes : {&spec_.options, &spec_.scenario}) {
    for (const auto& [name, values] : *axes) {
      cells *= static_cast<double>(axis(values.size()));
    }
  }
  if (cells <= static_cast<double>(kMaxCells)) {
    return {};
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: the matrix has {:.0f} cells, but the limit is {}; remove values",
                          spec_.origin, cells, kMaxCells));
}

void Expander::collect_blocks() {
  for (std::size_t m = 0; m < models_.size(); ++m) {
    if (const auto& format = models_[m].program_format) {
      add_blocks_of(static_cast<int>(m), 0, program_recipe(*format));
      continue;
    }
    for (std::size_t r = 0; r < spec_.recipes.size(); ++r) {
      add_blocks_of(static_cast<int>(m), static_cast<int>(r) + 1, spec_.recipes[r]);
    }
  }
}

void Expander::add_blocks_of(int model_index, int recipe_index, const Recipe& recipe) {
  const auto& model = models_[static_cast<std::size_t>(model_index)];
  std::vector<std::vector<EngineChoice>> choices;
  std::size_t most = 0;
  for (const auto* device : devices_) {
    choices.push_back(choose_engines(spec_.engines, recipe, device->installed));
    most = std::max(most, choices.back().size());
  }
  for (std::size_t engine = 0; engine < most; ++engine) {
    for (std::size_t device = 0; device < devices_.size(); ++device) {
      if (engine >= choices[device].size()) {
        continue;
      }
      const auto& choice = choices[device][engine];
      auto own = recipe;
      if (!choice.lacks.empty() && !context_.has_libraries) {
        own.runtime_unavailable = choice.lacks;
      }
      add_block({.model = model,
                 .recipe = std::move(own),
                 .engine = choice.name,
                 .engine_build = choice.reference,
                 .device = devices_[device],
                 .place = {model_index, recipe_index, static_cast<int>(engine),
                           static_cast<int>(device)}},
                choice.refusal);
    }
  }
}

void Expander::add_block(Block block, const std::string& refusal) {
  if (refusal.empty()) {
    blocks_.push_back(std::move(block));
    return;
  }
  expansion_.refused.push_back({.model = block.model.short_name,
                                .recipe = block.recipe.name,
                                .engine = block.engine_build,
                                .device = block.device->name,
                                .reason = refusal,
                                .cells = static_cast<int>(options_.size() * scenarios_.size())});
}

void Expander::add_cells_of(const Block& block) {
  Case cell{.model = block.model.model,
            .recipe = block.recipe,
            .engine = block.engine,
            .inputs = block.model.inputs,
            .calibration = block.model.calibration,
            .expected_file = block.model.expected_file,
            .expected_sha256 = block.model.expected_sha256,
            .gives_layers = spec_.evaluate.gives_layers,
            .device_class = block.device->device_class,
            .engine_build = block.engine_build,
            .device = block.device->name,
            .require = spec_.require};
  for (std::size_t i = 0; i < options_.size(); ++i) {
    cell.options = options_[i];
    auto place = block.place;
    place.insert(place.end(), option_places_[i].begin(), option_places_[i].end());
    add_scenarios_of(cell, place);
  }
}

void Expander::add_scenarios_of(Case& cell, const Coordinates& base) {
  for (std::size_t i = 0; i < scenarios_.size(); ++i) {
    cell.scenario = scenarios_[i];
    if (exclusion_.takes(cell)) {
      ++expansion_.excluded_cells;
      continue;
    }
    auto place = base;
    place.insert(place.end(), scenario_places_[i].begin(), scenario_places_[i].end());
    expansion_.cases.push_back(cell);
    places_.push_back(std::move(place));
  }
}

// The companion programs.
Status Expander::digest_neighbors() {
  for (auto& scenario : scenarios_) {
    if (const auto beside = scenario.find("beside"); beside != scenario.end()) {
      auto digest = digest_program(beside->get<std::string>());
      if (!digest) {
        return fail_with_context(std::move(digest).error(), spec_.origin + ": scenario.beside");
      }
      scenario["beside_sha256"] = *std::move(digest);
    }
  }
  return {};
}

// Two entries of the spec may mean the same cell; it is one case.
Status Expander::drop_repeated() {
  std::map<CaseId, std::size_t> seen;  // Places in `cases`.
  std::vector<Case> cases;
  std::vector<Coordinates> places;
  for (std::size_t i = 0; i < expansion_.cases.size(); ++i) {
    auto& cell = expansion_.cases[i];
    const auto [known, is_new] = seen.emplace(case_id_from(cell), cases.size());
    if (is_new) {
      cases.push_back(std::move(cell));
      places.push_back(std::move(places_[i]));
    } else {
      ASSAY_RETURN_IF_ERROR(check_same_files(cases[known->second], cell));
      expansion_.warnings.push_back(fmt::format("{}: '{}' occurs in the matrix twice and runs once",
                                                spec_.origin, label_of(cell)));
    }
  }
  expansion_.cases = std::move(cases);
  places_ = std::move(places);
  return {};
}

// Two command programs of one text and one name may name other files: neither stands for the other.
Status Expander::check_same_files(const Case& kept, const Case& repeated) const {
  if (kept.model.ref == repeated.model.ref) {
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto a, digest_named_files(kept.model.ref));
  ASSAY_ASSIGN_OR_RETURN(const auto b, digest_named_files(repeated.model.ref));
  return a == b ? Status()
                : fail(ErrorCode::kInvalidArgument,
                       fmt::format("{}: '{}' and '{}' are one program by name and text, and differ "
                                   "in the files that they execute: give one another file name, or "
                                   "use assay compare",
                                   spec_.origin, kept.model.ref, repeated.model.ref));
}

void Expander::warn_of_idle_rules() {
  for (const auto rule : exclusion_.idle_rules()) {
    expansion_.warnings.push_back(
        fmt::format("{}: exclude[{}] matches no cell; correct or remove it", spec_.origin, rule));
  }
  const bool is_any_made = std::ranges::any_of(
      models_, [](const BoundModel& model) { return !model.program_format.has_value(); });
  if (!spec_.recipes.empty() && !is_any_made) {
    expansion_.warnings.push_back(
        fmt::format("{}: recipe '{}' is not used: recipes make programs of models, and {} a "
                    "finished program already",
                    spec_.origin, spec_.recipes.front().name,
                    models_.size() == 1 ? fmt::format("'{}' is", models_.front().short_name)
                                        : "every model here is"));
  }
}

void Expander::keep_pairs() {
  std::vector<Case> kept;
  for (const auto index : pick_pairwise(places_)) {
    kept.push_back(std::move(expansion_.cases[index]));
  }
  expansion_.cases = std::move(kept);
}

Status Expander::check_count() const {
  const auto count = expansion_.cases.size();
  if (count <= static_cast<std::size_t>(spec_.max_cases)) {
    return {};
  }
  const auto* advice = spec_.expand == Expand::kPairwise ? "" : "set \"expand\": \"pairwise\", ";
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format("{}: {} cases exceed the limit of {}; remove values, {}or raise \"max_cases\"",
                  spec_.origin, count, spec_.max_cases, advice));
}

}  // namespace

Result<Expansion> expand(const Spec& spec, const ExpansionContext& context) {
  Expander expander(spec, context);
  ASSAY_RETURN_IF_ERROR(expander.check_names());
  ASSAY_ASSIGN_OR_RETURN(auto models, bind_models(spec));
  return expander.run(std::move(models));
}

Result<Expansion> expand_settings(const Spec& spec, const ExpansionContext& context) {
  Expander expander(spec, context);
  ASSAY_RETURN_IF_ERROR(expander.check_names());
  return expander.run({unbound_model(spec)});
}

}  // namespace assay
