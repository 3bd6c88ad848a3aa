#include "assay/engines/executorch/loaded_method.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/portable_type/tensor_impl.h>
#include <executorch/runtime/executor/program.h>
#include <fmt/format.h>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/engine/input_check.h"
#include "assay/engines/executorch/runtime_error.h"
#include "assay/engines/executorch/signature.h"
#include "assay/engines/executorch/tensor_layout.h"
#include "assay/record/launch.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay::et {
namespace {

using ::executorch::aten::Tensor;
using ::executorch::aten::TensorImpl;
using ::executorch::runtime::EValue;
using ::executorch::runtime::HierarchicalAllocator;
using ::executorch::runtime::MemoryManager;
using ::executorch::runtime::Method;
using ::executorch::runtime::MethodMeta;
using ::executorch::runtime::Tag;

/// A value of another type than was declared may be wider: what fits is kept.
template <class Number>
void store_scalar(Number number, std::vector<std::byte>& buffer) {
  std::memcpy(buffer.data(), &number, std::min(sizeof number, buffer.size()));
}

}  // namespace

Result<std::unique_ptr<LoadedMethod>> LoadedMethod::load(
    const LoadedProgram& program, const std::string& name, std::span<const TensorSpec> inputs,
    std::span<const TensorSpec> outputs, ::executorch::runtime::EventTracer* tracer) {
  const auto meta = program.program().method_meta(name.c_str());
  if (!meta.ok()) {
    return fail_with_runtime_error(fmt::format("method '{}'", name), meta.error());
  }
  std::unique_ptr<LoadedMethod> loaded(new LoadedMethod());
  ASSAY_RETURN_IF_ERROR(loaded->allocate_arenas(*meta));
  auto method = program.program().load_method(name.c_str(), loaded->memory_manager_.get(), tracer,
                                              program.data_map());
  if (!method.ok()) {
    return fail_with_runtime_error(fmt::format("method '{}' does not load", name), method.error());
  }
  loaded->method_ = std::make_unique<Method>(std::move(method.get()));
  ASSAY_RETURN_IF_ERROR(loaded->prepare_slots(*meta, inputs, outputs));
  ASSAY_RETURN_IF_ERROR(loaded->give_output_buffers(*meta));
  return loaded;
}

Status LoadedMethod::allocate_arenas(const MethodMeta& meta) {
  for (std::size_t i = 0; i < meta.num_memory_planned_buffers(); ++i) {
    const auto size = meta.memory_planned_buffer_size(i);
    if (!size.ok()) {
      return fail_with_runtime_error(fmt::format("planned buffer {}", i), size.error());
    }
    const auto bytes = static_cast<std::size_t>(*size);
    // calloc: mutable buffers start at zero, and pages that nobody writes cost no memory.
    auto* memory = static_cast<std::uint8_t*>(std::calloc(std::max<std::size_t>(bytes, 1), 1));
    if (memory == nullptr) {
      return fail(ErrorCode::kExhausted, fmt::format("no memory for an arena of {} bytes", bytes));
    }
    arena_memory_.emplace_back(memory);
    arenas_.emplace_back(memory, bytes);
  }
  planned_ = std::make_unique<HierarchicalAllocator>(
      ::executorch::runtime::Span(arenas_.data(), arenas_.size()));
  memory_manager_ =
      std::make_unique<MemoryManager>(&method_allocator_, planned_.get(), &temp_allocator_);
  return {};
}

Status LoadedMethod::prepare_slots(const MethodMeta& meta, std::span<const TensorSpec> inputs,
                                   std::span<const TensorSpec> outputs) {
  const auto slot_of = [](const TensorSpec& spec, const auto& info) {
    Slot slot{.spec = spec};
    if (!info.ok()) {  // A scalar output.
      slot.is_tensor = false;
      slot.buffer.resize(size_of_dtype(spec.dtype));
      return slot;
    }
    slot.sizes.assign(info->sizes().begin(), info->sizes().end());
    slot.dim_order.assign(info->dim_order().begin(), info->dim_order().end());
    slot.is_row_major = is_row_major(slot.dim_order);
    if (!slot.is_row_major) {
      slot.buffer.resize(info->nbytes());
    }
    return slot;
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto info = meta.input_tensor_meta(i);
    inputs_.push_back(slot_of(inputs[i], info));
    if (info.ok() && !info->is_memory_planned()) {
      inputs_.back().buffer.resize(info->nbytes());
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool is_tensor = *meta.output_tag(i) == Tag::Tensor;
    using Info = ::executorch::runtime::Result<::executorch::runtime::TensorInfo>;
    outputs_.push_back(slot_of(outputs[i], is_tensor
                                               ? meta.output_tensor_meta(i)
                                               : Info(::executorch::runtime::Error::InvalidType)));
    output_views_.push_back({.dtype = outputs[i].dtype, .shape = outputs[i].shape, .data = {}});
  }
  return {};
}

Status LoadedMethod::give_output_buffers(const MethodMeta& meta) {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i].is_tensor) {
      continue;
    }
    const auto info = meta.output_tensor_meta(i);
    // A constant or an input handed through has its own data already.
    const bool has_data = method_->get_output(i).toTensor().const_data_ptr() != nullptr;
    if (info->is_memory_planned() || has_data) {
      continue;
    }
    auto& buffer = unplanned_outputs_.emplace_back(info->nbytes());
    ASSAY_RETURN_IF_ERROR(
        status_from(fmt::format("output {}", i),
                    method_->set_output_data_ptr(buffer.data(), buffer.size(), i)));
  }
  return {};
}

