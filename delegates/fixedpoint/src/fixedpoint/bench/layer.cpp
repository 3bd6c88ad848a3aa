#include "fixedpoint/bench/layer.h"

#include "fixedpoint/operations.h"

#include <benchmark/benchmark.h>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <vector>

namespace fixedpoint::bench {

Layer::Layer(const Window& w)
    : weights(static_cast<std::size_t>(w.out_channels) * w.depth()),
      multipliers(w.out_channels, 0x60000000),
      shifts(w.out_channels, 40),
      biases(w.out_channels, std::int64_t{1} << 39) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    // Few are large: of sums with only large ones Winograd's tiles of four take less channels.
    const int any = static_cast<int>(i * 37 % 255) - 127;
    weights[i] = static_cast<std::int8_t>(i % 4 == 0 ? any : any / 4);
  }
  conv = {.window = w,
          .weights = weights.data(),
          .multipliers = multipliers.data(),
          .shifts = shifts.data(),
          .biases = biases.data()};
}

void run_layer(benchmark::State& state, const MakeConv& make, const Window& window,
               double frequency, double peak) {
  const Layer layer(window);
  const auto kernel = make(layer.conv);
  if (kernel == nullptr) {
    state.SkipWithError("its numbers do not fit");
    return;
  }
  const auto in_pixels = static_cast<std::size_t>(window.in_height) * window.in_width;
  const std::vector<std::int8_t> in(in_pixels * window.in_channels, 3);
  std::vector<std::int8_t> out(window.out_pixels() * window.out_channels);
  const auto start = std::clock();
  for (auto _ : state) {
    kernel->run(in.data(), out.data());
    benchmark::ClobberMemory();
  }
  // Time of the processor, which what else runs disturbs least.
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const double macs = static_cast<double>(window.out_pixels()) * window.out_channels *
                      window.depth() * static_cast<double>(state.iterations());
  const double reached = macs / (seconds * frequency);
  state.counters["MAC/cycle"] = reached;
  if (peak > 0) {
    state.counters["of_peak"] = reached / peak;
  }
}

}  // namespace fixedpoint::bench
