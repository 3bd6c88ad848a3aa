#pragma once

#include "fixedpoint/format.h"
#include "fixedpoint/kernels.h"
#include "fixedpoint/program.h"
#include "fixedpoint/result.h"
#include "fixedpoint/scratch.h"
#include "fixedpoint/workers.h"

#include <functional>
#include <memory>
#include <span>

namespace fixedpoint {

using Arguments = std::span<const void* const>;
/// One operation made ready: runs with pointers to its inputs and its output.
using Run = std::function<void(Arguments, void*)>;

/// Decodes an operation and chooses its kernel, by its kind and the type of its activations.
/// `workers` may be null. What is made with the same `scratch` never runs at the same time.
Result<Run> make_run(const Program& program, const OperationRecord& operation,
                     const Kernels& kernels, Workers* workers,
                     const std::shared_ptr<Scratch>& scratch);

}  // namespace fixedpoint