Status LoadedMethod::bind(std::span<const TensorView> inputs) {
  ASSAY_RETURN_IF_ERROR(check_input_count(inputs.size(), inputs_.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(bind_one(i, inputs[i]));
  }
  return {};
}

const std::byte* LoadedMethod::placed(Slot& slot, const TensorView& input) {
  if (slot.buffer.empty()) {
    return input.data.data();
  }
  if (input.data.size() > slot.buffer.size()) {
    return nullptr;
  }
  if (slot.is_row_major) {
    std::ranges::copy(input.data, slot.buffer.begin());
  } else {
    copy_from_row_major(slot.sizes, slot.dim_order, size_of_dtype(input.dtype), input.data.data(),
                        slot.buffer.data());
  }
  return slot.buffer.data();
}

Status LoadedMethod::bind_one(std::size_t index, const TensorView& input) {
  Slot& slot = inputs_[index];
  if (input.dtype != slot.spec.dtype || input.shape.size() != slot.sizes.size()) [[unlikely]] {
    return fail(ErrorCode::kInvalidArgument, input_mismatch_text(index, slot.spec, input));
  }
  for (std::size_t i = 0; i < slot.sizes.size(); ++i) {
    slot.sizes[i] = static_cast<std::int32_t>(input.shape[i]);
  }
  const auto* data = placed(slot, input);
  if (data == nullptr && !input.data.empty()) [[unlikely]] {
    return fail(ErrorCode::kInvalidArgument, input_mismatch_text(index, slot.spec, input));
  }
  // The runtime's tensor has no const data; it copies what is planned.
  TensorImpl tensor(scalar_type_from(input.dtype), static_cast<ssize_t>(slot.sizes.size()),
                    slot.sizes.data(), const_cast<std::byte*>(data), slot.dim_order.data());
  const auto error = method_->set_input(EValue(Tensor(&tensor)), index);
  if (error != ::executorch::runtime::Error::Ok) [[unlikely]] {
    auto failure = fail_with_runtime_error(input_mismatch_text(index, slot.spec, input), error);
    failure.error().code = ErrorCode::kInvalidArgument;
    return failure;
  }
  return {};
}

Status LoadedMethod::execute() { return status_from("execution failed", method_->execute()); }

Result<std::span<const TensorView>> LoadedMethod::fetch() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const EValue& value = method_->get_output(i);
    if (outputs_[i].is_tensor) {
      ASSAY_RETURN_IF_ERROR(fetch_tensor(i, value.toTensor()));
    } else {
      fetch_scalar(i, value);
    }
  }
  return std::span<const TensorView>(output_views_);
}

Status LoadedMethod::fetch_tensor(std::size_t index, const Tensor& tensor) {
  TensorView& view = output_views_[index];
  Slot& slot = outputs_[index];
  const auto sizes = tensor.sizes();
  view.shape.resize(sizes.size());
  std::ranges::copy(sizes, view.shape.begin());
  const auto* data = static_cast<const std::byte*>(tensor.const_data_ptr());
  if (!slot.is_row_major) {
    slot.buffer.resize(tensor.nbytes());
    copy_to_row_major({sizes.data(), sizes.size()}, slot.dim_order, size_of_dtype(view.dtype), data,
                      slot.buffer.data());
    data = slot.buffer.data();
  }
  view.data = {data, tensor.nbytes()};
  return {};
}

void LoadedMethod::fetch_scalar(std::size_t index, const EValue& value) {
  auto& buffer = outputs_[index].buffer;
  if (value.isInt()) {
    store_scalar(value.toInt(), buffer);
  } else if (value.isDouble()) {
    store_scalar(value.toDouble(), buffer);
  } else {
    store_scalar(value.toBool(), buffer);
  }
  output_views_[index].data = buffer;
}

std::vector<NamedBytes> LoadedMethod::memory() const {
  std::int64_t arena_bytes = 0;
  for (const auto& arena : arenas_) {
    arena_bytes += static_cast<std::int64_t>(arena.size());
  }
  return {{"planned_arenas", arena_bytes},
          {"method_allocator", method_allocator_.peak_bytes()},
          {"temp_allocator_peak", temp_allocator_.peak_bytes(), /*is_peak=*/true}};
}

}  // namespace assay::et
