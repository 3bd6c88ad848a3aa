#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/launch.h"
#include "assay/record/sandbox.h"
#include "assay/spec/recipes.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// One entry of "models".
struct SpecModel {
  ModelReference model;  ///< Has no inputs; a file's path is absolute, its digest still missing.
  std::vector<std::vector<TensorSpec>> bindings;  ///< Alternatives; empty: the model's own inputs.
  std::string input_file;        ///< Inputs from a file, a folder or file.py:callable.
  bool brings_inputs = false;    ///< The samples are those that the model brings along.
  std::string expected_file;     ///< The outputs that are expected of them, where apart.
  std::string calibration_file;  ///< File of the calibration samples, likewise.
  std::string url;               ///< Source of the file, shown to people.
  std::string sha256;            ///< Digest that the file must have; may be empty.
};

/// "executorch@1.5.1", or a name alone: its first installed build.
struct SpecEngine {
  std::string name;
  std::string label;

  [[nodiscard]] std::string reference() const { return label.empty() ? name : name + "@" + label; }
};

/// Repeats of the memory pass; 0: none.
struct SpecLeakCheck {
  int loads = 0;
  int inferences = 0;
};

struct SpecMeasure {
  int launches = 3;
  double interval_ratio = 0;        ///< Launches go on until the interval is so narrow; 0: fixed.
  int most_launches = 40;           ///< Limit if an interval is asked for.
  std::int64_t case_budget_ns = 0;  ///< Likewise: of all launches of a case; 0: none.
  MeasurePlan plan{.detects_warmup = true};
  std::string sensors = "auto";    ///< See sensors_period_from_text().
  bool adapts_iterations = false;  ///< By the spread of the first launches.
  std::vector<Pass> passes = {Pass::kTiming,
                              Pass::kMemory};  ///< And kEvaluate where "evaluate" is given.
  SpecLeakCheck leak_check;
};

struct SpecEvaluate {
  std::vector<std::string> against = {"float32", "file"};  ///< Each where there is such a one.
  int samples = 4;
  std::uint64_t seed = 1;
  Json tolerance = Json::object();  ///< Overrides the recipe's; see evaluate/tolerance.h.
  bool gives_layers = false;        ///< Errors are followed layer by layer.
  bool has_parity = false;          ///< Beside real inputs, random ones are evaluated on, too.
};

struct SpecCalibration {
  int batches = 8;
  std::uint64_t seed = 1000;
};

/// One rule of "exclude": a cell goes when all that is given here is so. Empty parts match all.
struct SpecExclude {
  std::string model;  ///< Reference or short name.
  std::string recipe;
  std::string engine;  ///< Name, or name@label.
  std::string device;
  Json options = Json::object();
  std::map<std::string, std::vector<Json>> scenario;  ///< Values as in Spec::scenario.
};

enum class Expand : std::uint8_t { kFull, kPairwise };

/// A spec file that was read and checked; expand.h makes cases of it.
struct Spec {
  std::string origin;  ///< File name, for messages.
  std::string name;
  std::vector<SpecModel> models;
  std::vector<Recipe> recipes;      ///< Resolved; empty when all models are programs.
  std::vector<SpecEngine> engines;  ///< Empty: each recipe's own engine.
  std::map<std::string, std::vector<Json>> options;
  std::map<std::string, std::vector<Json>> scenario;  ///< Keyed by field of record/scenario.h.
  std::vector<std::string> devices = {"local"};
  SpecMeasure measure;
  SpecEvaluate evaluate;
  SpecCalibration calibration;
  Json require = Json::object();  ///< Metric name to bound; see bound.h.
  std::vector<SpecExclude> exclude;
  std::uint64_t seed = 0;  ///< Seed of the order of launches.
  std::map<std::string, std::string> labels;
  std::string baseline;  ///< Recipe that ratios refer to; empty: none.
  Expand expand = Expand::kFull;
  int max_cases = 500;
  std::optional<SandboxMode> sandbox;  ///< Absent: for what comes from elsewhere.
  Json document;                       ///< The document as it was read.
  std::string digest;                  ///< Digest of `document`.
};

struct SpecContext {
  std::string origin = "spec";
  std::filesystem::path folder;  ///< Relative paths in the spec start here.
  const RecipeCatalog* catalog = &RecipeCatalog::built_in();
  std::vector<std::string> plugin_models;  ///< References that plug-ins define.
  bool has_plugins = false;                ///< Unknown names are left to plug-ins.
  bool has_models = true;                  ///< false: only settings, for models that come later.
};

/// Reads a spec file (JSON with comments, schema assay/spec/1, docs/reference/specs.md); `context`
/// gives all but origin and folder. Errors: kNotFound, kInvalidArgument with every problem on a
/// line of its own: file, path in it, and the fix; kUnsupported for another schema version.
Result<Spec> read_spec_file(const std::filesystem::path& path, SpecContext context = {});

/// Reads a spec from a document in memory. Does not touch the file system.
Result<Spec> spec_from_json(const Json& document, const SpecContext& context);

/// The JSON Schema of spec files, by which editors complete and check them.
std::string_view spec_schema();

/// Keys that an object of the spec may have; `path` is "models[]" and the like, "" for the top.
/// The JSON Schema must agree with them.
struct SpecKeys {
  std::string_view path;
  std::span<const std::string_view> keys;
};
std::span<const SpecKeys> spec_keys();

}  // namespace assay

template <>
inline constexpr auto assay::kEnumNames<assay::Expand> =
    std::to_array<assay::EnumName<assay::Expand>>(
        {{assay::Expand::kFull, "full"}, {assay::Expand::kPairwise, "pairwise"}});
