// Whether inverted residual blocks gain from strips: an upper bound of it, for strips have no
// bookkeeping here, and what they read twice in a program lies where it was.
#include "fixedpoint/bench/strip_bench.h"

#include "fixedpoint/bench/layer.h"
#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"

#include <benchmark/benchmark.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fixedpoint::bench {
namespace {

struct Shape {
  int size, in_channels, expanded, out_channels, kernel, stride;

  int out_size() const { return size / stride; }
};

/// Blocks of MobileNetV2, then of V3 large, without those between which images are squeezed.
constexpr Shape kShapes[] = {{112, 16, 96, 24, 3, 2}, {56, 24, 144, 24, 3, 1},
                             {56, 24, 144, 32, 3, 2}, {28, 32, 192, 32, 3, 1},
                             {14, 64, 384, 64, 3, 1}, {112, 16, 64, 24, 3, 2},
                             {56, 24, 72, 24, 3, 1},  {28, 40, 240, 80, 3, 2}};
constexpr int kStripRows[] = {1, 2, 4, 7};

Window pointwise(int rows, int columns, int in_channels, int out_channels) {
  return {.batch = 1,
          .in_height = rows,
          .in_width = columns,
          .in_channels = in_channels,
          .out_height = rows,
          .out_width = columns,
          .out_channels = out_channels};
}

/// Rows of results from as many rows of the input as they read, padded at the sides alone.
Window depthwise(const Shape& s, int rows) {
  Window w = pointwise((rows - 1) * s.stride + s.kernel, s.size, s.expanded, s.expanded);
  w.out_height = rows;
  w.out_width = s.out_size();
  w.kernel_height = w.kernel_width = s.kernel;
  w.stride_height = w.stride_width = s.stride;
  w.pad_left = s.kernel / 2;
  w.groups = s.expanded;
  return w;
}

/// The three layers of a block over some rows of results at a time.
class Block {
 public:
  Block(const Kernels& kernels, const Shape& shape, int rows)
      : strips_(shape.out_size() / rows),
        expand_(pointwise(rows * shape.stride, shape.size, shape.in_channels, shape.expanded)),
        filter_(depthwise(shape, rows)),
        project_(pointwise(rows, shape.out_size(), shape.expanded, shape.out_channels)),
        kernels_{kernels.make_conv2d(expand_.conv), kernels.make_conv2d(filter_.conv),
                 kernels.make_conv2d(project_.conv)},
        in_bytes_(bytes(rows * shape.stride, shape.size, shape.in_channels)),
        kept_bytes_(
            bytes(filter_.conv.window.in_height - rows * shape.stride, shape.size, shape.expanded)),
        out_bytes_(bytes(rows, shape.out_size(), shape.out_channels)),
        in_(in_bytes_ * strips_, 3),
        expanded_(bytes(filter_.conv.window.in_height, shape.size, shape.expanded)),
        filtered_(bytes(rows, shape.out_size(), shape.expanded)),
        out_(out_bytes_ * strips_) {}

  void run() {
    for (std::size_t i = 0; i < strips_; ++i) {
      // Behind the rows that the strip before has left.
      kernels_[0]->run(in_.data() + i * in_bytes_, expanded_.data() + kept_bytes_);
      kernels_[1]->run(expanded_.data(), filtered_.data());
      kernels_[2]->run(filtered_.data(), out_.data() + i * out_bytes_);
    }
  }

 private:
  static std::size_t bytes(int rows, int columns, int channels) {
    return static_cast<std::size_t>(rows) * columns * channels;
  }

  std::size_t strips_;
  Layer expand_;
  Layer filter_;
  Layer project_;
  std::unique_ptr<ConvKernel> kernels_[3];
  std::size_t in_bytes_;
  std::size_t kept_bytes_;
  std::size_t out_bytes_;
  std::vector<std::int8_t> in_;
  std::vector<std::int8_t> expanded_;
  std::vector<std::int8_t> filtered_;
  std::vector<std::int8_t> out_;
};

void run_block(benchmark::State& state, const Kernels& kernels, const Shape& shape, int rows) {
  Block block(kernels, shape, rows);
  for (auto _ : state) {
    block.run();
    benchmark::ClobberMemory();
  }
  state.counters["expanded_KiB"] = shape.size * shape.size * shape.expanded / 1024.0;
}

void add(const Kernels& kernels, const Shape& s, int rows) {
  const std::string how = rows == s.out_size() ? "whole" : "strips" + std::to_string(rows);
  const auto name = std::string(kernels.isa) + "/block/" + std::to_string(s.size) + "x" +
                    std::to_string(s.in_channels) + "x" + std::to_string(s.expanded) + "x" +
                    std::to_string(s.out_channels) + "/stride" + std::to_string(s.stride) + "/" +
                    how;
  benchmark::RegisterBenchmark(name.c_str(), [&kernels, s, rows](benchmark::State& state) {
    run_block(state, kernels, s, rows);
  })->Unit(benchmark::kMicrosecond);
}

}  // namespace

void add_strips() {
  for (const auto* kernels : all_kernels()) {
    if (!kernels->is_supported() || kernels->isa == "scalar") {
      continue;
    }
    for (const auto& shape : kShapes) {
      add(*kernels, shape, shape.out_size());
      for (const int rows : kStripRows) {
        if (shape.out_size() % rows == 0) {
          add(*kernels, shape, rows);
        }
      }
    }
  }
}

}  // namespace fixedpoint::bench
