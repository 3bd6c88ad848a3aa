// Convolutions of MobileNet V2 and V3 and of ResNet18 on each instruction set, in MACs per cycle
// beside what its multiplications reach without memory. One thread; run it by hand on an idle
// machine.
#include "fixedpoint/bench/layer.h"
#include "fixedpoint/bench/peak.h"
#include "fixedpoint/bench/row_bench.h"
#include "fixedpoint/bench/strip_bench.h"
#include "fixedpoint/bench/winograd_bench.h"
#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"

#include <benchmark/benchmark.h>
#include <string>

namespace fixedpoint::bench {
namespace {

struct Gemm {
  int rows, depth, columns;
};
struct Depthwise {
  int size, channels, kernel, stride;
};

/// Layers of 1x1 at 224 x 224: the whole network of V2, then what V3 large adds.
constexpr Gemm kGemms[] = {{12544, 32, 16}, {12544, 16, 96}, {3136, 96, 24},  {3136, 24, 144},
                           {784, 144, 32},  {784, 32, 192},  {196, 192, 64},  {196, 64, 384},
                           {196, 384, 96},  {196, 96, 576},  {49, 576, 160},  {49, 160, 960},
                           {49, 960, 320},  {49, 320, 1280}, {12544, 16, 16}, {12544, 16, 64},
                           {3136, 64, 24},  {3136, 24, 72},  {784, 72, 40},   {784, 40, 120},
                           {784, 120, 40},  {196, 240, 80},  {196, 80, 200},  {196, 80, 480},
                           {196, 480, 112}, {196, 112, 672}, {196, 672, 112}, {49, 672, 160}};
constexpr Depthwise kDepthwise[] = {
    {112, 32, 3, 1}, {112, 96, 3, 2}, {56, 144, 3, 1}, {56, 144, 3, 2}, {28, 192, 3, 1},
    {14, 384, 3, 1}, {14, 576, 3, 1}, {7, 960, 3, 1},  {112, 16, 3, 1}, {56, 72, 5, 2},
    {28, 120, 5, 1}, {14, 480, 3, 1}, {14, 672, 5, 1}, {7, 960, 5, 1}};

struct Windowed {
  int size, in_channels, out_channels, kernel, stride;
};
/// Layers of ResNet18.
constexpr Windowed kWindows[] = {{224, 3, 64, 7, 2},   {56, 64, 64, 3, 1},   {56, 64, 128, 3, 2},
                                 {28, 128, 128, 3, 1}, {28, 128, 256, 3, 2}, {14, 256, 256, 3, 1},
                                 {14, 256, 512, 3, 2}, {7, 512, 512, 3, 1},  {56, 64, 128, 1, 2}};

Window window_of(const Gemm& g) {
  return {.batch = 1,
          .in_height = g.rows,
          .in_width = 1,
          .in_channels = g.depth,
          .out_height = g.rows,
          .out_width = 1,
          .out_channels = g.columns};
}

Window window_of(const Depthwise& d) {
  return {.batch = 1,
          .in_height = d.size,
          .in_width = d.size,
          .in_channels = d.channels,
          .out_height = d.size / d.stride + d.size % d.stride,
          .out_width = d.size / d.stride + d.size % d.stride,
          .out_channels = d.channels,
          .kernel_height = d.kernel,
          .kernel_width = d.kernel,
          .stride_height = d.stride,
          .stride_width = d.stride,
          .pad_top = d.kernel / 2,
          .pad_left = d.kernel / 2,
          .groups = d.channels};
}

Window window_of(const Windowed& v) {
  Window w = window_of(Depthwise{v.size, v.in_channels, v.kernel, v.stride});
  w.out_channels = v.out_channels;
  w.groups = 1;
  return w;
}

std::string name_of(const Gemm& g) {
  return "gemm/" + std::to_string(g.rows) + "x" + std::to_string(g.depth) + "x" +
         std::to_string(g.columns);
}

std::string name_of(const Depthwise& d) {
  return "depthwise/" + std::to_string(d.size) + "x" + std::to_string(d.channels) + "/kernel" +
         std::to_string(d.kernel) + "/stride" + std::to_string(d.stride);
}

std::string name_of(const Windowed& v) {
  return "conv/" + std::to_string(v.size) + "x" + std::to_string(v.in_channels) + "x" +
         std::to_string(v.out_channels) + "/kernel" + std::to_string(v.kernel) + "/stride" +
         std::to_string(v.stride);
}

template <class Shape>
void add(const Kernels& kernels, const Shape& shape, double frequency, double peak) {
  const auto name = std::string(kernels.isa) + "/" + name_of(shape);
  benchmark::RegisterBenchmark(name.c_str(), [=, &kernels](benchmark::State& state) {
    run_layer(state, kernels.make_conv2d, window_of(shape), frequency, peak);
  })->Unit(benchmark::kMicrosecond);
}

void add_all() {
  const double frequency = measure_frequency();
  benchmark::AddCustomContext("core_ghz", std::to_string(frequency / 1e9));
  for (const auto* kernels : all_kernels()) {
    if (!kernels->is_supported() || kernels->isa == "scalar") {
      continue;
    }
    const double peak = measure_peak(kernels->isa, frequency);
    benchmark::AddCustomContext("peak_mac_per_cycle_" + std::string(kernels->isa),
                                std::to_string(peak));
    for (const auto& shape : kGemms) {
      add(*kernels, shape, frequency, peak);
    }
    for (const auto& shape : kWindows) {
      add(*kernels, shape, frequency, peak);
    }
    for (const auto& shape : kDepthwise) {
      add(*kernels, shape, frequency, peak);
    }
  }
  add_winograd(frequency);
  add_rows();
  add_strips();
}

}  // namespace
}  // namespace fixedpoint::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  fixedpoint::bench::add_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
