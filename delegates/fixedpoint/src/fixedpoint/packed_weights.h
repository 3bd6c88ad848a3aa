#pragma once

#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"

#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace fixedpoint {

struct Free {
  void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t{64}); }
};
using Memory = std::unique_ptr<std::byte, Free>;

/// Zeros, aligned for vector units.
Memory take_memory(std::size_t bytes);

/// How many times `by` it takes to hold `value`.
constexpr int divide_up(int value, int by) { return (value + by - 1) / by; }

/// Weights and numbers of all channels, tile by tile.
struct PackedWeights {
  Memory weights;
  Memory numbers;
  int groups = 0;
  int tiles = 0;
  std::size_t tile_weight_bytes = 0;
  int tile_blocks = 0;
  /// Whether every channel's numbers fit the units' arithmetic; if not, the blocks say nothing.
  bool fits = true;

  const BlockNumbers* blocks(int tile) const {
    return reinterpret_cast<const BlockNumbers*>(numbers.get()) + tile * tile_blocks;
  }
  const std::byte* tile_weights(int tile) const { return weights.get() + tile * tile_weight_bytes; }
};

/// For activations down to `-largest`.
PackedWeights pack_weights(const Conv2d& conv, const Packing& packing, std::int64_t largest = 128);

/// Packs with each channel's weight `i` at depth `places[i]` of `depth`, zeros between them.
PackedWeights pack_weights(const Conv2d& conv, const Packing& packing, std::span<const int> places,
                           int depth, std::int64_t largest = 128);

}  // namespace fixedpoint
