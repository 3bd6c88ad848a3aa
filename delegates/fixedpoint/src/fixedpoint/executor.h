#pragma once

#include "fixedpoint/embedding.h"
#include "fixedpoint/kernels.h"
#include "fixedpoint/make_run.h"
#include "fixedpoint/program.h"
#include "fixedpoint/result.h"
#include "fixedpoint/scratch.h"
#include "fixedpoint/workers.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace fixedpoint {

/// Is called before and after each operation.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void before(const OperationRecord& operation) = 0;
  /// `made`: the output's bytes, which the next operation may overwrite.
  virtual void after(const OperationRecord& operation, std::span<const std::byte> made) = 0;
};

/// A program made ready to run: operations decoded, weights packed, one arena.
///
/// `open` takes all the memory that there will be; `execute` allocates nothing but the text of an
/// error. Not for two threads at a time. The blob must outlive the executor.
class Executor {
 public:
  /// `isa`: a name of `all_kernels`, or empty for the fastest that runs here. `workers` must
  /// outlive the executor; null: all is done by the thread that calls. Their number changes no bit.
  static Result<std::unique_ptr<Executor>> open(std::span<const std::byte> blob,
                                                std::string_view isa = {},
                                                Workers* workers = nullptr);

  /// Inputs and outputs in the order of the program, of any alignment, each of the size that
  /// `program()` says. `observer` may be null.
  ///
  /// Fails before it computes anything if an input holds an index that is no row of the table of an
  /// embedding; nothing else fails.
  Status execute(std::span<const void* const> inputs, std::span<void* const> outputs,
                 Observer* observer = nullptr);

  const Program& program() const { return program_; }
  std::string_view isa() const { return kernels_->isa; }

 private:
  struct Step {
    OperationRecord record;
    std::vector<std::uint32_t> inputs;
    Run run;
  };
  /// An embedding whose indices are an input of the program.
  struct IndexCheck {
    std::size_t operation;
    Embedding embedding;
    std::uint32_t indices;
  };
  struct FreeArena {
    void operator()(std::byte* memory) const;
  };

  Executor(Program program, const Kernels& kernels, Workers* workers)
      : program_(std::move(program)), kernels_(&kernels), workers_(workers) {}
  Status prepare();
  Status take_arena();
  Result<Step> make_step(const OperationRecord& operation);
  void add_index_check(const OperationRecord& operation);
  Status check_indices() const;

  Program program_;
  const Kernels* kernels_;
  Workers* workers_;
  std::shared_ptr<Scratch> scratch_ = std::make_shared<Scratch>();
  std::unique_ptr<std::byte, FreeArena> arena_;
  std::vector<Step> steps_;
  std::vector<IndexCheck> index_checks_;
  /// Address of each tensor; those of inputs and outputs change with each call.
  std::vector<std::byte*> places_;
  /// Arguments of the operation that runs.
  std::vector<const void*> arguments_;
};

}  // namespace fixedpoint
