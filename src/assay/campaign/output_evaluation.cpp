#include "assay/campaign/output_evaluation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/evaluate/attribution.h"
#include "assay/evaluate/comparability.h"
#include "assay/evaluate/evaluate.h"
#include "assay/evaluate/output_types.h"
#include "assay/evaluate/output_values.h"
#include "assay/evaluate/tolerance.h"
#include "assay/record/attribution.h"
#include "assay/record/case.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/spec/reference_kind.h"
#include "assay/store/result_store.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/safetensors.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

using Samples = std::vector<std::vector<Tensor>>;

/// The labels beside a reference, of all samples in order; none where its inputs have none.
Result<std::vector<std::int64_t>> labels_of(const std::filesystem::path& folder) {
  std::vector<std::int64_t> labels;
  const auto path = folder / "labels.safetensors";
  if (!std::filesystem::exists(path)) {
    return labels;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto tensors, read_safetensors(path));
  ASSAY_ASSIGN_OR_RETURN(const auto samples, samples_from_tensors(tensors));
  for (const auto& sample : samples) {
    for (const double label : doubles_from_tensor(sample.front().view())) {
      labels.push_back(std::llround(label));
    }
  }
  return labels;
}

void drop_last(std::size_t count, Samples& samples) {
  for (auto& outputs : samples) {
    outputs.resize(outputs.size() - std::min(count, outputs.size()));
  }
}

/// Expected outputs of that kind; none where there is no such reference.
Result<Samples> expected_of(const std::map<std::string, Reference>& references,
                            const std::string& kind) {
  const auto found = references.find(kind);
  if (found == references.end()) {
    return Samples();
  }
  const auto path = std::filesystem::path(found->second.folder) / "outputs.safetensors";
  ASSAY_ASSIGN_OR_RETURN(const auto tensors, read_safetensors(path));
  return samples_from_tensors(tensors);
}

/// Both sides of an evaluation: outputs, their references, and the permitted errors.
struct Sides {
  Samples results;
  Samples expected;
  Samples bounds;  ///< Empty where the reference has none,
  Samples inputs;  ///< and so are these.
  std::vector<std::int64_t> labels;
};

Result<Samples> samples_of_file(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) {
    return Samples();
  }
  ASSAY_ASSIGN_OR_RETURN(const auto tensors, read_safetensors(path));
  return samples_from_tensors(tensors);
}

Result<Sides> read_sides(const LaunchOutputs& launch, const Reference& reference) {
  Sides sides;
  const std::filesystem::path folder = reference.folder;
  ASSAY_ASSIGN_OR_RETURN(const auto results, tensors_from_safetensors(launch.outputs));
  ASSAY_ASSIGN_OR_RETURN(const auto expected, read_safetensors(folder / "outputs.safetensors"));
  ASSAY_ASSIGN_OR_RETURN(sides.results, samples_from_tensors(results));
  ASSAY_ASSIGN_OR_RETURN(sides.expected, samples_from_tensors(expected));
  ASSAY_ASSIGN_OR_RETURN(sides.bounds, samples_of_file(folder / "bounds.safetensors"));
  if (!sides.bounds.empty()) {
    ASSAY_ASSIGN_OR_RETURN(sides.inputs, samples_of_file(folder / "inputs.safetensors"));
  }
  ASSAY_ASSIGN_OR_RETURN(sides.labels, labels_of(folder));
  return sides;
}

/// Outputs of which the reference says so: "constant", the same for every input, or "unchanged".
std::vector<std::size_t> outputs_marked(const Json& document, const char* mark) {
  std::vector<std::size_t> marked;
  const auto outputs = document.value("outputs", Json::array());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].is_object() && outputs[i].value(mark, false)) {
      marked.push_back(i);
    }
  }
  return marked;
}

/// Types that a result may have although the reference's are others: those of the model itself
/// (a float64 reference is wider), of a recipe that casts it, and whatever a user's file has.
TypeRules types_of(const Case& cell, const Reference& reference) {
  const bool is_of_model = reference.kind == "float32" || reference.kind == "float64";
  TypeRules rules{.is_any_width = reference.kind == kFileKind};
  if (is_of_model) {
    rules.cast = cast_of_quantization(cell.recipe.quantization);
  }
  for (const auto& output : reference.document.value("outputs", Json::array())) {
    rules.own.push_back(output.is_object()
                            ? find_enum<Dtype>(output.value("own_dtype", std::string()))
                            : std::nullopt);
  }
  return rules;
}

/// The loss of float32 in each output, as the reference tells.
std::vector<Sensitivity> sensitivity_of(const Reference& reference) {
  std::vector<Sensitivity> found;
  for (const auto& output : reference.document.value("outputs", Json::array())) {
    auto& one = found.emplace_back();
    const auto told = output.is_object() ? output.value("sensitivity", Json()) : Json();
    for (const auto& [metric, error] : told.items()) {
      if (error.is_number()) {
        one[metric] = error.get<double>();
      }
    }
  }
  return found;
}

Evaluation evaluation_of(const Case& cell, const LaunchOutputs& launch, const Reference& reference,
                         const Sides& sides) {
  return {.against = reference.kind,
          .results = sides.results,
          .references = sides.expected,
          .bounds = sides.bounds,
          .types = types_of(cell, reference),
          .sensitivity = sensitivity_of(reference),
          .constant_outputs = outputs_marked(reference.document, "constant"),
          .copied_outputs = outputs_marked(reference.document, "unchanged"),
          .inputs = sides.inputs,
          .outputs = launch.specs,
          .differing_elements = launch.differing_elements,
          .random_operators = launch.random_operators,
          .labels = sides.labels};
}

