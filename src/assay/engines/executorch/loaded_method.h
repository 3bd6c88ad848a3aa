#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/hierarchical_allocator.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/executor/method.h>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/engines/executorch/counting_allocator.h"
#include "assay/engines/executorch/loaded_program.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay::et {

/// A method with all memory that it works in: planned arenas, allocators, buffers of outputs that
/// were not planned. Dies before its program.
class LoadedMethod {
 public:
  /// `tracer` may be null and outlives this. `specs`: what signature.h found.
  /// Errors: kUnavailable for a missing operator; kCorrupt, kExhausted, kEngine.
  static Result<std::unique_ptr<LoadedMethod>> load(const LoadedProgram& program,
                                                    const std::string& name,
                                                    std::span<const TensorSpec> inputs,
                                                    std::span<const TensorSpec> outputs,
                                                    ::executorch::runtime::EventTracer* tracer);
  LoadedMethod(const LoadedMethod&) = delete;
  LoadedMethod& operator=(const LoadedMethod&) = delete;
  ~LoadedMethod() = default;

  /// Copies inputs into the planned arenas, or into memory of our own where they were not planned:
  /// a program may write to its inputs. Errors: kInvalidArgument, naming both sides.
  Status bind(std::span<const TensorView> inputs);
  Status execute();
  /// Views of the outputs with the shapes of this execution, valid until the next.
  Result<std::span<const TensorView>> fetch();

  /// Arenas and allocators, by name.
  [[nodiscard]] std::vector<NamedBytes> memory() const;

 private:
  /// Layout of one input or output in memory.
  struct Slot {
    TensorSpec spec;
    std::vector<std::int32_t> sizes;
    std::vector<std::uint8_t> dim_order;
    bool is_row_major = true;
    bool is_tensor = true;
    std::vector<std::byte> buffer;  ///< For other layouts, unplanned inputs and scalars.
  };

  struct FreeMemory {
    void operator()(void* memory) const { std::free(memory); }
  };

  LoadedMethod() = default;
  Status allocate_arenas(const ::executorch::runtime::MethodMeta& meta);
  Status prepare_slots(const ::executorch::runtime::MethodMeta& meta,
                       std::span<const TensorSpec> inputs, std::span<const TensorSpec> outputs);
  Status give_output_buffers(const ::executorch::runtime::MethodMeta& meta);
  /// Place where the method finds the input: the slot's buffer with a copy of it, or its own.
  /// Null for one that the buffer cannot hold.
  static const std::byte* placed(Slot& slot, const TensorView& input);
  Status bind_one(std::size_t index, const TensorView& input);
  Status fetch_tensor(std::size_t index, const ::executorch::aten::Tensor& tensor);
  void fetch_scalar(std::size_t index, const ::executorch::runtime::EValue& value);

  CountingAllocator method_allocator_;
  CountingAllocator temp_allocator_;
  std::vector<std::unique_ptr<std::uint8_t, FreeMemory>> arena_memory_;
  std::vector<::executorch::runtime::Span<std::uint8_t>> arenas_;
  std::unique_ptr<::executorch::runtime::HierarchicalAllocator> planned_;
  std::unique_ptr<::executorch::runtime::MemoryManager> memory_manager_;
  std::vector<Slot> inputs_;
  std::vector<Slot> outputs_;
  std::vector<TensorView> output_views_;
  std::vector<std::vector<std::byte>> unplanned_outputs_;
  std::unique_ptr<::executorch::runtime::Method> method_;
};

}  // namespace assay::et
