#include "assay/artifact/job_requests.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "assay/artifact/cache.h"
#include "assay/base/json.h"
#include "assay/record/case.h"

namespace assay {
namespace {

Json input_request(const InputSet& inputs) {
  if (inputs.generator == "file") {
    return {{"file", inputs.file}, {"role", inputs.role}};
  }
  return {{"generator", inputs.generator}, {"seed", inputs.seed}, {"count", inputs.count}};
}

/// The inputs of an evaluation, with the outputs that are expected of them where they stand apart.
Json evaluation_request(const Case& cell) {
  auto request = input_request(cell.inputs);
  if (!cell.expected_file.empty()) {
    request["expected"] = cell.expected_file;
  }
  return request;
}

Json calibration_request(const InputSet& calibration) {
  if (calibration.generator == "file") {
    return {{"file", calibration.file}};
  }
  return {{"generator", calibration.generator},
          {"seed", calibration.seed},
          {"batches", calibration.count}};
}

Json pieces_request(const Case& cell) {
  return cell.pieces.empty() ? Json(nullptr) : Json(cell.pieces);
}

}  // namespace

Json model_request(const ModelReference& model) {
  Json request{{"ref", model.ref}, {"args", model.args}, {"seed", model.seed}};
  for (const auto& input : model.inputs) {
    request["inputs"].push_back({{"shape", input.shape}, {"dtype", input.dtype}});
  }
  if (model.weight_init) {
    request["weight_init"] = *model.weight_init;
  }
  return request;
}

Json recipe_request(const Recipe& recipe) {
  return {{"name", recipe.name},
          {"engine", recipe.engine},
          {"quantization", recipe.quantization},
          {"lowering", recipe.lowering},
          {"produces", recipe.produces}};
}

Json build_request(const Case& cell, bool is_stop_after_lower) {
  return {{"job", "build"},
          {"model", model_request(cell.model)},
          {"recipe", recipe_request(cell.recipe)},
          {"calibration", calibration_request(cell.calibration)},
          {"layers", cell.gives_layers},
          {"pieces", pieces_request(cell)},
          {"stop_after", is_stop_after_lower ? Json("lower") : Json(nullptr)}};
}

Json reference_request(const Case& cell, const std::string& kind) {
  return {
      {"job", "reference"},
      {"model", model_request(cell.model)},
      {"quantization", uses_quantization(cell, kind) ? cell.recipe.quantization : Json(nullptr)},
      {"lowering", uses_lowering(kind) ? cell.recipe.lowering : Json(nullptr)},
      {"kind", kind},
      {"inputs", evaluation_request(cell)},
      {"layers", cell.gives_layers},
      {"pieces", pieces_request(cell)},
      {"calibration", calibration_request(cell.calibration)}};
}

Json stimulus_request(const Case& cell, const std::string& kind) {
  auto program = model_request(cell.model);
  program.erase("args");
  program.erase("seed");
  program.erase("weight_init");
  program["dimensions"] = cell.model.dimensions;
  return {{"job", "stimulus"},
          {"program", std::move(program)},
          {"kind", kind},
          {"inputs", evaluation_request(cell)}};
}

}  // namespace assay
