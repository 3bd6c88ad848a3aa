#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/evaluate/output_values.h"
#include "assay/record/attribution.h"
#include "assay/record/case.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/store/result_store.h"

namespace assay {

/// Results of an evaluation launch.
struct LaunchOutputs {
  std::span<const std::byte> outputs;  ///< safetensors "<sample>.<index>"
  std::vector<TensorSpec> specs;       ///< Outputs as the program declares them.
  std::int64_t differing_elements = 0;
  std::vector<std::string> random_operators;  ///< From the manifest.
};

/// Compares the program's own outputs, without its layers, with one reference; where that has error
/// bounds, they decide. `tolerance`: of the spec, empty to use the recipe's. Errors: kCorrupt
/// (files), kInvalidArgument (tolerance).
Result<AccuracyTable> evaluate_outputs(const Case& cell, const LaunchOutputs& launch,
                                       const Reference& reference, const Json& tolerance,
                                       std::size_t layers = 0);

/// Outputs and inputs of a joint program that belong to one of its parts.
struct ProgramPart {
  OutputRange outputs;
  OutputRange inputs;
};

/// The parts of a joint program, from its manifest; empty for most programs.
std::vector<ProgramPart> parts_of(const Json& manifest);

/// Evaluates each part by itself, with its own verdict, reason and controls. What differs
/// between executions is not known by part and counts for all of them.
Result<std::vector<AccuracyTable>> evaluate_parts(const Case& cell, const LaunchOutputs& launch,
                                                  const Reference& reference, const Json& tolerance,
                                                  const std::vector<ProgramPart>& parts);

/// The layers that a program gives out behind its own outputs, from its manifest; empty for most
/// programs.
std::vector<LayerOrigin> layers_of(const Json& manifest);

/// The operators of a program that draw at random, from its manifest; empty for most programs.
std::vector<std::string> random_operators_of(const Json& manifest);

/// The references of a program that were made from what it was made from.
struct ComparableReferences {
  std::map<std::string, Reference> references;  ///< Keyed by kind.
  std::string reason;  ///< Why others were left out (why_not_comparable); empty: none was.
};

/// `manifest`, `fed`: as why_not_comparable() takes them.
ComparableReferences comparable_references(const std::map<std::string, Reference>& references,
                                           const Json& manifest, const Json& fed);

/// Follows the error through the layers that the program gives out (Case::gives_layers); the
/// manifest names them. `references`: by kind, "float32" and "qdq" are looked at. Errors: kCorrupt
/// (files), kInvalidArgument (the outputs are not those that the manifest tells of).
Result<Attribution> evaluate_layers(const Json& manifest, const LaunchOutputs& launch,
                                    const std::map<std::string, Reference>& references);

/// Adds what each layer does by itself: `launch` is of a program of pieces (Case::pieces), whose
/// manifest names them. Errors: as evaluate_layers.
Status evaluate_pieces(const Json& manifest, const LaunchOutputs& launch,
                       const std::map<std::string, Reference>& references, Attribution& found);

/// The table's numbers as rows, scoped "against:float32/output:0".
std::vector<MetricRow> metric_rows_of(const AccuracyTable& table, const std::string& attempt);

}  // namespace assay
