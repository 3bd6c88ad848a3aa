#include "assay/summary/reproduce.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/shell.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/model_inputs.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

// Defaults of bench and eval where no flag says otherwise; see cli/quick_spec.h and spec/spec.h.
constexpr int kUsualSamples = 4;
constexpr std::uint64_t kUsualSeed = 1;
constexpr int kUsualBatches = 8;
constexpr std::uint64_t kUsualCalibrationSeed = 1000;
constexpr std::string_view kLocal = "local";

bool has_pass(const Reproduction& how, Pass pass) {
  return std::ranges::find(how.passes, pass) != how.passes.end();
}

bool is_evaluated_only(const Reproduction& how) {
  return has_pass(how, Pass::kEvaluate) && !has_pass(how, Pass::kTiming);
}

/// True if --option gives the value back: "2" would be a number, "a,b" two values.
bool is_flag_value(const Json& value) {
  if (!value.is_string()) {
    return value.is_number() || value.is_boolean();
  }
  const auto& text = value.get_ref<const std::string&>();
  return !text.empty() && text.find(',') == std::string::npos &&
         Json::parse(text, nullptr, /*allow_exceptions=*/false).is_discarded();
}

bool is_usual_calibration(const Case& cell) {
  const auto& calibration = cell.calibration;
  const bool is_used = !cell.recipe.quantization.is_null() && calibration.role == "calibration";
  return calibration.generator != "file" &&
         (!is_used ||
          (calibration.seed == kUsualCalibrationSeed && calibration.count == kUsualBatches));
}

bool are_usual_inputs(const Case& cell, const Reproduction& how) {
  const auto is_plain = [](const TensorSpec& input) {
    return input.dtype == Dtype::kFloat32 && !input.shape.empty();
  };
  const auto& inputs = cell.inputs;
  const bool is_counted = inputs.generator != "file";
  return std::ranges::all_of(cell.model.inputs, is_plain) &&
         (!is_counted ||
          (inputs.seed == kUsualSeed && (is_evaluated_only(how) || inputs.count == kUsualSamples)));
}

/// True if bench or eval makes all passes of the case: bench does not evaluate, and profiles where
/// it is told to.
bool is_said_by_verb(const Reproduction& how) {
  if (is_evaluated_only(how)) {
    return how.passes.size() == 1;
  }
  const bool profiles = std::ranges::find(how.flags, "--profile") != how.flags.end();
  return !has_pass(how, Pass::kEvaluate) && (profiles || !has_pass(how, Pass::kProfile));
}

/// True if the flags of bench and eval can say all of the case.
bool is_said_by_flags(const Case& cell, const Reproduction& how) {
  const bool has_plain_options =
      std::ranges::all_of(cell.options, [](const Json& value) { return is_flag_value(value); });
  const bool has_condition_flags = !is_evaluated_only(how) || cell.scenario.empty();
  return is_said_by_verb(how) && has_condition_flags && cell.recipe.is_preset &&
         !cell.model.weight_init && !cell.gives_layers && cell.pieces.empty() &&
         how.tolerance.empty() && has_plain_options && is_usual_calibration(cell) &&
         are_usual_inputs(cell, how);
}

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const auto size : shape) {
    text += (text.empty() ? "" : ",") + fmt::to_string(size);
  }
  return text;
}

/// Inputs that are named; a bundle has its own.
std::string named_inputs(const Case& cell) {
  const auto& inputs = cell.inputs;
  if (inputs.generator == kModelInputs) {
    return std::string(kModelInputs);
  }
  return inputs.generator == "file" && inputs.file != cell.model.ref ? inputs.file : "";
}

