#pragma once

#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"

#include <benchmark/benchmark.h>
#include <functional>
#include <memory>

namespace fixedpoint::bench {

using MakeConv = std::function<std::unique_ptr<ConvKernel>(const Conv2d&)>;

/// Convolves with constants like those of a network, and counts MACs per cycle. `peak`: those that
/// the instructions reach, or 0.
void run_layer(benchmark::State& state, const MakeConv& make, const Window& window,
               double frequency, double peak);

}  // namespace fixedpoint::bench
