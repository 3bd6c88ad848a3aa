#include "fixedpoint/masked_softmax.h"

#include "fixedpoint/operations.h"
#include "fixedpoint/strided_reads.h"
#include "fixedpoint/transformer.h"
#include "fixedpoint/transformer16.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace fixedpoint {
namespace {

std::int64_t exponential_of(const Softmax& op, std::int8_t /*type*/, int distance) {
  return op.exponentials[distance];
}
std::int64_t exponential_of(const Softmax& op, std::int16_t /*type*/, int distance) {
  return exponential16(op.exponentials, distance);
}

std::int8_t requantize(const Requantize& op, std::int8_t /*type*/, std::int64_t probability) {
  return op(probability);
}
std::int16_t requantize(const Requantize& op, std::int16_t /*type*/, std::int64_t probability) {
  return requantize_wide(op, probability);
}

/// A row and its mask, whose bytes lie `stride` apart.
template <class T>
void masked_row(const MaskedSoftmax& op, const T* in, const std::uint8_t* mask, T* out) {
  const Softmax& s = op.softmax;
  const std::int64_t stride = op.mask_stride();
  constexpr int kNone = std::numeric_limits<int>::min();
  int most = kNone;
  for (std::int64_t i = 0; i < s.columns; ++i) {
    most = op.keeps(mask[i * stride]) ? std::max<int>(most, in[i]) : most;
  }
  if (most == kNone) {
    std::fill_n(out, s.columns, requantize(s.requantize, T{}, empty_probability(op)));
    return;
  }
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < s.columns; ++i) {
    sum += op.keeps(mask[i * stride]) ? exponential_of(s, T{}, most - in[i]) : 0;
  }
  const std::int64_t reciprocal = (std::int64_t{1} << kReciprocalBits) / sum;
  for (std::int64_t i = 0; i < s.columns; ++i) {
    const std::int64_t e =
        op.keeps(mask[i * stride]) ? exponential_of(s, T{}, most - in[i]) : std::int64_t{0};
    out[i] = requantize(s.requantize, T{}, (e * reciprocal) >> (kReciprocalBits - kSoftmaxBits));
  }
}

template <class T>
void masked_rows(const MaskedSoftmax& op, const T* in, const std::uint8_t* mask, T* out) {
  for_each_position(op.mask, op.mask.rank - 1, [&](std::int64_t position) {
    masked_row(op, in, mask + position, out);
    in += op.softmax.columns;
    out += op.softmax.columns;
  });
}

}  // namespace

std::int64_t empty_probability(const MaskedSoftmax& op) {
  if (!op.is_equal_where_empty) {
    return 0;
  }
  const std::int64_t sum = op.softmax.columns << kSoftmaxBits;
  const std::int64_t reciprocal = (std::int64_t{1} << kReciprocalBits) / sum;
  return (reciprocal << kSoftmaxBits) >> (kReciprocalBits - kSoftmaxBits);
}

void masked_softmax(const MaskedSoftmax& op, const std::int8_t* in, const std::uint8_t* mask,
                    std::int8_t* out) {
  masked_rows(op, in, mask, out);
}

void masked_softmax(const MaskedSoftmax& op, const std::int16_t* in, const std::uint8_t* mask,
                    std::int16_t* out) {
  masked_rows(op, in, mask, out);
}

}  // namespace fixedpoint
