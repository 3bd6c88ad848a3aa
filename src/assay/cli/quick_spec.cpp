#include "assay/cli/quick_spec.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/model_inputs.h"
#include "assay/spec/program_format.h"
#include "assay/spec/reference_kind.h"
#include "assay/tensor/dtype.h"

namespace assay::cli {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    parts.push_back(part);
  }
  return parts;
}

/// The values of an option, between commas that stand in no brackets and no quotes of JSON.
std::vector<std::string> split_values(const std::string& text) {
  std::vector<std::string> parts;
  int depth = 0;
  bool is_quoted = false;
  std::string part;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && (i == 0 || text[i - 1] != '\\')) {
      is_quoted = !is_quoted;
    } else if (!is_quoted) {
      depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
      if (c == ',' && depth <= 0) {
        parts.push_back(std::exchange(part, {}));
        continue;
      }
    }
    part += c;
  }
  if (!part.empty()) {
    parts.push_back(std::move(part));
  }
  return parts;
}

/// "2" is a number, "true" a boolean, "mmap" a string.
Json value_from_text(const std::string& text) {
  auto value = parse_json(text, "an option", JsonComments::kRefused);
  return !value || value->is_structured() ? Json(text) : *std::move(value);
}

Status add_option(const std::string& text, Json& options) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("--option {}: write name=value or name=value,value", text));
  }
  for (const auto& value : split_values(text.substr(equals + 1))) {
    options[text.substr(0, equals)].push_back(value_from_text(value));
  }
  return {};
}

/// A list of processors is one value, and names of cores are one each: "0,2-3", "big,little".
std::vector<std::string> values_of_cores(const std::string& text) {
  auto names = split(text, ',');
  const bool has_number = std::ranges::any_of(
      names, [](const std::string& name) { return name.find_first_of("0123456789") != name.npos; });
  return has_number ? std::vector{text} : names;
}

/// "gap=0ms,5ms" are two values; "cores=0,2-3" is one, and the flag is given again for another.
Status add_condition(const std::string& text, Json& scenario) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("--scenario {}: write name=value, such as gap=5ms", text));
  }
  const auto name = text.substr(0, equals);
  const auto values = text.substr(equals + 1);
  // Only these are numbers; "gap=20" stays text, so that the error is about its missing unit.
  const bool is_number = name == "streams" || name == "cool_below";
  for (const auto& value : name == "cores" ? values_of_cores(values) : split(values, ',')) {
    scenario[name].push_back(is_number ? value_from_text(value) : Json(value));
  }
  return {};
}

Status add_gate(const std::string& text, Json& require) {
  const auto start = text.find_first_of("<>=");
  if (start == std::string::npos || start == 0) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("--require {}: write a bound such as 'sqnr_db>=30'", text));
  }
  require[text.substr(0, start)] = text.substr(start);
  return {};
}

constexpr int kFewestForInterval = 6;
constexpr const char* kDefaultRecipe = "executorch/xnnpack-fp32";

/// A recipe by name, or written out in a file.
Result<Json> recipe_from_text(const std::string& text) {
  if (!text.ends_with(".json")) {
    return text;
  }
  auto recipe = read_json_file(text);
  if (!recipe) {
    return fail_with_context(std::move(recipe).error(), "--recipe " + text);
  }
  if (recipe->is_object()) {
    recipe->erase("$schema");  // By which editors know what the file is.
  }
  return recipe;
}

Result<Json> recipes_from_texts(const std::vector<std::string>& texts) {
  Json recipes = Json::array();
  for (const auto& text : texts) {
    ASSAY_ASSIGN_OR_RETURN(auto recipe, recipe_from_text(text));
    recipes.push_back(std::move(recipe));
  }
  return recipes.empty() ? Json{kDefaultRecipe} : recipes;
}

Status fail_on_shape(const std::string& text) {
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("--input-shape {}: write dimensions such as 1,3,224,224, with a type "
                          "where it is not float32: 2,5:int64",
                          text));
}

/// "2,5" is a shape of float32, "2,5:int64" one with its type.
Result<Json> shape_from_text(const std::string& text) {
  const auto colon = text.find(':');
  Json shape = Json::array();
  for (const auto& dimension : split(text.substr(0, colon), ',')) {
    const auto value = value_from_text(dimension);
    if (!value.is_number_unsigned()) {
      ASSAY_RETURN_IF_ERROR(fail_on_shape(text));
    }
    shape.push_back(value);
  }
  if (colon == std::string::npos) {
    return shape;
  }
  const auto dtype = text.substr(colon + 1);
  if (const auto known = enum_from_name<Dtype>(dtype); !known) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("--input-shape {}: {}", text, known.error().message));
  }
  return Json{{"shape", std::move(shape)}, {"dtype", dtype}};
}

