#pragma once

#include "fixedpoint/packed_conv.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fixedpoint {

/// Packs weights of one tile as a Packing with groups of `kGroup` describes: rows[position] holds
/// `depth` weights of a channel, or is null. What no weight goes to stays as it is.
template <class Weight, int kGroup, class Given>
void pack_rows(const Given* const* rows, int channels, int depth, Weight* tile) {
  constexpr int kNear = 64;  // Groups whose cache lines are written by all channels in turn.
  const int groups = depth / kGroup;
  const auto place = [=](int group, int position) {
    return tile + (std::ptrdiff_t{group} * channels + position) * kGroup;
  };
  for (int first = 0; first < groups; first += kNear) {
    const int end = std::min(first + kNear, groups);
    for (int position = 0; position < channels; ++position) {
      const Given* row = rows[position];
      for (int group = first; row != nullptr && group < end; ++group) {
        Weight some[kGroup];
        std::copy_n(row + std::ptrdiff_t{group} * kGroup, kGroup, some);
        std::memcpy(place(group, position), some, sizeof some);
      }
    }
  }
  for (int position = 0; position < channels; ++position) {
    const int rest = rows[position] != nullptr ? depth % kGroup : 0;
    for (int i = 0; i < rest; ++i) {
      place(groups, position)[i] = rows[position][std::ptrdiff_t{groups} * kGroup + i];
    }
  }
}

}  // namespace fixedpoint
