#include "fixedpoint/testing/kernel_check.h"

#include "fixedpoint/executor.h"
#include "fixedpoint/format.h"
#include "fixedpoint/kernels.h"
#include "fixedpoint/program.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace fixedpoint::testing {
namespace {

constexpr double kMostBytes = 1 << 20;
constexpr double kMostSteps = 1 << 22;

struct Free {
  void operator()(std::byte* memory) const {
    ::operator delete(memory, std::align_val_t{kAlignment});
  }
};

/// Memory of exactly `bytes` behind `offset` bytes that are not used.
class Exact {
 public:
  explicit Exact(std::size_t bytes, std::size_t offset = 0)
      : memory_(
            static_cast<std::byte*>(::operator new(bytes + offset, std::align_val_t{kAlignment}))),
        bytes_(memory_.get() + offset, bytes) {}
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::unique_ptr<std::byte, Free> memory_;
  std::span<std::byte> bytes_;
};

/// An upper bound of what an operation does; kernels of pools may be larger than anything in
/// memory.
double steps_of(const Program& program, const OperationRecord& operation) {
  double read = 1;
  for (const auto index : program.inputs_of(operation)) {
    read += index == kAbsent ? 0 : static_cast<double>(program.tensors[index].bytes);
  }
  if (operation.kind == Kind::kAvgPool2d || operation.kind == Kind::kMaxPool2d) {
    read = std::abs(static_cast<double>(operation.attributes[6]) * operation.attributes[7]);
  }
  return read * static_cast<double>(program.tensors[operation.output].bytes);
}

bool is_small(const Program& program) {
  auto bytes = static_cast<double>(program.arena_bytes);
  for (const auto& tensor : program.tensors) {
    bytes += static_cast<double>(tensor.bytes);
  }
  double steps = 0;
  for (const auto& operation : program.operations) {
    steps += steps_of(program, operation);
  }
  return bytes <= kMostBytes && steps <= kMostSteps;
}

std::vector<Exact> take_boundary(const Program& program, std::span<const std::uint32_t> list) {
  std::vector<Exact> taken;
  for (const auto index : list) {
    const auto& tensor = program.tensors[index];
    taken.emplace_back(tensor.bytes, tensor.dtype == DType::kInt8 ? 1 : 4);
  }
  return taken;
}

/// Bytes that go up and down; as float32 they hold small and large numbers, and none. Integers of
/// 32 and 64 bits are small: indices.
void fill(std::span<std::byte> bytes, DType dtype) {
  const std::size_t index_bytes = dtype == DType::kInt64 ? 8 : (dtype == DType::kInt32 ? 4 : 0);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i * i * 31 + i * 7 + 13);
    if (index_bytes > 0) {
      bytes[i] = static_cast<std::byte>(i % index_bytes == 0 ? i / index_bytes * 5 % 3 : 0);
    }
  }
}

struct Attempt {
  std::string error;
  std::vector<std::byte> made;
};

/// Everything that the program gives, or why it does not run.
Attempt run(Executor& executor) {
  const auto inputs = take_boundary(executor.program(), executor.program().inputs);
  const auto outputs = take_boundary(executor.program(), executor.program().outputs);
  std::vector<const void*> given;
  std::vector<void*> wanted;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    fill(inputs[i].bytes(), executor.program().tensors[executor.program().inputs[i]].dtype);
    given.push_back(inputs[i].bytes().data());
  }
  for (const auto& output : outputs) {
    std::ranges::fill(output.bytes(), std::byte{0});
    wanted.push_back(output.bytes().data());
  }
  if (const auto status = executor.execute(given, wanted); !status) {
    return {.error = status.error()};
  }
  Attempt attempt;
  for (const auto& output : outputs) {
    attempt.made.insert(attempt.made.end(), output.bytes().begin(), output.bytes().end());
  }
  return attempt;
}

Attempt attempt(std::span<const std::byte> blob, const Kernels& kernels) {
  auto executor = Executor::open(blob, kernels.isa);
  return executor ? run(**executor) : Attempt{.error = executor.error()};
}

}  // namespace

KernelCheck check_blob(std::span<const std::byte> blob) {
  const Exact copy(blob.size());
  std::ranges::copy(blob, copy.bytes().begin());
  const auto program = read_program(copy.bytes());
  if (!program || !is_small(*program)) {
    return {.is_accepted = program.has_value()};
  }
  const auto expected = attempt(copy.bytes(), scalar_kernels());
  KernelCheck check{.is_accepted = expected.error.empty(), .has_run = expected.error.empty()};
  for (const auto* kernels : all_kernels()) {
    if (kernels->is_supported() && check.disagreement.empty()) {
      const auto found = attempt(copy.bytes(), *kernels);
      const std::string isa(kernels->isa);
      if (found.error != expected.error) {
        check.disagreement = isa + ": '" + found.error + "', scalar: '" + expected.error + "'";
      } else if (found.made != expected.made) {
        check.disagreement = isa + " gives other bits than scalar";
      }
    }
  }
  return check;
}

}  // namespace fixedpoint::testing
