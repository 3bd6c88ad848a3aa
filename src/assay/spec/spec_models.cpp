#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/record/model_inputs.h"
#include "assay/spec/model_name.h"
#include "assay/spec/models.h"
#include "assay/spec/node.h"
#include "assay/spec/program_format.h"
#include "assay/spec/spec.h"
#include "assay/spec/spec_parts.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay::spec_parts {
namespace {

constexpr std::string_view kFilePrefix = "file:";
constexpr std::size_t kSha256Digits = 64;

Shape read_shape(const Node& node) {
  Shape shape;
  for (const auto& size : node.items()) {
    shape.push_back(size.integer(1, 1));
  }
  return shape;
}

Dtype read_dtype(const Node& node) {
  const auto dtype = enum_from_name<Dtype>(node.text());
  if (!dtype) {
    node.complain(dtype.error().message);
  }
  return dtype.value_or(Dtype::kFloat32);
}

// [1, 3, 224, 224] or {"shape": [1, 3, 224, 224], "dtype": "float32"}.
TensorSpec read_input(const Node& node) {
  TensorSpec input;
  if (!node.json().is_object()) {
    input.shape = read_shape(node);
    return input;
  }
  if (!node.expect_object(kInputKeys)) {
    return input;
  }
  if (const auto shape = node.find("shape")) {
    input.shape = read_shape(*shape);
  } else {
    node.complain("needs a \"shape\", such as [1, 3, 224, 224]");
  }
  if (const auto dtype = node.find("dtype")) {
    input.dtype = read_dtype(*dtype);
  }
  return input;
}

bool is_shape(const Json& json) { return json.is_array() && !json.empty() && json[0].is_number(); }

// One alternative: a shape, an object, or a list of these for a model with several inputs.
std::vector<TensorSpec> read_binding(const Node& node) {
  if (node.json().is_object() || is_shape(node.json())) {
    return {read_input(node)};
  }
  std::vector<TensorSpec> inputs;
  if (node.json().is_array() && node.json().empty()) {
    node.complain("is empty; write a shape, or {\"shape\": []} for a scalar");
  }
  for (const auto& input : node.items()) {
    inputs.push_back(read_input(input));
  }
  return inputs;
}

std::string resolve_path(const std::string& path, const SpecContext& context) {
  auto resolved = (context.folder / path).lexically_normal().string();
  while (resolved.size() > 1 && resolved.ends_with('/')) {
    resolved.pop_back();
  }
  return resolved;
}

constexpr auto kSampleEndings = std::to_array<std::string_view>({".npz", ".safetensors", ".bpte"});

/// A file or folder that holds samples. A folder has no ending, or a slash behind its name.
bool is_sample_file(const std::string& file) {
  const auto is_ending = [&file](std::string_view ending) { return file.ends_with(ending); };
  return std::ranges::any_of(kSampleEndings, is_ending) || file.ends_with('/') ||
         (!file.empty() && !std::filesystem::path(file).has_extension());
}

/// A file that holds inputs, or a callable that yields them.
std::string read_input_file(const Node& node, const SpecContext& context) {
  const auto file = node.text();
  if (!is_sample_file(file) && file.find(".py:") == std::string::npos) {
    node.complain(
        fmt::format("'{}' is no input set; give a .npz, .safetensors or .bpte file, a folder with "
                    "test_data_set_0 or stimulus.json in it, file.py:callable, or model for the "
                    "samples of the model",
                    file));
  }
  return resolve_path(file, context);
}

/// The outputs that are expected of inputs from a file.
std::string read_expected_file(const Node& node, const SpecContext& context,
                               const SpecModel& model) {
  const auto file = node.text();
  if (!is_sample_file(file)) {
    node.complain(
        fmt::format("'{}' holds no outputs; give a .npz, .safetensors or .bpte file, or a folder "
                    "with stimulus.json in it",
                    file));
  }
  if (model.input_file.empty()) {
    node.complain("needs \"inputs\" that come from a file: outputs are expected of given inputs");
  }
  return resolve_path(file, context);
}

/// Sizes by the name of a dimension that a program leaves open.
std::map<std::string, std::int64_t> read_dimensions(const Node& node, const SpecModel& model) {
  std::map<std::string, std::int64_t> dimensions;
  for (const auto& [name, size] : node.members()) {
    dimensions[name] = size.integer(1, 1);
  }
  if (!dimensions.empty() && !find_program_format(model.model.ref)) {
    node.complain(
        fmt::format("'{}' is no open dimension of '{}': a model, other than a finished "
                    "program, leaves none open; give its shapes by --input-shape (in a "
                    "spec \"inputs\")",
                    dimensions.begin()->first, model.model.ref));
  }
  return dimensions;
}

void read_inputs(const Node& node, const SpecContext& context, SpecModel& model) {
  if (node.json() == kModelInputs) {
    model.brings_inputs = true;
    return;
  }
  if (node.json().is_string()) {
    model.input_file = read_input_file(node, context);
    return;
  }
  if (is_shape(node.json())) {
    node.complain(
        fmt::format("is a list of alternatives; for one shape write [{}]", node.json().dump()));
    return;
  }
  for (const auto& binding : node.items()) {
    model.bindings.push_back(read_binding(binding));
  }
  if (node.json().is_array() && node.json().empty()) {
    node.complain("is empty; leave it out to take the model's own example inputs");
  }
}

std::string read_reference(const Node& node, const SpecContext& context) {
  auto ref = node.text();
  if (ref.starts_with(kFilePrefix)) {
    ref.erase(0, kFilePrefix.size());
    if (!find_model_file(ref)) {
      node.complain(fmt::format(
          "unknown kind of file '{}'; known: file.py:factory, .pt2, .onnx, .tflite, .pte, .bpte",
          ref));
    }
  }
  if (find_model_file(ref)) {
    return resolve_path(ref, context);
  }
  const bool is_named_by_library = ref.find(':') != std::string::npos;
  const auto& plugged = context.plugin_models;
  const bool is_plugged = std::ranges::find(plugged, ref) != plugged.end();
  if (is_plugged || context.has_plugins || !node.json().is_string()) {
    return ref;
  }
  if (!is_named_by_library) {
    node.complain(fmt::format("unknown model '{}'{}", ref, model_suggestion_for(ref)));
  } else if (const auto complaint = complaint_about_model_name(ref); !complaint.empty()) {
    node.complain(complaint);
  }
  return ref;
}

std::string read_sha256(const Node& node) {
  auto digest = node.text();
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (node.json().is_string() &&
      (digest.size() != kSha256Digits || !std::ranges::all_of(digest, is_digit))) {
    node.complain("must be 64 lower-case hexadecimal digits, as sha256sum prints them");
  }
  return digest;
}

void read_model_fields(const Node& node, const SpecContext& context, SpecModel& model) {
  if (const auto ref = node.find("ref")) {
    model.model.ref = read_reference(*ref, context);
  } else {
    node.complain("needs a \"ref\", such as \"torchvision:mobilenet_v2\"");
  }
  model.model.seed = node.seed("seed", 0);
  if (const auto args = node.find("args")) {
    if (!args->json().is_object()) {
      args->complain_of_type("an object of keyword arguments");
    }
    model.model.args = args->json();
  }
  if (const auto inputs = node.find("inputs")) {
    read_inputs(*inputs, context, model);
  }
  if (const auto expected = node.find("expected")) {
    model.expected_file = read_expected_file(*expected, context, model);
  }
  if (const auto dimensions = node.find("dimensions")) {
    model.model.dimensions = read_dimensions(*dimensions, model);
  }
  if (const auto calibration = node.find("calibration")) {
    model.calibration_file = read_input_file(*calibration, context);
    if (model.calibration_file == model.input_file) {
      calibration->complain(
          "is the same as \"inputs\": give others, or a recipe would be judged on "
          "what it was calibrated with");
    }
  }
  model.url = node.text("url");
  if (const auto sha256 = node.find("sha256")) {
    model.sha256 = read_sha256(*sha256);
  }
  if (const auto weight_init = node.find("weight_init")) {
    if (!weight_init->json().is_boolean()) {
      weight_init->complain_of_type("true or false");
    } else {
      model.model.weight_init = weight_init->json().get<bool>();
    }
  }
}

SpecModel read_model(const Node& node, const SpecContext& context) {
  SpecModel model;
  if (node.json().is_string()) {
    model.model.ref = read_reference(node, context);
  } else if (node.expect_object(kModelKeys)) {
    read_model_fields(node, context, model);
  }
  return model;
}

}  // namespace

std::vector<SpecModel> read_models(const Node& node, const SpecContext& context) {
  std::vector<SpecModel> models;
  for (const auto& item : node.items()) {
    models.push_back(read_model(item, context));
  }
  if (node.json().is_array() && models.empty()) {
    node.complain("is empty; name a model, such as \"torchvision:mobilenet_v2\"");
  }
  return models;
}

}  // namespace assay::spec_parts
