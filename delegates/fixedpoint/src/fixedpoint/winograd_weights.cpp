#include "fixedpoint/winograd_weights.h"

#include "fixedpoint/operations.h"
#include "fixedpoint/pack_rows.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/packed_weights.h"
#include "fixedpoint/winograd_conv.h"
#include "fixedpoint/winograd_lanes.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace fixedpoint {
namespace {

constexpr int kLanes = EightLanes::kCount;

/// Sums stay below 2^(31 - k): see winograd_conv.h.
SumLimits limits_of(WinogradStep step) { return {.bits = step == WinogradStep::kTwo ? 29 : 25}; }

using Words = EightLanes::Words;

/// Three values times H, at `out` and each `step` on.
template <WinogradStep size>
[[gnu::always_inline]] inline void times_h(Words g0, Words g1, Words g2, Words* out,
                                           std::ptrdiff_t step) {
  const Words outer = g0 + g2;
  if constexpr (size == WinogradStep::kTwo) {
    out[0] = g0 + g0;
    out[step] = outer + g1;
    out[2 * step] = outer - g1;
    out[3 * step] = g2 + g2;
  } else {
    const Words near = g0 + (g2 << 2);
    const Words twice = g1 << 1;
    out[0] = g0 + (g0 << 1);
    out[step] = -(outer + g1);
    out[2 * step] = g1 - outer;
    out[3 * step] = near + twice;
    out[4 * step] = near - twice;
    out[5 * step] = g2 + (g2 << 1);
  }
}

/// U of one channel: place `i` of an input channel goes to out[i * step + channel].
template <WinogradStep size>
void transform_channel(const std::int8_t* weights, int in_channels, std::int16_t* out,
                       std::ptrdiff_t step) {
  constexpr int kSide = WinogradSizes<size>::kSide;
  for (int next = 0; next < in_channels; next += kLanes) {
    const int first = next + kLanes <= in_channels ? next : in_channels - kLanes;
    const auto tap = [=](int row, int column) {
      return EightLanes::load(weights + std::ptrdiff_t{in_channels} * (3 * row + column) + first);
    };
    Words half[kSide][3];
    for (int j = 0; j < 3; ++j) {
      times_h<size>(tap(0, j), tap(1, j), tap(2, j), &half[0][j], 3);
    }
    for (int i = 0; i < kSide; ++i) {
      Words made[kSide];
      times_h<size>(half[i][0], half[i][1], half[i][2], made, 1);
      for (int j = 0; j < kSide; ++j) {
        std::memcpy(out + (kSide * i + j) * step + first, &made[j], sizeof made[j]);
      }
    }
  }
}

/// Packs the places of one tile of channels.
class TilePacker {
  static constexpr std::ptrdiff_t kLine = 64 / sizeof(std::int16_t);

 public:
  TilePacker(const Conv2d& conv, const WinogradUnit& unit)
      : conv_(conv),
        packing_(unit.gemm->packing),
        places_(unit.places()),
        transform_(unit.step == WinogradStep::kTwo ? transform_channel<WinogradStep::kTwo>
                                                   : transform_channel<WinogradStep::kFour>),
        row_step_(conv.window.in_channels + kLine),
        step_(packing_.channels * row_step_ + kLine),
        transformed_(places_ * step_),
        rows_(packing_.channels) {}

  void pack(int tile, std::int16_t* packed, std::ptrdiff_t place_step) {
    const Window& w = conv_.window;
    for (int position = 0; position < packing_.channels; ++position) {
      const auto channel = channel_at(conv_, packing_, tile, position);
      rows_[position] = channel ? transformed_.data() + position * row_step_ : nullptr;
      if (channel) {
        transform_(conv_.weights + std::ptrdiff_t{*channel} * w.depth(), w.in_channels,
                   transformed_.data() + position * row_step_, step_);
      }
    }
    for (int place = 0; place < places_; ++place, packed += place_step) {
      pack_place(packed);
      for (auto& row : rows_) {
        row += row != nullptr ? step_ : 0;
      }
    }
  }

 private:
  void pack_place(std::int16_t* packed) const {
    const int depth = conv_.window.in_channels;
    if (packing_.group == 2) {
      pack_rows<std::int16_t, 2>(rows_.data(), packing_.channels, depth, packed);
    } else {
      pack_rows<std::int16_t, 1>(rows_.data(), packing_.channels, depth, packed);
    }
  }

  const Conv2d& conv_;
  const Packing& packing_;
  int places_;
  void (*transform_)(const std::int8_t* weights, int in_channels, std::int16_t* out,
                     std::ptrdiff_t step);
  /// From one channel to the next and from one place to the next, a cache line more than what lies
  /// there: they would meet in few sets of a cache.
  std::ptrdiff_t row_step_;
  std::ptrdiff_t step_;
  /// (place, position, in_channels)
  std::vector<std::int16_t> transformed_;
  std::vector<const std::int16_t*> rows_;
};

}  // namespace

PackedWeights pack_winograd_weights(const Conv2d& conv, const WinogradUnit& unit) {
  const Packing& packing = unit.gemm->packing;
  const int places = unit.places();
  auto packed = pack_numbers(conv, packing, conv.window.in_channels, limits_of(unit.step), places);
  if (!packed.fits) {
    return packed;
  }
  packed.weights = take_weights(packed, conv, packing, conv.window.in_channels);
  const std::ptrdiff_t place_step =
      std::ptrdiff_t{packed.groups} * packing.group * packing.channels;
  TilePacker packer(conv, unit);
  auto* weights = reinterpret_cast<std::int16_t*>(packed.weights.get());
  for (int tile = 0; tile < packed.tiles; ++tile, weights += places * place_step) {
    packer.pack(tile, weights, place_step);
  }
  return packed;
}

}  // namespace fixedpoint
