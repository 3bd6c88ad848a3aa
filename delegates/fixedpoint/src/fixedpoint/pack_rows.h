#pragma once

#include "fixedpoint/packed_conv.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace fixedpoint {

/// Four weights of 8 bits or two of 16 from each of four rows, as many to each of four groups.
class FourByFour {
 public:
  static constexpr int kSide = 4;

  /// `rows` are pointers to anything; `from` and `step` are in bytes.
  template <class Row>
  [[gnu::always_inline]] static void transpose(const Row* rows, std::ptrdiff_t from, void* to,
                                               std::ptrdiff_t step) {
    const Words a = load(rows[0], from);
    const Words b = load(rows[1], from);
    const Words c = load(rows[2], from);
    const Words d = load(rows[3], from);
    const Words ac_low = __builtin_shufflevector(a, c, 0, 4, 1, 5);
    const Words ac_high = __builtin_shufflevector(a, c, 2, 6, 3, 7);
    const Words bd_low = __builtin_shufflevector(b, d, 0, 4, 1, 5);
    const Words bd_high = __builtin_shufflevector(b, d, 2, 6, 3, 7);
    auto* place = static_cast<std::byte*>(to);
    store(__builtin_shufflevector(ac_low, bd_low, 0, 4, 1, 5), place);
    store(__builtin_shufflevector(ac_low, bd_low, 2, 6, 3, 7), place + step);
    store(__builtin_shufflevector(ac_high, bd_high, 0, 4, 1, 5), place + 2 * step);
    store(__builtin_shufflevector(ac_high, bd_high, 2, 6, 3, 7), place + 3 * step);
  }

 private:
  typedef std::uint32_t Words __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)

  [[gnu::always_inline]] static Words load(const void* row, std::ptrdiff_t from) {
    Words words;
    std::memcpy(&words, static_cast<const std::byte*>(row) + from, sizeof words);
    return words;
  }
  [[gnu::always_inline]] static void store(Words words, std::byte* to) {
    std::memcpy(to, &words, sizeof words);
  }
};

/// Packs weights of one tile as a Packing with groups of `kGroup` describes: rows[position] holds
/// `depth` weights of a channel, or is null. What no weight goes to stays as it is.
template <class Weight, int kGroup, class Given>
class RowPacker {
 public:
  RowPacker(const Given* const* rows, int channels, int depth, Weight* tile)
      : rows_(rows), channels_(channels), depth_(depth), tile_(tile) {}

  void pack() const {
    const int groups = depth_ / kGroup;
    for (int first = 0; first < groups; first += kNear) {
      const int end = std::min(first + kNear, groups);
      for (int position = 0; position < channels_; position += kFour) {
        pack_four(position, first, end);
      }
    }
    for (int position = 0; position < channels_; ++position) {
      const int rest = rows_[position] != nullptr ? depth_ % kGroup : 0;
      for (int i = 0; i < rest; ++i) {
        place(groups, position)[i] = rows_[position][std::ptrdiff_t{groups} * kGroup + i];
      }
    }
  }

 private:
  static constexpr int kNear = 64;  ///< Groups whose cache lines all channels write in turn.
  static constexpr int kFour = FourByFour::kSide;
  static constexpr std::ptrdiff_t kGroupBytes = kGroup * sizeof(Weight);

  Weight* place(int group, int position) const {
    return tile_ + (std::ptrdiff_t{group} * channels_ + position) * kGroup;
  }

  /// Groups of four positions; their number is a multiple of four.
  void pack_four(int position, int first, int end) const {
    int group = first;
    if constexpr (std::is_same_v<Given, Weight> && kGroupBytes == sizeof(std::uint32_t)) {
      const Given* const* rows = rows_ + position;
      if (std::count(rows, rows + kFour, nullptr) == 0) {
        for (; group + kFour <= end; group += kFour) {
          FourByFour::transpose(rows, group * kGroupBytes, place(group, position),
                                channels_ * kGroupBytes);
        }
      }
    }
    for (int i = position; i < position + kFour; ++i) {
      pack_one(i, group, end);
    }
  }

  void pack_one(int position, int first, int end) const {
    const Given* row = rows_[position];
    for (int group = first; row != nullptr && group < end; ++group) {
      Weight some[kGroup];
      std::copy_n(row + std::ptrdiff_t{group} * kGroup, kGroup, some);
      std::memcpy(place(group, position), some, sizeof some);
    }
  }

  const Given* const* rows_;
  int channels_;
  int depth_;
  Weight* tile_;
};

template <class Weight, int kGroup, class Given>
void pack_rows(const Given* const* rows, int channels, int depth, Weight* tile) {
  RowPacker<Weight, kGroup, Given>(rows, channels, depth, tile).pack();
}

}  // namespace fixedpoint
