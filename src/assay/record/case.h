#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// A network by reference: "torchvision:mobilenet_v2", "file.py:factory", "model.pt2",
/// "program.pte".
struct ModelReference {
  std::string ref;
  std::string name;  ///< Shown to people; empty: the short name.
  Json args = Json::object();
  std::uint64_t seed = 0;     ///< Seed of random weights; unused for files.
  std::string source_sha256;  ///< Digest of the file behind `ref`; empty for a library's model.
  std::vector<TensorSpec> inputs;  ///< Empty: the model's own example inputs.
  std::optional<bool>
      weight_init;  ///< Rescale random weights or not; absent: the toolchain decides.
  /// Sizes of the named dimensions that a program file leaves open: {"batch": 1}.
  std::map<std::string, std::int64_t> dimensions;
};

/// Quantization x lowering x format. A preset is known by name, an inline recipe by its content.
struct Recipe {
  std::string name;
  bool is_preset = false;
  std::string engine;               ///< "executorch"
  Json quantization;                ///< Null: none.
  Json lowering = Json::object();   ///< {flow, partitioner, options}
  std::string produces;             ///< Program format: "pte".
  Json tolerance = Json::object();  ///< See evaluate/tolerance.h; empty: by dtype.
  std::string description;
  std::string backend;  ///< Backend of the engine that its program needs; empty: any engine's own.
  /// Why the engine build of the case cannot run its program: it is made and not launched.
  std::string runtime_unavailable;
};

/// True if calibration inputs may take part: a recipe that ExecuTorch's backends register quantizes
/// or does not, whatever Assay knows of it.
bool may_calibrate(const Recipe& recipe);

/// Role of random inputs that are used in addition to real ones; see docs/guide/accuracy.md.
inline constexpr std::string_view kParityRole = "parity";

/// Inputs by generator and seed, or by file.
struct InputSet {
  std::string generator = "normal";  ///< "normal" or "file".
  std::uint64_t seed = 1;
  int count = 4;  ///< Samples.
  /// "evaluation" or "calibration", which are never the same; "parity": random inputs next to the
  /// real ones that another case evaluates on.
  std::string role = "evaluation";
  std::string file;  ///< A file or folder of docs/reference/specs.md, for "file".
  std::string file_sha256;
};

/// One cell of the matrix.
struct Case {
  ModelReference model;
  Recipe recipe;
  std::string engine;             ///< Name without build: "executorch".
  Json options = Json::object();  ///< Requested options of load and run.
  std::string method = "forward";
  Json scenario = Json::object();  ///< Differences from the defaults of a Scenario: scenario.h.
  InputSet inputs;
  InputSet calibration;
  std::string expected_file;  ///< Expected outputs apart from the inputs; not part of the key.
  std::string expected_sha256;
  bool gives_layers =
      false;  ///< The program's layers are outputs, too: to find where errors arise.
  /// The program is these layers, each by itself and fed exact inputs; "*": all. Empty: it is
  /// whole.
  std::vector<std::string> pieces;
  std::string device_class;  ///< "linux-x86_64:amd-epyc:2cpu"

  std::string engine_build;  ///< "executorch@1.5.1"; part of the subject, not of the key.
  std::string device = "local";
  Json require = Json::object();  ///< Gates: metric name to bound; not part of the key.
};

/// Identity across time: SHA-256 of canonical JSON of {model, weights, recipe, engine, options,
/// method, scenario, inputs, device class}. Holds no version, program digest, host, path or serial.
std::string case_key(const Case& cell);

/// The document that case_key digests; kept in the store so that a key can be explained.
Json identity_of(const Case& cell);

/// Name of a model in texts for people: its own name in its run, or else the short one.
std::string display_name(const ModelReference& model);

/// The recipe name of a case whose model is a finished program.
inline constexpr std::string_view kProgramRecipe = "program";

bool is_finished_program(const Case& cell);

/// "mobilenet_v2 executorch/xnnpack-int8 threads=1", or "a_int8/program threads=1" for a finished
/// program, which has no recipe: for people; unique within most runs.
std::string label_of(const Case& cell);

/// The scenario as a spec and --scenario take it: "gap=5ms", "streams=2"; empty for the default
/// one.
std::vector<std::string> condition_texts_of(const Case& cell);

/// "mobilenet_v2" from "torchvision:mobilenet_v2", "kws" from "models/kws.pte".
std::string short_name_of(const ModelReference& model);

ASSAY_DECLARE_JSON(ModelReference);
ASSAY_DECLARE_JSON(Recipe);
ASSAY_DECLARE_JSON(InputSet);
ASSAY_DECLARE_JSON(Case);

}  // namespace assay
