#include "assay/engines/openvino/signature.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>
#include <openvino/core/dimension.hpp>
#include <openvino/core/model.hpp>
#include <openvino/core/node.hpp>
#include <openvino/core/node_output.hpp>
#include <openvino/core/partial_shape.hpp>
#include <openvino/core/type/element_type.hpp>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/engines/openvino/engine_error.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay::openvino {
namespace {

using ElementType = ov::element::Type_t;

constexpr std::array<std::pair<ElementType, Dtype>, 13> kTypes = {{
    {ElementType::f64, Dtype::kFloat64},
    {ElementType::f32, Dtype::kFloat32},
    {ElementType::f16, Dtype::kFloat16},
    {ElementType::bf16, Dtype::kBFloat16},
    {ElementType::i64, Dtype::kInt64},
    {ElementType::i32, Dtype::kInt32},
    {ElementType::i16, Dtype::kInt16},
    {ElementType::i8, Dtype::kInt8},
    {ElementType::u8, Dtype::kUInt8},
    {ElementType::u16, Dtype::kUInt16},
    {ElementType::u32, Dtype::kUInt32},
    {ElementType::u64, Dtype::kUInt64},
    {ElementType::boolean, Dtype::kBool},
}};

/// A port has a set of names; the first in the order of the alphabet is taken.
template <class Port>
std::string name_of_port(const Port& port, std::string_view what, std::size_t index) {
  const auto& names = port.get_names();
  const auto first = std::ranges::min_element(names);
  return first == names.end() ? fmt::format("{}{}", what, index) : *first;
}

Shape shape_from(const ov::PartialShape& partial) {
  Shape shape;
  for (const auto& dimension : partial) {
    const auto most = dimension.get_max_length();
    shape.push_back(most < 0 ? kUnboundDimension : most);
  }
  return shape;
}

Result<ov::PartialShape> parse_shape(std::string_view text) {
  std::vector<ov::Dimension> dimensions;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('x'), rest.size());
    const std::span<const char> digits(rest.begin(), end);
    const char* const behind = std::to_address(digits.end());
    std::int64_t size = 0;
    const auto [at, error] = std::from_chars(std::to_address(digits.begin()), behind, size);
    if (error != std::errc() || at != behind || size < 1) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' is no shape: write sizes with x between, 1x3x224x224", text));
    }
    dimensions.emplace_back(size);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return ov::PartialShape(dimensions);
}

std::vector<std::string> input_names(const ov::Model& model) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < model.inputs().size(); ++i) {
    names.push_back(name_of_port(model.inputs()[i], "input", i));
  }
  return names;
}

/// The input that "name:shape" means; a shape alone is of the only input.
Result<std::size_t> find_input(const ov::Model& model, std::string_view name) {
  const auto names = input_names(model);
  if (name.empty() && names.size() == 1) {
    return std::size_t{0};
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name || model.inputs()[i].get_names().contains(std::string(name))) {
      return i;
    }
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("input_shapes names '{}'; the program's inputs: {}", name,
                          fmt::join(names, ", ")));
}

}  // namespace

Result<Dtype> dtype_from(const ov::element::Type& type) {
  for (const auto& [candidate, dtype] : kTypes) {
    if (candidate == type) {
      return dtype;
    }
  }
  return fail(
      ErrorCode::kUnsupported,
      fmt::format("a tensor is of type {}, which has no counterpart here", type.get_type_name()));
}

Result<std::vector<TensorSpec>> specs_of(const std::vector<ov::Output<const ov::Node>>& ports,
                                         std::string_view what) {
  std::vector<TensorSpec> specs;
  for (const auto& port : ports) {
    const auto name = name_of_port(port, what, specs.size());
    const auto dtype = dtype_from(port.get_element_type());
    if (!dtype) {
      return fail_with_context(dtype.error(), fmt::format("{} '{}'", what, name));
    }
    const auto& partial = port.get_partial_shape();
    if (partial.rank().is_dynamic()) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{} '{}' has no fixed number of dimensions", what, name));
    }
    specs.push_back({.name = name, .dtype = *dtype, .shape = shape_from(partial)});
  }
  return specs;
}

Status reshape_inputs(ov::Model& model, std::string_view shapes) {
  std::map<ov::Output<ov::Node>, ov::PartialShape> wanted;
  while (!shapes.empty()) {
    const auto end = std::min(shapes.find(';'), shapes.size());
    const auto entry = shapes.substr(0, end);
    shapes.remove_prefix(std::min(end + 1, shapes.size()));
    const auto colon = entry.rfind(':');
    const bool has_name = colon != std::string_view::npos;
    ASSAY_ASSIGN_OR_RETURN(const auto index,
                           find_input(model, has_name ? entry.substr(0, colon) : ""));
    ASSAY_ASSIGN_OR_RETURN(auto shape, parse_shape(has_name ? entry.substr(colon + 1) : entry));
    wanted[model.input(index)] = std::move(shape);
  }
  return guarded("the program does not take these input_shapes", ErrorCode::kInvalidArgument,
                 [&] { model.reshape(wanted); });
}

}  // namespace assay::openvino
