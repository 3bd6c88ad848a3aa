#pragma once

#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"

#include <benchmark/benchmark.h>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace fixedpoint::bench {

/// A convolution with constants of its own.
struct Layer {
  Conv2d conv;
  std::vector<std::int8_t> weights;
  std::vector<std::int32_t> multipliers;
  std::vector<std::uint8_t> shifts;
  std::vector<std::int64_t> biases;

  explicit Layer(const Window& window);
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
};

using MakeConv = std::function<std::unique_ptr<ConvKernel>(const Conv2d&)>;

/// Convolves with constants like those of a network, and counts MACs per cycle. `peak`: those that
/// the instructions reach, or 0.
void run_layer(benchmark::State& state, const MakeConv& make, const Window& window,
               double frequency, double peak);

}  // namespace fixedpoint::bench
