#include "fixedpoint/bench/row_bench.h"

#include "fixedpoint/bench/layer.h"
#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iterator>
#include <memory>
#include <string>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fixedpoint::bench {
namespace {

struct Shape {
  int in_channels, out_channels;
};

/// Layers of MobileNetV3 large, the classifiers first, then squeeze and excite.
constexpr Shape kShapes[] = {{1280, 1000}, {960, 1280}, {960, 240}, {240, 960},
                             {672, 168},   {168, 672},  {480, 120}, {120, 480}};
/// Layers in turn hold as much as the weights of a network, which a first or second level of the
/// cache does not.
constexpr std::size_t kAllBytes = 6 << 20;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

#if defined(__x86_64__)
/// Reads whole cache lines with AVX2, which every kernel here needs; returns something of all.
[[gnu::target("avx2")]] std::uint64_t read_all(const std::vector<std::int8_t>& bytes) {
  constexpr int kVectors = 4;
  __m256i all[kVectors] = {};
  const auto* vectors = reinterpret_cast<const __m256i*>(bytes.data());
  const std::size_t count = bytes.size() / sizeof *vectors;
  for (std::size_t i = 0; i + kVectors <= count; i += kVectors) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      all[v] = _mm256_xor_si256(all[v], _mm256_loadu_si256(vectors + i + v));
    }
  }
  const __m256i made =
      _mm256_xor_si256(_mm256_xor_si256(all[0], all[1]), _mm256_xor_si256(all[2], all[3]));
  return static_cast<std::uint64_t>(_mm256_extract_epi64(made, 0));
}
#else
std::uint64_t read_all(const std::vector<std::int8_t>& bytes) {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i + sizeof all <= bytes.size(); i += sizeof all) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    all ^= word;
  }
  return all;
}
#endif

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Layers of one shape, each with weights of its own.
class Rows {
 public:
  Rows(const Kernels& kernels, const Shape& shape)
      : in_(shape.in_channels, 3), out_(shape.out_channels) {
    const Window window = {.batch = 1,
                           .in_height = 1,
                           .in_width = 1,
                           .in_channels = shape.in_channels,
                           .out_height = 1,
                           .out_width = 1,
                           .out_channels = shape.out_channels};
    for (std::size_t taken = 0; taken < kAllBytes; taken += layers_.back().weights.size()) {
      layers_.emplace_back(window);
      kernels_.push_back(kernels.make_conv2d(layers_.back().conv));
    }
  }
  double bytes() const {
    return static_cast<double>(layers_.size()) * static_cast<double>(layers_[0].weights.size());
  }
  double time_kernels() {
    const auto start = Clock::now();
    for (const auto& kernel : kernels_) {
      kernel->run(in_.data(), out_.data());
    }
    benchmark::ClobberMemory();
    return seconds_since(start);
  }
  double time_reads() {
    const auto start = Clock::now();
    for (const auto& layer : layers_) {
      benchmark::DoNotOptimize(read_all(layer.weights));
    }
    return seconds_since(start);
  }

 private:
  std::deque<Layer> layers_;
  std::vector<std::unique_ptr<ConvKernel>> kernels_;
  std::vector<std::int8_t> in_;
  std::vector<std::int8_t> out_;
};

/// Both in turn, each the second time that it runs, when its bytes are as near as they will be.
void run_rows(benchmark::State& state, const Kernels& kernels, const Shape& shape) {
  Rows rows(kernels, shape);
  std::vector<double> kernel_seconds;
  std::vector<double> read_seconds;
  for (auto _ : state) {
    rows.time_kernels();
    kernel_seconds.push_back(rows.time_kernels());
    rows.time_reads();
    read_seconds.push_back(rows.time_reads());
  }
  const double kernel = median(kernel_seconds);
  const double read = median(read_seconds);
  state.counters["GB/s"] = rows.bytes() / kernel / 1e9;
  state.counters["read_GB/s"] = rows.bytes() / read / 1e9;
  state.counters["of_read"] = read / kernel;
}

}  // namespace

void add_rows() {
  for (const auto* kernels : all_kernels()) {
    for (const auto& shape : kShapes) {
      if (kernels->is_supported() && kernels->isa != "scalar") {
        const auto name = std::string(kernels->isa) + "/row/" + std::to_string(shape.in_channels) +
                          "x" + std::to_string(shape.out_channels);
        benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
          run_rows(state, *kernels, shape);
        })->Unit(benchmark::kMicrosecond);
      }
    }
  }
}

}  // namespace fixedpoint::bench
