// The runtime as ExecuTorch sees it. Loading this library registers the backend.

#include "fixedpoint/executor.h"
#include "fixedpoint/format.h"
#include "fixedpoint/pool_workers.h"
#include "fixedpoint/program.h"
#include "fixedpoint/reorder.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/event_tracer_hooks_delegate.h>
#include <executorch/runtime/platform/log.h>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fixedpoint {
namespace {

namespace et = ::executorch::runtime;

constexpr const char* kName = "FixedPointBackend";
constexpr const char* kIsaOption = "isa";

/// Result of `init`: the executor and the places of one call's arguments.
struct Handle {
  /// A copy, only where ExecuTorch's is not aligned for 64-bit constants.
  std::vector<std::byte> copied_blob;
  PoolWorkers workers;
  std::unique_ptr<Executor> executor;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  /// Copies of arguments that the call has in another order of dimensions; empty for the others.
  std::vector<std::vector<std::byte>> reordered;
};

/// Reports each operation to ExecuTorch's event tracer.
class TracingObserver : public Observer {
 public:
  explicit TracingObserver(et::EventTracer* tracer) : tracer_(tracer) {}
  void before(const OperationRecord& operation) override {
    entry_ = et::event_tracer_start_profiling_delegate(
        tracer_, nullptr, static_cast<et::DebugHandle>(operation.handle));
  }
  void after(const OperationRecord& operation, std::span<const std::byte> /*made*/) override {
    const auto name = name_of(operation.kind);
    et::event_tracer_end_profiling_delegate(tracer_, entry_, name.data(), name.size());
  }

 private:
  static std::string_view name_of(Kind kind) {
    constexpr std::array<std::string_view, 16> kNames = {
        "",        "conv2d",     "add",       "mul",           "avg_pool2d", "max_pool2d",
        "table",   "copy",       "concat",    "quantize",      "dequantize", "matmul",
        "softmax", "layer_norm", "embedding", "masked_softmax"};
    return kNames[static_cast<std::size_t>(kind)];
  }

  et::EventTracer* tracer_;
  et::EventTracerEntry entry_ = {};
};

bool is_aligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0; }

using ::executorch::aten::ScalarType;

/// Inputs of uint8 are masks.
ScalarType scalar_type_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return ScalarType::Float;
    case DType::kInt16:
      return ScalarType::Short;
    case DType::kInt32:
      return ScalarType::Int;
    case DType::kInt64:
      return ScalarType::Long;
    case DType::kUint8:
      return ScalarType::Bool;
    case DType::kInt8:
      break;
  }
  return ScalarType::Char;
}

std::span<const std::uint8_t> order_of(const et::EValue& value) {
  const auto order = value.toTensor().dim_order();
  return {order.data(), order.size()};
}

/// True if an argument of the call has the type and the sizes that it was lowered with.
bool fits(const et::EValue& value, const TensorRecord& tensor) {
  if (!value.isTensor()) {
    return false;
  }
  const auto& given = value.toTensor();
  if (given.scalar_type() != scalar_type_of(tensor.dtype) || given.nbytes() != tensor.bytes ||
      given.dim() != tensor.rank || !is_permutation(order_of(value))) {
    return false;
  }
  for (int place = 0; place < tensor.rank; ++place) {
    if (given.size(dimension_at(tensor, place)) != static_cast<ssize_t>(tensor.dims[place])) {
      return false;
    }
  }
  return true;
}

class Backend final : public et::BackendInterface {
 public:
  bool is_available() const override { return true; }

  et::Result<et::DelegateHandle*> init(et::BackendInitContext& context,
                                       et::FreeableBuffer* processed,
                                       et::ArrayRef<et::CompileSpec> /*specs*/) const override {
    const auto isa = context.get_runtime_spec<const char*>(kIsaOption);
    try {
      return open(*processed, isa.ok() ? *isa : "");
    } catch (const std::exception& error) {
      ET_LOG(Error, "%s: %s", kName, error.what());
      return et::Error::MemoryAllocationFailed;
    }
  }