class Words {
 public:
  void add(const std::string& flag, const std::string& value) {
    words_.push_back(flag);
    words_.push_back(value);
  }
  void add_model(const Case& cell) {
    if (!cell.model.args.empty()) {
      add("--args", cell.model.args.dump());
    }
    if (const auto inputs = named_inputs(cell); !inputs.empty()) {
      add("--inputs", inputs);
    }
    for (const auto& input : cell.model.inputs) {
      add("--input-shape", shape_text(input.shape));
    }
    for (const auto& [name, size] : cell.model.dimensions) {
      add("--dimension", fmt::format("{}={}", name, size));
    }
    if (!is_finished_program(cell)) {
      add("--recipe", cell.recipe.name);
      add("--seed", fmt::to_string(cell.model.seed));
    }
  }
  void add_conditions(const Case& cell, bool is_timed) {
    if (const auto& engine = cell.engine_build.empty() ? cell.engine : cell.engine_build;
        !engine.empty()) {
      add("--engine", engine);
    }
    for (const auto& [name, value] : cell.options.items()) {
      add("--option", fmt::format("{}={}", name, unquoted_text(value)));
    }
    for (const auto& text : is_timed ? condition_texts_of(cell) : std::vector<std::string>()) {
      add("--scenario", text);
    }
    for (const auto& [metric, bound] : cell.require.items()) {
      add("--require", metric + unquoted_text(bound));
    }
    if (cell.device != kLocal) {
      add("--device", cell.device);
    }
  }
  std::vector<std::string>& list() { return words_; }

 private:
  std::vector<std::string> words_ = {"assay"};
};

std::string quick_command(const Case& cell, const Reproduction& how) {
  const bool is_eval = is_evaluated_only(how);
  Words words;
  words.list().emplace_back(is_eval ? "eval" : "bench");
  words.list().push_back(cell.model.ref);
  words.add_model(cell);
  if (is_eval) {
    if (!cell.expected_file.empty()) {
      words.add("--expected", cell.expected_file);
    }
    if (cell.inputs.count != kUsualSamples) {
      words.add("--samples", fmt::to_string(cell.inputs.count));
    }
    for (const auto& kind : how.against) {
      words.add("--against", kind);
    }
  }
  words.add_conditions(cell, !is_eval);
  words.list().insert(words.list().end(), how.flags.begin(), how.flags.end());
  return shell_command(words.list());
}

Json entry_for_model(const Case& cell) {
  const auto& model = cell.model;
  Json entry = {{"ref", model.ref}};
  if (!is_finished_program(cell)) {
    entry["seed"] = model.seed;
  }
  if (!model.args.empty()) {
    entry["args"] = model.args;
  }
  if (model.weight_init) {
    entry["weight_init"] = *model.weight_init;
  }
  if (!model.dimensions.empty()) {
    entry["dimensions"] = model.dimensions;
  }
  Json shapes = Json::array();
  for (const auto& input : model.inputs) {
    shapes.push_back({{"shape", input.shape}, {"dtype", input.dtype}});
  }
  if (const auto inputs = named_inputs(cell); !inputs.empty()) {
    entry["inputs"] = inputs;
  } else if (!shapes.empty()) {
    entry["inputs"] = Json::array({shapes});
  }
  if (!cell.expected_file.empty()) {
    entry["expected"] = cell.expected_file;
  }
  if (cell.calibration.generator == "file") {
    entry["calibration"] = cell.calibration.file;
  }
  return entry;
}

Json recipe_for_spec(const Recipe& recipe) {
  if (recipe.is_preset) {
    return recipe.name;
  }
  Json inline_recipe = {{"name", recipe.name},
                        {"engine", recipe.engine},
                        {"lowering", recipe.lowering},
                        {"produces", recipe.produces}};
  if (!recipe.quantization.is_null()) {
    inline_recipe["quantization"] = recipe.quantization;
  }
  if (!recipe.tolerance.empty()) {
    inline_recipe["tolerance"] = recipe.tolerance;
  }
  return inline_recipe;
}

