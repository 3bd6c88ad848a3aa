#include "fixedpoint/bench/winograd_bench.h"

#include "fixedpoint/bench/layer.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/winograd_conv.h"
#if defined(__x86_64__)
#include "fixedpoint/x86.h"
#elif defined(__aarch64__)
#include "fixedpoint/neon.h"
#endif

#include <benchmark/benchmark.h>
#include <string>

namespace fixedpoint::bench {
namespace {

constexpr int kSizes[] = {2, 3, 4, 5, 6, 7, 8, 10, 14, 28, 56};
constexpr int kChannels[] = {32, 48, 64, 128, 256, 512};
constexpr int kMostMacs = 120'000'000;

Window window_of(int size, int channels) {
  return {.batch = 1,
          .in_height = size,
          .in_width = size,
          .in_channels = channels,
          .out_height = size,
          .out_width = size,
          .out_channels = channels,
          .kernel_height = 3,
          .kernel_width = 3,
          .pad_top = 1,
          .pad_left = 1};
}

MakeConv directly(const GemmUnit& gemm, const DepthwiseUnit& depthwise) {
  return [&](const Conv2d& conv) { return packed_or_scalar(conv, gemm, depthwise, nullptr); };
}

MakeConv by_winograd(const WinogradUnit& unit) {
  return [&](const Conv2d& conv) { return make_winograd_conv(conv, unit, nullptr); };
}

void add(std::string name, const MakeConv& make, const Window& window, double frequency) {
  name += std::to_string(window.in_width) + "x" + std::to_string(window.in_channels);
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    run_layer(state, make, window, frequency, 0);
  })->Unit(benchmark::kMicrosecond);
}

void add_all(const std::string& isa, const MakeConv& direct, const WinogradUnit& two,
             const WinogradUnit& four, double frequency) {
  for (const int size : kSizes) {
    for (const int channels : kChannels) {
      const Window w = window_of(size, channels);
      if (w.out_pixels() * w.out_channels * w.depth() <= kMostMacs) {
        add(isa + "/direct/", direct, w, frequency);
        add(isa + "/winograd2/", by_winograd(two), w, frequency);
        add(isa + "/winograd4/", by_winograd(four), w, frequency);
      }
    }
  }
}

}  // namespace

void add_winograd(double frequency) {
#if defined(__x86_64__)
  if (avx2::is_supported()) {
    add_all("avx2", directly(avx2::kGemm, avx2::kDepthwise), avx2::kWinograd2, avx2::kWinograd4,
            frequency);
  }
  if (avx512::is_supported()) {
    add_all("avx512vnni", directly(avx512::kGemm, avx512::kDepthwise), avx512::kWinograd2,
            avx512::kWinograd4, frequency);
  }
#elif defined(__aarch64__)
  add_all("neon", directly(neon::kGemm, neon::kDepthwise), neon::kWinograd2, neon::kWinograd4,
          frequency);
#endif
}

}  // namespace fixedpoint::bench
