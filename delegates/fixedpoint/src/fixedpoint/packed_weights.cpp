#include "fixedpoint/packed_weights.h"

#include "fixedpoint/memory.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/pack_rows.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/weight_sums.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <vector>

namespace fixedpoint {
namespace {

/// Writes a channel's numbers; false when they do not fit.
bool write_numbers(const Conv2d& conv, int channel, const Packing& packing, const SumLimits& limits,
                   BlockNumbers& block, int place) {
  const std::int64_t depth = conv.window.depth();
  const auto sums = sum_weights(conv.weights + channel * depth, depth);
  const int shift = conv.shifts[channel];
  const int left = std::max(0, 32 - shift);
  if ((limits.largest * sums.magnitude) >> std::min(limits.bits, 31 - left) != 0 ||
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

/// Packs the rows of one tile.
void pack_tile(const Packing& packing, const std::int8_t* const* rows, int depth,
               std::byte* weights) {
  auto* bytes = reinterpret_cast<std::int8_t*>(weights);
  auto* words = reinterpret_cast<std::int16_t*>(weights);
  if (packing.weight_bytes == 1 && packing.group == 4) {
    pack_rows<std::int8_t, 4>(rows, packing.channels, depth, bytes);
  } else if (packing.weight_bytes == 2 && packing.group == 2) {
    pack_rows<std::int16_t, 2>(rows, packing.channels, depth, words);
  } else {
    pack_rows<std::int16_t, 1>(rows, packing.channels, depth, words);
  }
}

/// A tile's rows where they lie, or with their weights at other places of the depth.
class GivenRows {
 public:
  GivenRows(const Conv2d& conv, const Packing& packing, std::span<const int> places, int depth)
      : conv_(conv), packing_(packing), places_(places), depth_(depth), rows_(packing.channels) {
    const int given = conv.window.depth();
    is_in_place_ = given == depth && std::ranges::equal(places, std::views::iota(0, given));
    moved_.resize(is_in_place_ ? 0 : std::size_t(packing.channels) * depth);
  }

  const std::int8_t* const* find(int tile) {
    for (int position = 0; position < packing_.channels; ++position) {
      const auto channel = channel_at(conv_, packing_, tile, position);
      rows_[position] = channel ? row_of(*channel, position) : nullptr;
    }
    return rows_.data();
  }

 private:
  const std::int8_t* row_of(int channel, int position) {
    const std::int8_t* given = conv_.weights + std::ptrdiff_t{channel} * conv_.window.depth();
    if (is_in_place_) {
      return given;
    }
    std::int8_t* moved = moved_.data() + std::ptrdiff_t{position} * depth_;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      moved[places_[i]] = given[i];
    }
    return moved;
  }

  const Conv2d& conv_;
  const Packing& packing_;
  std::span<const int> places_;
  int depth_;
  bool is_in_place_ = false;
  std::vector<const std::int8_t*> rows_;
  std::vector<std::int8_t> moved_;
};

}  // namespace

PackedWeights pack_weights(const Conv2d& conv, const Packing& packing, std::int64_t largest) {
  std::vector<int> places(conv.window.depth());
  std::iota(places.begin(), places.end(), 0);
  if (packing.tap_of != nullptr) {
    std::ranges::transform(places, places.begin(), packing.tap_of);
  }
  return pack_weights(conv, packing, places, std::ranges::max(places) + 1, largest);
}

std::optional<int> channel_at(const Conv2d& conv, const Packing& packing, int tile, int position) {
  const int channels = conv.window.out_channels;
  const int first = tile * packing.channels;
  const int channel = first + packing.channel_of(position, channels - first);
  return channel < channels ? std::optional(channel) : std::nullopt;
}

PackedWeights pack_numbers(const Conv2d& conv, const Packing& packing, int depth,
                           const SumLimits& limits, int matrices) {
  PackedWeights packed{.groups = divide_up(depth, packing.group),
                       .tiles = divide_up(conv.window.out_channels, packing.channels),
                       .tile_blocks = packing.channels / kBlock};
  packed.tile_weight_bytes = std::size_t(matrices) * packed.groups * packing.group *
                             packing.channels * packing.weight_bytes;
  packed.numbers = take_memory(sizeof(BlockNumbers) * packed.tiles * packed.tile_blocks);
  auto* blocks = reinterpret_cast<BlockNumbers*>(packed.numbers.get());
  for (int place = 0; place < packed.tiles * packing.channels; ++place) {
    const auto channel =
        channel_at(conv, packing, place / packing.channels, place % packing.channels);
    packed.fits &= !channel || write_numbers(conv, *channel, packing, limits,
                                             blocks[place / kBlock], place % kBlock);
  }
  return packed;
}

Memory take_weights(const PackedWeights& packed, const Conv2d& conv, const Packing& packing,
                    int depth) {
  const bool are_all_written =
      conv.window.out_channels % packing.channels == 0 && depth % packing.group == 0;
  const std::size_t bytes = packed.tiles * packed.tile_weight_bytes;
  return are_all_written ? take_unset_memory(bytes) : take_memory(bytes);
}

PackedWeights pack_weights(const Conv2d& conv, const Packing& packing, std::span<const int> places,
                           int depth, std::int64_t largest) {
  PackedWeights packed = pack_numbers(conv, packing, depth, {.largest = largest});
  packed.weights = take_weights(packed, conv, packing, depth);
  GivenRows rows(conv, packing, places, depth);
  for (int tile = 0; tile < packed.tiles; ++tile) {
    pack_tile(packing, rows.find(tile), depth,
              packed.weights.get() + tile * packed.tile_weight_bytes);
  }
  return packed;
}

}  // namespace fixedpoint
