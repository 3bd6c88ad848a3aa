#pragma once

#include "fixedpoint/operations.h"

#include <array>
#include <cstdint>

namespace fixedpoint {

/// Calls visit(position) with the position of each element of the first `rank` dimensions of a
/// strided read, in its order.
template <class Visit>
void for_each_position(const Copy& read, int rank, Visit visit) {
  std::array<std::int64_t, kMaxRank> at = {};
  std::int64_t position = read.offset;
  while (true) {
    visit(position);
    int dim = rank - 1;
    for (; dim >= 0; --dim) {
      position += read.strides[dim];
      if (++at[dim] < read.dims[dim]) {
        break;
      }
      position -= read.dims[dim] * read.strides[dim];
      at[dim] = 0;
    }
    if (dim < 0) {
      return;
    }
  }
}

template <class Visit>
void for_each_position(const Copy& read, Visit visit) {
  for_each_position(read, read.rank, visit);
}

}  // namespace fixedpoint
