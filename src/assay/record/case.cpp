#include "assay/record/case.h"

#include <fmt/format.h>
#include <string>

#include "assay/base/json.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

Json identity_of_inputs(const InputSet& inputs) {
  if (inputs.generator == "file") {
    return {{"generator", "file"}, {"sha256", inputs.file_sha256}};
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
  if (model.healthy) {
    identity["healthy"] = *model.healthy;
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

}  // namespace

Json identity_of(const Case& cell) {
  return {{"model", identity_of_model(cell.model)},
          {"recipe", identity_of_recipe(cell.recipe)},
          {"engine", cell.engine},
          {"options", cell.options},
          {"method", cell.method},
          {"scenario", cell.scenario},
          {"inputs", identity_of_inputs(cell.inputs)},
          {"device_class", cell.device_class}};
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

std::string label_of(const Case& cell) {
  std::string label = fmt::format("{} {}", short_name_of(cell.model), cell.recipe.name);
  for (const auto& input : cell.model.inputs) {
    label += " " + text_from_shape(input.shape);
  }
  for (const auto& [name, value] : cell.options.items()) {
    label +=
        fmt::format(" {}={}", name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return label;
}

ASSAY_DEFINE_JSON(ModelReference, ref, args, seed, source_sha256, inputs, healthy)
ASSAY_DEFINE_JSON(Recipe, name, is_preset, engine, quantization, lowering, produces, tolerance,
                  description, runtime_unavailable)
ASSAY_DEFINE_JSON(InputSet, generator, seed, count, role, file, file_sha256)
ASSAY_DEFINE_JSON(Case, model, recipe, engine, options, method, scenario, inputs, calibration,
                  device_class, engine_build, device, require)

}  // namespace assay
