// ExecuTorch without Assay: load a program, then set inputs and execute N times on one thread.
//
//     bare-executorch-loop PROGRAM.pte N [times]
//
// For float32 programs; the inputs are ones. With `times` it prints what each inference took, ns.
// The counterpart of assay-runner-executorch in compare_instructions.py and validation/.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>
#include <vector>

namespace executorch::extension::threadpool {
class ThreadPool {
 public:
  bool _unsafe_reset_threadpool(std::uint32_t num_threads);  // NOLINT
};
ThreadPool* get_threadpool();
}  // namespace executorch::extension::threadpool

namespace {

using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::extension::FileDataLoader;
using executorch::extension::MallocMemoryAllocator;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::HierarchicalAllocator;
using executorch::runtime::MemoryManager;
using executorch::runtime::Method;
using executorch::runtime::MethodMeta;
using executorch::runtime::Program;
using executorch::runtime::Span;

/// Memory of one method.
struct Memory {
  MallocMemoryAllocator method;
  MallocMemoryAllocator temp;
  std::vector<std::vector<std::uint8_t>> arenas;
  std::vector<Span<std::uint8_t>> spans;

  explicit Memory(const MethodMeta& meta) {
    for (std::size_t i = 0; i < meta.num_memory_planned_buffers(); ++i) {
      arenas.emplace_back(static_cast<std::size_t>(*meta.memory_planned_buffer_size(i)));
      spans.emplace_back(arenas.back().data(), arenas.back().size());
    }
  }
};

/// One input of ones.
struct Input {
  std::vector<TensorImpl::SizesType> sizes;
  std::vector<TensorImpl::DimOrderType> dim_order;
  std::vector<float> values;

  explicit Input(const executorch::runtime::TensorInfo& info)
      : sizes(info.sizes().begin(), info.sizes().end()),
        dim_order(info.dim_order().begin(), info.dim_order().end()),
        values(info.nbytes() / sizeof(float), 1.0F) {}
};

bool infer(Method& method, std::vector<Input>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto& input = inputs[i];
    TensorImpl tensor(executorch::aten::ScalarType::Float,
                      static_cast<std::ptrdiff_t>(input.sizes.size()), input.sizes.data(),
                      input.values.data(), input.dim_order.data());
    if (method.set_input(EValue(Tensor(&tensor)), i) != Error::Ok) {
      return false;
    }
  }
  return method.execute() == Error::Ok && method.get_output(0).isTensor();
}

int run(const char* path, int count, bool prints_times) {
  executorch::extension::threadpool::get_threadpool()->_unsafe_reset_threadpool(1);
  auto loader = FileDataLoader::from(path);
  if (!loader.ok()) {
    return 3;
  }
  auto program = Program::load(&loader.get());
  if (!program.ok()) {
    return 3;
  }
  const auto meta = program->method_meta("forward");
  Memory memory(*meta);
  HierarchicalAllocator planned({memory.spans.data(), memory.spans.size()});
  MemoryManager manager(&memory.method, &planned, &memory.temp);
  auto method = program->load_method("forward", &manager);
  if (!method.ok()) {
    return 3;
  }
  std::vector<Input> inputs;
  inputs.reserve(meta->num_inputs());
  for (std::size_t i = 0; i < meta->num_inputs(); ++i) {
    inputs.emplace_back(*meta->input_tensor_meta(i));
  }
  std::vector<std::chrono::nanoseconds> times(static_cast<std::size_t>(count));
  for (auto& time : times) {
    const auto start = std::chrono::steady_clock::now();
    if (!infer(*method, inputs)) {
      return 1;
    }
    time = std::chrono::steady_clock::now() - start;
  }
  for (const auto time : times) {
    if (prints_times) {
      std::printf("%lld\n", static_cast<long long>(time.count()));
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fputs("bare-executorch-loop PROGRAM.pte N [times]\n", stderr);
    return 2;
  }
  executorch::runtime::runtime_init();
  // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion,cert-err34-c)
  return run(argv[1], std::atoi(argv[2]), argc == 4);
}