/// All of a list, unless its one element is no list itself.
Json binding_from_shapes(const Json& shapes) {
  const bool is_one_shape = shapes.size() == 1 && !shapes.front().is_object();
  return is_one_shape ? shapes.front() : shapes;
}

/// "batch=1,8": sizes of a dimension by its name.
Status add_dimension(const std::string& text, std::map<std::string, std::vector<Json>>& sizes) {
  const auto equals = text.find('=');
  const auto wrong = fail(ErrorCode::kInvalidArgument,
                          fmt::format("--dimension {}: write name=size or name=size,size, such as "
                                      "batch=1,8",
                                      text));
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return wrong;
  }
  for (const auto& part : split(text.substr(equals + 1), ',')) {
    const auto size = value_from_text(part);
    if (!size.is_number_unsigned()) {
      return wrong;
    }
    sizes[text.substr(0, equals)].push_back(size);
  }
  return {};
}

/// The model once for each combination of sizes.
Json models_with_dimensions(const Json& entry,
                            const std::map<std::string, std::vector<Json>>& dimensions) {
  Json models = Json::array({entry});
  for (const auto& [name, sizes] : dimensions) {
    Json wider = Json::array();
    for (const auto& model : models) {
      for (const auto& size : sizes) {
        wider.push_back(model);
        wider.back()["dimensions"][name] = size;
      }
    }
    models = std::move(wider);
  }
  return models;
}

/// Other flags take lists, the model does not. No reference but a file's path has a comma.
Status check_one_model(const std::string& model) {
  std::error_code error;
  if (model.find(',') == std::string::npos || std::filesystem::exists(model, error)) {
    return {};
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}': the command takes one model; for several write a spec with "
                          "\"models\": [\"{}\"], and take assay run FILE (docs/reference/specs.md)",
                          model, fmt::join(split(model, ','), "\", \"")));
}

}  // namespace

void QuickSpec::declare_model(CLI::App& app) {
  app.add_option(
         "model", model,
         "Model (torchvision:NAME, file.py:FACTORY, model.pt2) or finished program (program.pte)")
      ->required();
  app.add_option("--recipe", recipes,
                 fmt::format("Recipes by name (see assay list recipes), or a .json file with a "
                             "recipe as in a spec [default: {}]",
                             kDefaultRecipe))
      ->delimiter(',');
  app.add_option("--engine", engines,
                 "Engines, optionally with a build (see assay list engines) [default: the engine "
                 "of each recipe]")
      ->delimiter(',');
  app.add_option("--option", options,
                 "Engine option; several values make several cases, such as load_mode=mmap,file");
  threads_option =
      app.add_option(
             "--threads", threads,
             "Numbers of threads; the same as --option threads=N [default: the engine's choice]")
          ->delimiter(',');
  app.add_option("--input-shape", input_shapes,
                 "Shape and type of an input, such as 1,3,224,224 or 2,5:int64; repeat for each "
                 "input [type: float32]");
  app.add_option("--dimension", dimensions,
                 "Size of a dimension that the program leaves open, such as batch=1,8");
  app.add_option("--inputs", inputs,
                 "Read inputs from a file, a folder or file.py:NAME; \"model\" uses the samples of "
                 "the model [default: random inputs]");
  app.add_option(
      "--args", args,
      "Keyword arguments for the model factory as a JSON object, such as '{\"width\": 2}'");
  app.add_option("--seed", seed, "Seed of the random weights and of the launch order")
      ->capture_default_str();
}

void QuickSpec::declare_gates(CLI::App& app) {
  app.add_option("--require", require,
                 "Gate such as 'sqnr_db>=30'; a broken gate ends the command with exit code 1");
}

void QuickSpec::declare_timing(CLI::App& app) {
  app.add_option("--launches", launches, "Number of launches; each is a process and one sample")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--interval", interval,
                 "Repeat launches, up to 40, until half the interval is at most this share of the "
                 "median, such as 1% [default: off]");
  declare_iterations(app);
}

void QuickSpec::declare_iterations(CLI::App& app) {
  app.add_option("--warmup", warmup,
                 "Warm-up iterations of a launch; auto detects the steady state in the times")
      ->capture_default_str();
  app.add_option("--scenario", scenario,
                 "Timing condition, such as gap=0ms,5ms: gap, duration, streams, page_cache, "
                 "cores, background, cool_below, beside (docs/reference/scenarios.md)");
  app.add_option(
         "--iterations", iterations,
         "Steady iterations of a launch; auto derives them from the spread of the first launches")
      ->capture_default_str();
  app.add_option("--time-budget", time_budget,
                 "Time limit for warm-up and steady state of a launch, such as 20s")
      ->capture_default_str();
}

