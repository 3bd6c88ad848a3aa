#include "assay/record/case.h"

#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

Json identity_of_inputs(const InputSet& inputs) {
  if (inputs.generator == "file") {
    Json identity = {{"generator", "file"}, {"sha256", inputs.file_sha256}};
    if (const auto callable = inputs.file.rfind(".py:"); callable != std::string::npos) {
      identity["callable"] = inputs.file.substr(callable + 4);
    }
    return identity;
  }
  return {{"generator", inputs.generator}, {"seed", inputs.seed}, {"count", inputs.count}};
}

// A factory's file is code: its weights come from the seed.
std::string weights_id_of(const ModelReference& model) {
  auto seed = fmt::format("seed:{}", model.seed);
  if (model.source_sha256.empty()) {
    return seed;
  }
  const bool is_factory = model.ref.find(".py:") != std::string::npos;
  return "sha256:" + model.source_sha256 + (is_factory ? " " + seed : "");
}

Json identity_of_model(const ModelReference& model) {
  Json shapes = Json::array();
  for (const auto& input : model.inputs) {
    shapes.push_back({{"shape", input.shape}, {"dtype", input.dtype}});
  }
  // A file is known by its content, wherever it lies; its name stays for people.
  const bool is_file = !model.source_sha256.empty();
  Json identity = {{"ref", is_file ? short_name_of(model) : model.ref},
                   {"args", model.args},
                   {"inputs", shapes},
                   {"weights", weights_id_of(model)}};
  if (model.weight_init) {
    identity["weight_init"] = *model.weight_init;
  }
  if (!model.dimensions.empty()) {
    identity["dimensions"] = model.dimensions;
  }
  return identity;
}

Json identity_of_recipe(const Recipe& recipe) {
  if (recipe.is_preset) {
    return recipe.name;
  }
  return {{"quantization", recipe.quantization},
          {"lowering", recipe.lowering},
          {"produces", recipe.produces}};
}

// A program is known by its content, wherever it lies.
Json identity_of_scenario(Json scenario) {
  scenario.erase("beside");
  return scenario;
}

// The largest unit that keeps it whole: "5ms".
std::string exact_duration(std::int64_t ns) {
  constexpr auto kUnits = std::to_array<std::pair<std::int64_t, std::string_view>>(
      {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "µs"}});
  for (const auto& [unit_ns, name] : kUnits) {
    if (ns % unit_ns == 0) {
      return fmt::format("{}{}", ns / unit_ns, name);
    }
  }
  return fmt::format("{}ns", ns);
}

// The text that a spec and --scenario take.
std::string text_of_condition(const std::string& name, const Json& value) {
  if (name == "gap_ns") {
    return "gap=" + exact_duration(value.get<std::int64_t>());
  }
  if (name == "duration_ns") {
    return "duration=" + exact_duration(value.get<std::int64_t>());
  }
  return fmt::format("{}={}", name == "cool_below_celsius" ? "cool_below" : name,
                     unquoted_text(value));
}

}  // namespace

bool may_calibrate(const Recipe& recipe) {
  constexpr const char* kOpaqueFlow = "executorch_recipe";
  return !recipe.quantization.is_null() ||
         (recipe.lowering.is_object() && recipe.lowering.value("flow", "") == kOpaqueFlow);
}

Json identity_of(const Case& cell) {
  Json identity = {{"model", identity_of_model(cell.model)},
                   {"recipe", identity_of_recipe(cell.recipe)},
                   {"engine", cell.engine},
                   {"options", cell.options},
                   {"method", cell.method},
                   {"scenario", identity_of_scenario(cell.scenario)},
                   {"inputs", identity_of_inputs(cell.inputs)},
                   {"device_class", cell.device_class}};
  // Later fields are left out where they are not used, so that older keys stay.
  if (cell.gives_layers) {
    identity["layers"] = true;
  }
  if (!cell.pieces.empty()) {
    identity["pieces"] = cell.pieces;
  }
  if (cell.calibration.generator == "file" && may_calibrate(cell.recipe)) {
    identity["calibration"] = identity_of_inputs(cell.calibration);
  }
  return identity;
}

std::string case_key(const Case& cell) { return digest_of_json(identity_of(cell)); }

std::string short_name_of(const ModelReference& model) {
  const auto& ref = model.ref;
  if (const auto slash = ref.find_last_of('/'); slash != std::string::npos) {
    return short_name_of({.ref = ref.substr(slash + 1)});
  }
  const auto colon = ref.find(':');
  if (colon == std::string::npos) {
    return ref.substr(0, ref.find_last_of('.'));
  }
  // "torchvision:resnet18" is the model, "net.py:make" its factory.
  const auto head = ref.substr(0, colon);
  return head.ends_with(".py") ? head.substr(0, head.size() - 3) + ":" + ref.substr(colon + 1)
                               : ref.substr(colon + 1);
}

std::vector<std::string> condition_texts_of(const Case& cell) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : cell.scenario.items()) {
    if (name != "beside_sha256") {
      texts.push_back(text_of_condition(name, value));
    }
  }
  return texts;
}

std::string display_name(const ModelReference& model) {
  return model.name.empty() ? short_name_of(model) : model.name;
}

bool is_finished_program(const Case& cell) { return cell.recipe.name == kProgramRecipe; }

std::string label_of(const Case& cell) {
  std::string label = display_name(cell.model);
  if (!is_finished_program(cell)) {
    label += (label.empty() ? "" : " ") + cell.recipe.name;
  }
  for (const auto& input : cell.model.inputs) {
    label += " " + text_from_shape(input.shape);
  }
  for (const auto& [name, size] : cell.model.dimensions) {
    label += fmt::format(" {}={}", name, size);
  }
  for (const auto& [name, value] : cell.options.items()) {
    label += fmt::format(" {}={}", name, unquoted_text(value));
  }
  for (const auto& text : condition_texts_of(cell)) {
    const auto slash = text.find_last_of('/');
    label += " " + (slash == std::string::npos ? text : "beside=" + text.substr(slash + 1));
  }
  if (cell.inputs.role == kParityRole) {
    label += " random inputs";
  }
  return cell.gives_layers ? label + " layers" : label;
}

ASSAY_DEFINE_JSON(ModelReference, ref, name, args, seed, source_sha256, inputs, weight_init,
                  dimensions)
ASSAY_DEFINE_JSON(Recipe, name, is_preset, engine, quantization, lowering, produces, tolerance,
                  description, backend, runtime_unavailable)
ASSAY_DEFINE_JSON(InputSet, generator, seed, count, role, file, file_sha256)
ASSAY_DEFINE_JSON(Case, model, recipe, engine, options, method, scenario, inputs, calibration,
                  expected_file, expected_sha256, gives_layers, pieces, device_class, engine_build,
                  device, require)

}  // namespace assay