Json evaluation_for_spec(const Case& cell, const Reproduction& how) {
  Json evaluate = {{"samples", cell.inputs.count}, {"seed", cell.inputs.seed}};
  if (!how.against.empty()) {
    evaluate["against"] = how.against;
  }
  if (!how.tolerance.empty()) {
    evaluate["tolerance"] = how.tolerance;
  }
  if (cell.gives_layers) {
    evaluate["layers"] = true;
  }
  return evaluate;
}

/// The scenario as a spec has it: "gap=5ms" is {"gap": ["5ms"]}.
Json scenario_for_spec(const Case& cell) {
  Json scenario = Json::object();
  for (const auto& text : condition_texts_of(cell)) {
    const auto equals = text.find('=');
    const auto value = text.substr(equals + 1);
    auto parsed = Json::parse(value, nullptr, /*allow_exceptions=*/false);
    scenario[text.substr(0, equals)] =
        Json::array({parsed.is_number() ? std::move(parsed) : Json(value)});
  }
  return scenario;
}

std::string spec_command(const Case& cell, const Reproduction& how) {
  Json passes = Json::array();
  for (const auto pass : how.passes) {
    passes.push_back(name_of(pass));
  }
  Json spec = {{"schema", "assay/spec/1"},
               {"models", Json::array({entry_for_model(cell)})},
               {"measure", {{"passes", passes}}},
               {"evaluate", evaluation_for_spec(cell, how)}};
  if (!is_finished_program(cell)) {
    spec["recipes"] = Json::array({recipe_for_spec(cell.recipe)});
  }
  if (cell.calibration.role == "calibration" && cell.calibration.generator != "file") {
    spec["calibration"] = {{"seed", cell.calibration.seed}, {"batches", cell.calibration.count}};
  }
  if (const auto& engine = cell.engine_build.empty() ? cell.engine : cell.engine_build;
      !engine.empty()) {
    spec["engines"] = Json::array({engine});
  }
  for (const auto& [name, value] : cell.options.items()) {
    spec["options"][name] = Json::array({value});
  }
  if (auto scenario = scenario_for_spec(cell); !scenario.empty()) {
    spec["scenario"] = std::move(scenario);
  }
  if (!cell.require.empty()) {
    spec["require"] = cell.require;
  }
  if (cell.device != kLocal) {
    spec["devices"] = Json::array({cell.device});
  }
  std::vector<std::string> words = {"assay", "run", spec.dump()};
  words.insert(words.end(), how.run_flags.begin(), how.run_flags.end());
  return shell_command(words);
}

struct LaunchFlag {
  std::string_view name;
  bool has_value = true;
  bool is_for_run = true;  ///< Every verb takes it.
};

constexpr auto kLaunchFlags = std::to_array<LaunchFlag>({
    {"--library"},
    {"--plugin"},
    {"--launch-timeout"},
    {"--job-timeout"},
    {"--memory-limit"},
    {"--launches", true, false},
    {"--interval", true, false},
    {"--warmup", true, false},
    {"--iterations", true, false},
    {"--time-budget", true, false},
    {"--profile", false, false},
    {"--leak-check", false, false},
});

}  // namespace

std::string command_from_case(const Case& cell, const Reproduction& how) {
  return is_said_by_flags(cell, how) ? quick_command(cell, how) : spec_command(cell, how);
}

std::vector<std::string> launch_flags(const std::vector<std::string>& argv, bool is_for_run) {
  std::vector<std::string> kept;
  const bool is_bench = argv.size() > 1 && argv[1] == "bench";
  for (std::size_t i = 2; i < argv.size(); ++i) {
    const auto name = argv[i].substr(0, argv[i].find('='));
    const auto* flag = std::ranges::find(kLaunchFlags, name, &LaunchFlag::name);
    if (flag == kLaunchFlags.end() || (!flag->is_for_run && (is_for_run || !is_bench))) {
      continue;
    }
    kept.push_back(argv[i]);
    if (flag->has_value && name == argv[i] && i + 1 < argv.size()) {
      kept.push_back(argv[++i]);
    }
  }
  return kept;
}

}  // namespace assay