void QuickSpec::declare_evaluation(CLI::App& app) {
  app.add_option("--against", against,
                 "References to compare with: float32, float64, qdq, file, engine:NAME [default: "
                 "those available]")
      ->delimiter(',');
  app.add_option("--expected", expected,
                 "File with expected outputs, if the file of --inputs does not contain them");
  app.add_flag("--parity", has_parity,
               "Evaluate on random inputs in addition to --inputs and warn if the results differ");
  declare_samples(app);
}

void QuickSpec::declare_samples(CLI::App& app) {
  app.add_option("--samples", samples, "Number of random samples to compare on")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
}

Status QuickSpec::add_given(Json& entry) const {
  if (!inputs.empty() && !input_shapes.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "--inputs and --input-shape exclude each other: the file determines the shapes");
  }
  for (const auto& [key, file] : {std::pair("inputs", inputs), std::pair("expected", expected)}) {
    if (!file.empty()) {
      entry[key] = file;
    }
  }
  return {};
}

/// A program without anything to hold it against has no evaluation; one that is asked for all the
/// same is refused where the spec is read.
Json QuickSpec::evaluation(bool is_program) const {
  if (is_program && against.empty() && inputs.empty() && !model.ends_with(".bpte")) {
    return {};
  }
  Json evaluate = {{"samples", samples}};
  if (!against.empty()) {
    evaluate["against"] = against;
  } else if (!is_program) {
    evaluate["against"] = {"float32", "qdq"};
    if (inputs != kModelInputs && has_expected_outputs(inputs, expected)) {
      evaluate["against"].push_back(kFileKind);
    }
  }
  if (has_parity) {
    evaluate["parity"] = true;
  }
  return evaluate;
}

bool QuickSpec::are_threads_wanted() const {
  return threads_option == nullptr || threads_option->count() > 0 ||
         std::ranges::none_of(
             options, [](const std::string& option) { return option.starts_with("threads="); });
}

Result<Json> QuickSpec::document(const std::vector<std::string>& passes) const {
  ASSAY_RETURN_IF_ERROR(check_one_model(model));
  Json entry = {{"ref", model}};
  const bool is_program = find_program_format(model).has_value();
  if (!is_program) {
    entry["seed"] = seed;
  }
  ASSAY_RETURN_IF_ERROR(add_given(entry));
  if (!args.empty()) {
    ASSAY_ASSIGN_OR_RETURN(entry["args"], parse_json(args, "--args"));
  }
  if (!input_shapes.empty()) {
    Json shapes = Json::array();
    for (const auto& text : input_shapes) {
      ASSAY_ASSIGN_OR_RETURN(auto shape, shape_from_text(text));
      shapes.push_back(std::move(shape));
    }
    entry["inputs"] = Json::array({binding_from_shapes(shapes)});
  }
  std::map<std::string, std::vector<Json>> sizes;
  for (const auto& text : dimensions) {
    ASSAY_RETURN_IF_ERROR(add_dimension(text, sizes));
  }
  Json document = {{"schema", "assay/spec/1"},
                   {"seed", seed},
                   {"measure",
                    {{"launches", launches},
                     {"warmup", value_from_text(warmup)},
                     {"iterations", value_from_text(iterations)},
                     {"time_budget", time_budget},
                     {"passes", passes}}}};
  if (!model.empty()) {
    document["models"] = models_with_dimensions(entry, sizes);
  }
  if (!interval.empty()) {
    document["measure"]["interval"] = interval;
    if (launches < kFewestForInterval) {
      document["measure"].erase("launches");
    }
  }
  if (!is_program || !recipes.empty()) {
    ASSAY_ASSIGN_OR_RETURN(document["recipes"], recipes_from_texts(recipes));
  }
  if (auto evaluate = evaluation(is_program); !evaluate.empty()) {
    document["evaluate"] = std::move(evaluate);
  }
  if (!engines.empty()) {
    document["engines"] = engines;
  }
  Json all_options = Json::object();
  for (const auto& value : are_threads_wanted() ? threads : std::vector<std::string>()) {
    ASSAY_RETURN_IF_ERROR(add_option("threads=" + value, all_options));
  }
  for (const auto& text : options) {
    ASSAY_RETURN_IF_ERROR(add_option(text, all_options));
  }
  if (!all_options.empty()) {
    document["options"] = all_options;
  }
  for (const auto& text : scenario) {
    ASSAY_RETURN_IF_ERROR(add_condition(text, document["scenario"]));
  }
  for (const auto& text : require) {
    ASSAY_RETURN_IF_ERROR(add_gate(text, document["require"]));
  }
  return document;
}

}  // namespace assay::cli
