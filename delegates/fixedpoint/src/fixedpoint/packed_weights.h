#pragma once

#include "fixedpoint/memory.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace fixedpoint {

/// Least multiple of `by` that holds `value`, as a factor.
constexpr int divide_up(int value, int by) { return (value + by - 1) / by; }

/// Weights and numbers of all channels, tile by tile.
struct PackedWeights {
  Memory weights;
  Memory numbers;
  int groups = 0;
  int tiles = 0;
  std::size_t tile_weight_bytes = 0;
  int tile_blocks = 0;
  /// True if every channel's numbers fit the units' arithmetic; if not, the blocks say nothing.
  bool fits = true;

  const BlockNumbers* blocks(int tile) const {
    return reinterpret_cast<const BlockNumbers*>(numbers.get()) + tile * tile_blocks;
  }
  const std::byte* tile_weights(int tile) const { return weights.get() + tile * tile_weight_bytes; }
};

/// Sums that fit.
struct SumLimits {
  /// Activations go down to `-largest`.
  std::int64_t largest = 128;
  /// Sums must stay below 2^bits.
  int bits = 31;
};

/// Packs everything but the weights, for which it takes no memory: for sums of `depth` that
/// `limits` allows, and `matrices` matrices of weights in a tile.
PackedWeights pack_numbers(const Conv2d& conv, const Packing& packing, int depth,
                           const SumLimits& limits, int matrices = 1);

/// Memory for the weights of each tile, `depth` for each channel: zeros where packing leaves any of
/// it as it is.
Memory take_weights(const PackedWeights& packed, const Conv2d& conv, const Packing& packing,
                    int depth);

/// Which channel a position of a tile holds; none past the last.
std::optional<int> channel_at(const Conv2d& conv, const Packing& packing, int tile, int position);

/// For activations down to `-largest`.
PackedWeights pack_weights(const Conv2d& conv, const Packing& packing, std::int64_t largest = 128);

/// Packs with each channel's weight `i` at depth `places[i]` of `depth`, zeros between them.
PackedWeights pack_weights(const Conv2d& conv, const Packing& packing, std::span<const int> places,
                           int depth, std::int64_t largest = 128);

}  // namespace fixedpoint
