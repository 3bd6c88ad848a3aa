#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "assay/spec/node.h"
#include "assay/spec/spec.h"

/// Readers of the parts of a spec, and the keys that each part knows. What is wrong is noted in the
/// node's problems.
namespace assay::spec_parts {

inline constexpr auto kTopKeys = std::to_array<std::string_view>(
    {"$schema",  "schema",  "name",     "models",   "recipes",     "engines", "options",
     "scenario", "devices", "measure",  "evaluate", "calibration", "require", "exclude",
     "seed",     "labels",  "baseline", "expand",   "max_cases",   "sandbox"});
inline constexpr auto kModelKeys =
    std::to_array<std::string_view>({"ref", "seed", "args", "inputs", "expected", "dimensions",
                                     "calibration", "url", "sha256", "weight_init"});
inline constexpr auto kInputKeys = std::to_array<std::string_view>({"shape", "dtype"});
inline constexpr auto kRecipeKeys =
    std::to_array<std::string_view>({"name", "engine", "backend", "quantization", "lowering",
                                     "produces", "tolerance", "description"});
inline constexpr auto kLoweringKeys =
    std::to_array<std::string_view>({"flow", "partitioner", "options", "recipe"});
inline constexpr auto kMeasureKeys = std::to_array<std::string_view>(
    {"launches", "interval", "most_launches", "case_budget", "warmup", "iterations",
     "min_iterations", "time_budget", "passes", "leak_check", "sensors"});
inline constexpr auto kLeakCheckKeys = std::to_array<std::string_view>({"loads", "inferences"});
inline constexpr auto kEvaluateKeys = std::to_array<std::string_view>(
    {"against", "samples", "seed", "tolerance", "layers", "parity"});
inline constexpr auto kCalibrationKeys = std::to_array<std::string_view>({"batches", "seed"});
inline constexpr auto kScenarioKeys = std::to_array<std::string_view>(
    {"gap", "duration", "streams", "page_cache", "cores", "background", "cool_below", "beside"});
inline constexpr auto kExcludeKeys =
    std::to_array<std::string_view>({"model", "recipe", "engine", "device", "options", "scenario"});

std::vector<SpecModel> read_models(const Node& node, const SpecContext& context);
std::vector<Recipe> read_recipes(const Node& node, const SpecContext& context);
SpecMeasure read_measure(const Node& node);
SpecEvaluate read_evaluate(const Node& node);
SpecCalibration read_calibration(const Node& node);
Json read_require(const Node& node, const SpecContext& context);
std::vector<SpecExclude> read_exclude(const Node& node, const SpecContext& context);
std::map<std::string, std::vector<Json>> read_options(const Node& node);

/// Values by field of record/scenario.h; null is the field's default.
std::map<std::string, std::vector<Json>> read_scenario(const Node& node,
                                                       const SpecContext& context);

/// Bounds by metric and a reason in words under "why"; see docs/guide/accuracy.md.
Json read_tolerance(const Node& node);

/// Complains about an evaluation that the request itself rules out: a kind of reference that no
/// model and recipe of the spec can have, or nothing at all to hold any case against.
void check_references(const Node& top, const Spec& spec);

/// Complains about a bound on a metric that no pass of the spec measures: it could never be met.
void check_gates(const Node& top, const Spec& spec);

/// A problem with did-you-mean unless `name` is one of `known`.
void expect_one_of(const Node& node, std::string_view what, std::string_view name,
                   const std::vector<std::string>& known);

}  // namespace assay::spec_parts