  et::Error execute(et::BackendExecutionContext& context, et::DelegateHandle* handle,
                    et::Span<et::EValue*> args) const override {
    auto& opened = *static_cast<Handle*>(handle);
    if (!bind(opened, args)) {
      ET_LOG(Error, "%s: an argument has another type or size than it was lowered with", kName);
      return et::Error::InvalidArgument;
    }
    TracingObserver observer(context.event_tracer());
    const auto status = opened.executor->execute(
        opened.inputs, opened.outputs, context.event_tracer() != nullptr ? &observer : nullptr);
    if (!status) {
      ET_LOG(Error, "%s: %s", kName, status.error().c_str());
      return et::Error::InvalidArgument;
    }
    put_outputs_in_order(opened, args);
    return et::Error::Ok;
  }

  void destroy(et::DelegateHandle* handle) const override { delete static_cast<Handle*>(handle); }

 private:
  static et::Result<et::DelegateHandle*> open(const et::FreeableBuffer& processed,
                                              std::string_view isa) {
    auto handle = std::make_unique<Handle>();
    const auto* data = static_cast<const std::byte*>(processed.data());
    std::span<const std::byte> blob(data, processed.size());
    if (!is_aligned(data)) {
      handle->copied_blob.assign(blob.begin(), blob.end());
      blob = handle->copied_blob;
    }
    auto executor = Executor::open(blob, isa, &handle->workers);
    if (!executor) {
      ET_LOG(Error, "%s: %s", kName, executor.error().c_str());
      return et::Error::DelegateInvalidCompatibility;
    }
    handle->executor = std::move(*executor);
    handle->inputs.resize(handle->executor->program().inputs.size());
    handle->outputs.resize(handle->executor->program().outputs.size());
    handle->reordered.resize(handle->inputs.size() + handle->outputs.size());
    return handle.release();
  }

  static bool bind(Handle& opened, et::Span<et::EValue*> args) {
    const auto& program = opened.executor->program();
    if (args.size() != program.inputs.size() + program.outputs.size()) {
      return false;
    }
    for (std::size_t i = 0; i < args.size(); ++i) {
      const bool is_input = i < program.inputs.size();
      const std::size_t position = is_input ? i : i - program.inputs.size();
      const auto index = is_input ? program.inputs[position] : program.outputs[position];
      const auto& tensor = program.tensors[index];
      if (!fits(*args[i], tensor)) {
        return false;
      }
      const auto order = order_of(*args[i]);
      const bool is_in_order = has_order(tensor, order);
      opened.reordered[i].resize(is_in_order ? 0 : tensor.bytes);
      auto* const copy = opened.reordered[i].data();
      if (is_input) {
        const auto* const given = args[i]->toTensor().const_data_ptr();
        if (!is_in_order) {
          copy_into_order(tensor, order, static_cast<const std::byte*>(given), copy);
        }
        opened.inputs[position] = is_in_order ? given : copy;
      } else {
        opened.outputs[position] = is_in_order ? args[i]->toTensor().mutable_data_ptr() : copy;
      }
    }
    return true;
  }

  static void put_outputs_in_order(const Handle& opened, et::Span<et::EValue*> args) {
    const auto& program = opened.executor->program();
    for (std::size_t i = program.inputs.size(); i < args.size(); ++i) {
      if (!opened.reordered[i].empty()) {
        copy_out_of_order(program.tensors[program.outputs[i - program.inputs.size()]],
                          order_of(*args[i]), opened.reordered[i].data(),
                          static_cast<std::byte*>(args[i]->toTensor().mutable_data_ptr()));
      }
    }
  }
};

et::Error register_this() {
  static Backend backend;
  return et::register_backend({kName, &backend});
}

// A library that is only loaded has no other way to say that it is there. The runtime does not
// throw.
const et::Error kRegistered = register_this();  // NOLINT(bugprone-throwing-static-initialization)

}  // namespace
}  // namespace fixedpoint
