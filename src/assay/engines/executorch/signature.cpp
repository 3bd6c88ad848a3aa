#include "assay/engines/executorch/signature.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <executorch/runtime/core/tag.h>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/engines/executorch/runtime_error.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay::et {
namespace {

using ::executorch::aten::ScalarType;
using ::executorch::runtime::MethodMeta;
using ::executorch::runtime::Tag;
using ::executorch::runtime::TensorInfo;

constexpr std::array<std::pair<ScalarType, Dtype>, 13> kTypes = {{
    {ScalarType::Double, Dtype::kFloat64},
    {ScalarType::Float, Dtype::kFloat32},
    {ScalarType::Half, Dtype::kFloat16},
    {ScalarType::BFloat16, Dtype::kBFloat16},
    {ScalarType::Long, Dtype::kInt64},
    {ScalarType::Int, Dtype::kInt32},
    {ScalarType::Short, Dtype::kInt16},
    {ScalarType::Char, Dtype::kInt8},
    {ScalarType::Byte, Dtype::kUInt8},
    {ScalarType::UInt16, Dtype::kUInt16},
    {ScalarType::UInt32, Dtype::kUInt32},
    {ScalarType::UInt64, Dtype::kUInt64},
    {ScalarType::Bool, Dtype::kBool},
}};

std::string text_of_tag(Tag tag) {
  std::array<char, ::executorch::runtime::kTagNameBufferSize> name{};
  ::executorch::runtime::tag_to_string(tag, name.data(), name.size());
  return name.data();
}

Result<TensorSpec> spec_from(const TensorInfo& info, std::string default_name) {
  ASSAY_ASSIGN_OR_RETURN(const Dtype dtype, dtype_from(info.scalar_type()));
  TensorSpec spec{.name = info.name().empty() ? std::move(default_name) : std::string(info.name()),
                  .dtype = dtype};
  spec.shape.assign(info.sizes().begin(), info.sizes().end());
  return spec;
}

/// The dtype that a scalar output becomes.
Result<Dtype> dtype_of_scalar(Tag tag, std::size_t index) {
  switch (tag) {
    case Tag::Int:
      return Dtype::kInt64;
    case Tag::Double:
      return Dtype::kFloat64;
    case Tag::Bool:
      return Dtype::kBool;
    default:
      return fail(
          ErrorCode::kUnsupported,
          fmt::format("output {} is of type {}; tensors and numbers are supported: leave it "
                      "out of what the model returns",
                      index, text_of_tag(tag)));
  }
}

Result<TensorSpec> input_of(const MethodMeta& meta, std::size_t index) {
  const auto tag = meta.input_tag(index);
  if (!tag.ok()) {
    return fail_with_runtime_error(fmt::format("input {}", index), tag.error());
  }
  if (*tag != Tag::Tensor) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("input {} of method '{}' is of type {}; only tensors can be given: "
                            "export the model with a tensor there, or with the value fixed",
                            index, meta.name(), text_of_tag(*tag)));
  }
  const auto info = meta.input_tensor_meta(index);
  if (!info.ok()) {
    return fail_with_runtime_error(fmt::format("input {}", index), info.error());
  }
  return spec_from(*info, fmt::format("input{}", index));
}

Result<TensorSpec> output_of(const MethodMeta& meta, std::size_t index) {
  const auto tag = meta.output_tag(index);
  if (!tag.ok()) {
    return fail_with_runtime_error(fmt::format("output {}", index), tag.error());
  }
  if (*tag != Tag::Tensor) {
    ASSAY_ASSIGN_OR_RETURN(const Dtype dtype, dtype_of_scalar(*tag, index));
    return TensorSpec{.name = fmt::format("output{}", index), .dtype = dtype};
  }
  const auto info = meta.output_tensor_meta(index);
  if (!info.ok()) {
    return fail_with_runtime_error(fmt::format("output {}", index), info.error());
  }
  return spec_from(*info, fmt::format("output{}", index));
}

}  // namespace

Result<Dtype> dtype_from(ScalarType type) {
  for (const auto& [candidate, dtype] : kTypes) {
    if (candidate == type) {
      return dtype;
    }
  }
  return fail(ErrorCode::kUnsupported,
              fmt::format("a tensor has scalar type {}, which has no counterpart here",
                          static_cast<int>(type)));
}

ScalarType scalar_type_from(Dtype dtype) {
  const auto* found = std::ranges::find(kTypes, dtype, &std::pair<ScalarType, Dtype>::second);
  ASSAY_CHECK(found != kTypes.end());
  return found->first;
}

Result<std::vector<TensorSpec>> inputs_of(const MethodMeta& meta) {
  std::vector<TensorSpec> specs;
  for (std::size_t i = 0; i < meta.num_inputs(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(TensorSpec spec, input_of(meta, i));
    specs.push_back(std::move(spec));
  }
  return specs;
}

Result<std::vector<TensorSpec>> outputs_of(const MethodMeta& meta) {
  std::vector<TensorSpec> specs;
  for (std::size_t i = 0; i < meta.num_outputs(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(TensorSpec spec, output_of(meta, i));
    specs.push_back(std::move(spec));
  }
  return specs;
}

std::vector<std::string> backends_of(const MethodMeta& meta) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < meta.num_backends(); ++i) {
    const auto name = meta.get_backend_name(i);
    if (name.ok() && std::ranges::find(names, *name) == names.end()) {
      names.emplace_back(*name);
    }
  }
  return names;
}

}  // namespace assay::et