/// The layers that a program gave out, and what they should be.
struct LayersRead {
  std::vector<LayerOrigin> layers;
  Samples results;
  Samples quantized;
  Samples floating;

  [[nodiscard]] LayerOutputs view() const {
    return {.layers = layers, .results = results, .quantized = quantized, .floating = floating};
  }
};

/// A list of "program"; empty if there is none, as for a program that was made elsewhere.
Json listed_in_program(const Json& manifest, const char* name) {
  if (!manifest.is_object()) {
    return Json::array();
  }
  return manifest.value("program", Json::object()).value(name, Json::array());
}

Result<LayersRead> read_layers(const Json& manifest, const LaunchOutputs& launch,
                               const std::map<std::string, Reference>& references) {
  LayersRead read{.layers = layers_of(manifest)};
  ASSAY_ASSIGN_OR_RETURN(const auto tensors, tensors_from_safetensors(launch.outputs));
  ASSAY_ASSIGN_OR_RETURN(read.results, samples_from_tensors(tensors));
  ASSAY_ASSIGN_OR_RETURN(read.quantized, expected_of(references, "qdq"));
  ASSAY_ASSIGN_OR_RETURN(read.floating, expected_of(references, "float32"));
  return read;
}

OutputRange range_from_json(const Json& json) {
  return {.begin = json.at(0).get<std::size_t>(), .end = json.at(1).get<std::size_t>()};
}

}  // namespace

std::vector<LayerOrigin> layers_of(const Json& manifest) {
  return listed_in_program(manifest, "layers").get<std::vector<LayerOrigin>>();
}

std::vector<std::string> random_operators_of(const Json& manifest) {
  return listed_in_program(manifest, "random").get<std::vector<std::string>>();
}

ComparableReferences comparable_references(const std::map<std::string, Reference>& references,
                                           const Json& manifest, const Json& fed) {
  ComparableReferences found;
  for (const auto& [kind, reference] : references) {
    if (auto reason = why_not_comparable(manifest, reference.document, fed)) {
      found.reason = *std::move(reason);
    } else {
      found.references.emplace(kind, reference);
    }
  }
  return found;
}

Result<Attribution> evaluate_layers(const Json& manifest, const LaunchOutputs& launch,
                                    const std::map<std::string, Reference>& references) {
  ASSAY_ASSIGN_OR_RETURN(const auto read, read_layers(manifest, launch, references));
  return attribute_error(read.view());
}

Status evaluate_pieces(const Json& manifest, const LaunchOutputs& launch,
                       const std::map<std::string, Reference>& references, Attribution& found) {
  ASSAY_ASSIGN_OR_RETURN(const auto read, read_layers(manifest, launch, references));
  return judge_alone(read.view(), found);
}

std::vector<ProgramPart> parts_of(const Json& manifest) {
  std::vector<ProgramPart> parts;
  for (const auto& part : listed_in_program(manifest, "parts")) {
    parts.push_back({.outputs = range_from_json(part.at("outputs")),
                     .inputs = range_from_json(part.value("inputs", Json::array({0, 0})))});
  }
  return parts;
}

Result<AccuracyTable> evaluate_outputs(const Case& cell, const LaunchOutputs& launch,
                                       const Reference& reference, const Json& tolerance,
                                       std::size_t layers) {
  ASSAY_ASSIGN_OR_RETURN(auto sides, read_sides(launch, reference));
  drop_last(layers, sides.results);
  drop_last(layers, sides.expected);
  ASSAY_ASSIGN_OR_RETURN(const auto tolerances,
                         tolerances_for(cell.recipe, tolerance, reference.kind));
  return evaluate_outputs(evaluation_of(cell, launch, reference, sides), tolerances);
}

Result<std::vector<AccuracyTable>> evaluate_parts(const Case& cell, const LaunchOutputs& launch,
                                                  const Reference& reference, const Json& tolerance,
                                                  const std::vector<ProgramPart>& parts) {
  ASSAY_ASSIGN_OR_RETURN(const auto sides, read_sides(launch, reference));
  ASSAY_ASSIGN_OR_RETURN(const auto tolerances,
                         tolerances_for(cell.recipe, tolerance, reference.kind));
  auto evaluation = evaluation_of(cell, launch, reference, sides);
  std::vector<AccuracyTable> tables;
  for (const auto& part : parts) {
    evaluation.range = part.outputs;
    evaluation.input_range = part.inputs;
    ASSAY_ASSIGN_OR_RETURN(auto table, evaluate_outputs(evaluation, tolerances));
    tables.push_back(std::move(table));
  }
  return tables;
}

std::vector<MetricRow> metric_rows_of(const AccuracyTable& table, const std::string& attempt) {
  std::vector<MetricRow> rows;
  for (const auto& output : table.outputs) {
    for (const auto& [name, metric] : output.metrics) {
      auto scoped = metric;
      scoped.scope = fmt::format("against:{}/output:{}", table.against, output.output);
      rows.push_back({.attempt = attempt, .launch = {}, .metric = std::move(scoped)});
    }
  }
  return rows;
}

}  // namespace assay
