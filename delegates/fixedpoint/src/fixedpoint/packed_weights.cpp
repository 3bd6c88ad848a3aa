#include "fixedpoint/packed_weights.h"

#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>
#include <span>
#include <vector>

namespace fixedpoint {
namespace {

struct ChannelSums {
  std::int64_t plain = 0;
  std::int64_t magnitude = 0;
};

ChannelSums sum_weights(const Conv2d& conv, int channel) {
  ChannelSums sums;
  const int depth = conv.window.depth();
  for (int i = 0; i < depth; ++i) {
    const int weight = conv.weights[std::int64_t{channel} * depth + i];
    sums.plain += weight;
    sums.magnitude += std::abs(weight);
  }
  return sums;
}

/// Writes a channel's numbers for activations down to `-largest`; false when they do not fit.
bool write_numbers(const Conv2d& conv, int channel, const Packing& packing, std::int64_t largest,
                   BlockNumbers& block, int place) {
  const auto sums = sum_weights(conv, channel);
  const int shift = conv.shifts[channel];
  const int left = std::max(0, 32 - shift);
  if ((largest * sums.magnitude) >> (31 - left) != 0 ||
      std::llabs(conv.biases[channel]) >> (62 - left) != 0) {
    return false;
  }
  block.start[place] = static_cast<std::int32_t>(-packing.activation_offset * sums.plain);
  block.left[place] = left;
  block.right[place] = shift + left - 32;
  block.multiplier[place] = conv.multipliers[channel];
  if (place % 2 == 1) {
    block.odd_multiplier[place - 1] = conv.multipliers[channel];
  }
  const std::int64_t bias = conv.biases[channel] * (std::int64_t{1} << left);
  auto& biases = place % 2 == 0 ? block.even_bias : block.odd_bias;
  biases[place / 2] = bias;
  return true;
}

void write_weight(const Packing& packing, std::byte* tile, int position, int depth,
                  std::int8_t weight) {
  const std::size_t index =
      (std::size_t(depth / packing.group) * packing.channels + position) * packing.group +
      depth % packing.group;
  if (packing.weight_bytes == 1) {
    reinterpret_cast<std::int8_t*>(tile)[index] = weight;
  } else {
    reinterpret_cast<std::int16_t*>(tile)[index] = weight;
  }
}

}  // namespace

Memory take_memory(std::size_t bytes) {
  auto* memory = static_cast<std::byte*>(::operator new(bytes, std::align_val_t{64}));
  std::memset(memory, 0, bytes);
  return Memory(memory);
}

PackedWeights pack_weights(const Conv2d& conv, const Packing& packing, std::int64_t largest) {
  std::vector<int> places(conv.window.depth());
  std::iota(places.begin(), places.end(), 0);
  if (packing.tap_of != nullptr) {
    std::ranges::transform(places, places.begin(), packing.tap_of);
  }
  return pack_weights(conv, packing, places, std::ranges::max(places) + 1, largest);
}

PackedWeights pack_weights(const Conv2d& conv, const Packing& packing, std::span<const int> places,
                           int depth, std::int64_t largest) {
  const int channels = conv.window.out_channels;
  PackedWeights packed{.groups = divide_up(depth, packing.group),
                       .tiles = divide_up(channels, packing.channels),
                       .tile_blocks = packing.channels / kBlock};
  packed.tile_weight_bytes =
      std::size_t(packed.groups) * packing.group * packing.channels * packing.weight_bytes;
  packed.weights = take_memory(packed.tiles * packed.tile_weight_bytes);
  packed.numbers = take_memory(sizeof(BlockNumbers) * packed.tiles * packed.tile_blocks);
  auto* blocks = reinterpret_cast<BlockNumbers*>(packed.numbers.get());
  for (int place = 0; place < packed.tiles * packing.channels; ++place) {
    const int tile = place / packing.channels;
    const int position = place % packing.channels;
    const int first = tile * packing.channels;
    const int channel = first + packing.channel_of(position, channels - first);
    if (channel >= channels) {
      continue;
    }
    packed.fits &=
        write_numbers(conv, channel, packing, largest, blocks[place / kBlock], place % kBlock);
    auto* weights = packed.weights.get() + tile * packed.tile_weight_bytes;
    const std::int8_t* given = conv.weights + std::ptrdiff_t{channel} * conv.window.depth();
    for (std::size_t i = 0; i < places.size(); ++i) {
      write_weight(packing, weights, position, places[i], given[i]);
    }
  }
  return packed;
}

}  // namespace fixedpoint
