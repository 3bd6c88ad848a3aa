#pragma once

#include "fixedpoint/operations.h"
#include "fixedpoint/transformer.h"

#include <cstdint>

namespace fixedpoint {

/// Softmax of what a mask leaves of each row: all other places have a weight of zero.
struct MaskedSoftmax {
  Softmax softmax;
  /// How a byte of the mask is read for each place; the last dimension is the row.
  Copy mask;
  /// Which bytes mask a place: all but 0, or 0 alone.
  bool masks_nonzero = true;
  /// True if a row of which nothing is left has equal weights; all are zero otherwise.
  bool is_equal_where_empty = false;

  bool keeps(std::uint8_t byte) const { return (byte != 0) != masks_nonzero; }
  std::int64_t mask_stride() const { return mask.strides[mask.rank - 1]; }
};

void masked_softmax(const MaskedSoftmax& op, const std::int8_t* in, const std::uint8_t* mask,
                    std::int8_t* out);
void masked_softmax(const MaskedSoftmax& op, const std::int16_t* in, const std::uint8_t* mask,
                    std::int16_t* out);

/// The probability of each place of a row of which nothing is left, in kSoftmaxBits of fraction.
std::int64_t empty_probability(const MaskedSoftmax& op);

}  // namespace fixedpoint
