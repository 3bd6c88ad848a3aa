#include "fixedpoint/executor.h"

#include "fixedpoint/decode.h"
#include "fixedpoint/embedding.h"
#include "fixedpoint/format.h"
#include "fixedpoint/kernels.h"
#include "fixedpoint/make_run.h"
#include "fixedpoint/program.h"
#include "fixedpoint/result.h"
#include "fixedpoint/workers.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fixedpoint {
namespace {

/// Vector kernels may read, never write, this far behind a tensor.
constexpr std::size_t kSlack = 64;

}  // namespace

void Executor::FreeArena::operator()(std::byte* memory) const {
  ::operator delete(memory, std::align_val_t{kAlignment});
}

Result<std::unique_ptr<Executor>> Executor::open(std::span<const std::byte> blob,
                                                 std::string_view isa, Workers* workers) {
  const auto* kernels = find_kernels(isa);
  if (kernels == nullptr) {
    std::string names;
    for (const auto* one : all_kernels()) {
      names += one->is_supported() ? " " + std::string(one->isa) : "";
    }
    return fail("this processor has no kernels '" + std::string(isa) + "'; it has:" + names);
  }
  auto program = read_program(blob);
  if (!program) {
    return fail(program.error());
  }
  std::unique_ptr<Executor> executor(new Executor(std::move(*program), *kernels, workers));
  if (auto status = executor->prepare(); !status) {
    return fail(status.error());
  }
  return executor;
}

Status Executor::prepare() {
  std::size_t most_inputs = 0;
  for (const auto& operation : program_.operations) {
    auto step = make_step(operation);
    if (!step) {
      return fail("operation " + std::to_string(steps_.size()) + ": " + step.error());
    }
    most_inputs = std::max(most_inputs, step->inputs.size());
    add_index_check(operation);
    steps_.push_back(std::move(*step));
  }
  arguments_.resize(most_inputs);
  return take_arena();
}

/// Last, so that a program that nothing can run takes no memory.
Status Executor::take_arena() {
  const std::size_t bytes = program_.arena_bytes + kSlack;
  arena_.reset(
      static_cast<std::byte*>(::operator new(bytes, std::align_val_t{kAlignment}, std::nothrow)));
  if (arena_ == nullptr) {
    return fail("there is no memory for an arena of " + std::to_string(bytes) + " bytes");
  }
  std::memset(arena_.get(), 0, bytes);
  places_.resize(program_.tensors.size());
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto& tensor = program_.tensors[i];
    if (tensor.place == Place::kArena) {
      places_[i] = arena_.get() + tensor.offset;
    } else if (tensor.place == Place::kConstant) {
      places_[i] = const_cast<std::byte*>(program_.constant(tensor));  // never written: checked
    }
  }
  return {};
}

Result<Executor::Step> Executor::make_step(const OperationRecord& operation) {
  auto run = make_run(program_, operation, *kernels_, workers_, scratch_);
  if (!run) {
    return fail(run.error());
  }
  const auto inputs = program_.inputs_of(operation);
  return Step{
      .record = operation, .inputs = {inputs.begin(), inputs.end()}, .run = std::move(*run)};
}

void Executor::add_index_check(const OperationRecord& operation) {
  if (operation.kind != Kind::kEmbedding) {
    return;
  }
  const auto indices = program_.inputs_of(operation)[0];
  if (program_.tensors[indices].place == Place::kInput) {
    const auto embedding = decode_embedding(program_, operation);  // has been decoded once
    index_checks_.push_back({steps_.size(), *embedding, indices});
  }
}

Status Executor::check_indices() const {
  for (const auto& check : index_checks_) {
    if (auto invalid = find_invalid_index(check.embedding, places_[check.indices]);
        !invalid.empty()) {
      return fail("operation " + std::to_string(check.operation) + ": " + invalid);
    }
  }
  return {};
}

Status Executor::execute(std::span<const void* const> inputs, std::span<void* const> outputs,
                         Observer* observer) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    places_[program_.inputs[i]] = static_cast<std::byte*>(const_cast<void*>(inputs[i]));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    places_[program_.outputs[i]] = static_cast<std::byte*>(outputs[i]);
  }
  if (auto status = check_indices(); !status) {
    return status;
  }
  for (const auto& step : steps_) {
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      const auto index = step.inputs[i];
      arguments_[i] = index == kAbsent ? nullptr : places_[index];
    }
    if (observer != nullptr) {
      observer->before(step.record);
    }
    step.run(std::span(arguments_).first(step.inputs.size()), places_[step.record.output]);
    if (observer != nullptr) {
      const auto bytes = program_.tensors[step.record.output].bytes;
      observer->after(step.record, {places_[step.record.output], bytes});
    }
  }
  return {};
}

}  // namespace fixedpoint
