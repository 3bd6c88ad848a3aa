#include "assay/spec/given_inputs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/spec/onnx_inputs.h"
#include "assay/spec/spec.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

using OnnxInputList = std::vector<OnnxInput>;

std::string text_of_dimension(const OnnxDimension& dimension) {
  return dimension.size ? fmt::format("{}", *dimension.size)
                        : (dimension.name.empty() ? "?" : dimension.name);
}

std::string text_of_taken(const OnnxInput& input) {
  if (!input.shape) {
    return input.dtype + " of any rank";
  }
  std::vector<std::string> sizes;
  std::ranges::transform(*input.shape, std::back_inserter(sizes), text_of_dimension);
  return fmt::format("{} [{}]", input.dtype, fmt::join(sizes, ", "));
}

std::string text_of_given(const TensorSpec& given) {
  return fmt::format("{} [{}]", name_of(given.dtype), fmt::join(given.shape, ", "));
}

std::vector<std::string> names_of_open_dimensions(const OnnxInputList& inputs) {
  std::vector<std::string> names;
  for (const auto& input : inputs) {
    for (const auto& dimension : input.shape.value_or(std::vector<OnnxDimension>())) {
      if (!dimension.size && !dimension.name.empty()) {
        names.push_back(dimension.name);
      }
    }
  }
  return names;
}

/// `names`: those that the program has.
Status check_dimension_names(const SpecModel& entry, const std::vector<std::string>& names,
                             const std::string& where) {
  const auto program = std::filesystem::path(entry.model.ref).filename().string();
  for (const auto& [name, size] : entry.model.dimensions) {
    if (std::ranges::find(names, name) != names.end()) {
      continue;
    }
    const auto why = names.empty() ? fmt::format(
                                         "; {} names none that a size could be given to: "
                                         "give whole shapes by --input-shape (in a spec "
                                         "\"inputs\")",
                                         program)
                                   : suggestion_for(name, names);
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{}.dimensions: no open dimension '{}' in {}{}", where, name, program, why));
  }
  return {};
}

/// float32, the default, asks for no type.
bool is_fitting(const OnnxInput& input, const TensorSpec& given) {
  const auto name = name_of(given.dtype);
  if (given.dtype != Dtype::kFloat32 && !input.dtype.empty() && input.dtype != name) {
    return false;
  }
  return !input.shape || std::ranges::equal(*input.shape, given.shape,
                                            [](const OnnxDimension& taken, std::int64_t size) {
                                              return !taken.size || *taken.size == size;
                                            });
}

Status check_shapes(const std::vector<TensorSpec>& given, const OnnxInputList& inputs,
                    const std::string& where) {
  if (given.size() != inputs.size()) {
    std::vector<std::string> taken;
    for (const auto& input : inputs) {
      taken.push_back(fmt::format("'{}' {}", input.name, text_of_taken(input)));
    }
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}.inputs: {} shape{} given, the program takes {} input{}: {}", where,
                            given.size(), given.size() == 1 ? " is" : "s are", inputs.size(),
                            inputs.size() == 1 ? "" : "s", fmt::join(taken, ", ")));
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!is_fitting(inputs[i], given[i])) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}.inputs: input {} '{}' takes {}, but {} is given", where, i,
                              inputs[i].name, text_of_taken(inputs[i]), text_of_given(given[i])));
    }
  }
  return {};
}

}  // namespace

Status check_given_inputs(const SpecModel& entry, const std::string& where) {
  const bool is_onnx = entry.model.ref.ends_with(".onnx");
  const auto inputs = is_onnx ? read_onnx_inputs(entry.model.ref) : std::nullopt;
  if (is_onnx && !inputs) {
    return {};  // Who reads it says what is wrong with it.
  }
  const auto taken = inputs.value_or(OnnxInputList());
  ASSAY_RETURN_IF_ERROR(check_dimension_names(entry, names_of_open_dimensions(taken), where));
  if (inputs) {
    for (const auto& binding : entry.bindings) {
      ASSAY_RETURN_IF_ERROR(check_shapes(binding, taken, where));
    }
  }
  return {};
}

}  // namespace assay
