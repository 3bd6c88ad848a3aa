#include "fixedpoint/avx2_block.h"
#include "fixedpoint/halved_sum.h"
#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/x86.h"

#include <cstdint>
#include <cstring>
#include <immintrin.h>

#pragma GCC target("avx2")

namespace fixedpoint::avx2 {
namespace {

struct SumNumbers {
  __m256i upper, lower, upper_bias, lower_bias;
  __m128i shift;
};

/// floor((a * ma + b * mb + bias) / 2^shift) of pairs (a, b), all in 32 bits.
__m256i sum_pairs(__m256i pairs, const SumNumbers& n) {
  const __m256i lower = _mm256_add_epi32(_mm256_madd_epi16(pairs, n.lower), n.lower_bias);
  const __m256i upper = _mm256_add_epi32(_mm256_madd_epi16(pairs, n.upper), n.upper_bias);
  return _mm256_sra_epi32(_mm256_add_epi32(upper, _mm256_srai_epi32(lower, HalvedSum::kBits)),
                          n.shift);
}

/// 16 values less a zero point, in halves of a block.
struct Block {
  __m256i halves[2];
};

[[gnu::always_inline]] inline Block widen(__m128i bytes, __m256i zero_point) {
  return {{_mm256_sub_epi32(_mm256_cvtepi8_epi32(bytes), zero_point),
           _mm256_sub_epi32(_mm256_cvtepi8_epi32(_mm_srli_si128(bytes, kHalf)), zero_point)}};
}

/// All rows of up to 16 columns.
template <bool kHasLeft, bool kIsWhole>
void multiply_columns(const Mul& op, const BlockNumbers& n, int columns, const std::int8_t* a,
                      const std::int8_t* b, std::int8_t* out) {
  const __m256i zero_point = _mm256_set1_epi32(op.zero_point_a);
  const Block factors = widen(load_some(b, columns), _mm256_set1_epi32(op.zero_point_b));
  const Bounds bounds = bounds_of(op.requantize.low, op.requantize.high);
  const int count = kIsWhole ? kBlock : columns;
  for (int row = 0; row < op.rows; ++row, a += op.inner, out += op.inner) {
    Block made = widen(load_some(a, count), zero_point);
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      const __m256i products = _mm256_mullo_epi32(made.halves[half], factors.halves[half]);
      made.halves[half] = requantize<kHasLeft>(products, n, half);
    }
    store(out, narrow(made.halves[0], made.halves[1], bounds), count);
  }
}

using MultiplyColumns = decltype(&multiply_columns<false, true>);

/// 128 results in eight times 16, each of which is the difference to the 16 before: those up to an
/// index, added, are the results there.
struct Results {
  __m256i differences[8];

  explicit Results(const std::int8_t* results) {
    __m256i before = _mm256_setzero_si256();
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const __m256i now = _mm256_broadcastsi128_si256(load_bytes(results + 16 * i));
      differences[i] = _mm256_xor_si256(now, before);
      before = now;
    }
  }

  /// Values at 32 indices; 0 if one is negative.
  [[gnu::always_inline]] __m256i look_up(__m256i indices) const {
    const __m256i step = _mm256_set1_epi8(16);
    __m256i found = _mm256_shuffle_epi8(differences[0], indices);
#pragma GCC unroll 7
    for (int i = 1; i < 8; ++i) {
      indices = _mm256_subs_epi8(indices, step);  // Shuffling gives 0 for what is below zero.
      found = _mm256_xor_si256(found, _mm256_shuffle_epi8(differences[i], indices));
    }
    return found;
  }
};

/// One by one.
void look_up_few(const std::int8_t* from_zero, std::int64_t count, const std::int8_t* in,
                 std::int8_t* out) {
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = from_zero[in[i]];
  }
}

}  // namespace

bool add(const Add& op, const std::int8_t* a, const std::int8_t* b, std::int8_t* out) {
  HalvedSum halves;
  if (!halve(op, halves)) {
    return false;
  }
  const SumNumbers n = {_mm256_set1_epi32(halves.upper), _mm256_set1_epi32(halves.lower),
                        _mm256_set1_epi32(halves.upper_bias), _mm256_set1_epi32(halves.lower_bias),
                        _mm_cvtsi32_si128(halves.shift)};
  const Bounds bounds = bounds_of(op.low, op.high);
  for (std::int64_t i = 0; i < op.count; i += kBlock) {
    const int count = static_cast<int>(op.count - i < kBlock ? op.count - i : kBlock);
    const __m256i x = _mm256_cvtepi8_epi16(load_some(a + i, count));
    const __m256i y = _mm256_cvtepi8_epi16(load_some(b + i, count));
    const __m256i first = sum_pairs(_mm256_unpacklo_epi16(x, y), n);
    const __m256i second = sum_pairs(_mm256_unpackhi_epi16(x, y), n);
    const __m256i bytes = narrow_interleaved(first, second, first, second, bounds);
    store(out + i, _mm256_castsi256_si128(bytes), count);
  }
  return true;
}

bool mul(const Mul& op, const std::int8_t* a, const std::int8_t* b, std::int8_t* out) {
  BlockNumbers n = {};
  if (!spread(op.requantize, 255 * 255, n)) {
    return false;
  }
  static constexpr MultiplyColumns kKinds[2][2] = {
      {multiply_columns<false, false>, multiply_columns<false, true>},
      {multiply_columns<true, false>, multiply_columns<true, true>}};
  const auto& kinds = kKinds[has_left(n) ? 1 : 0];
  const std::int64_t image = std::int64_t{op.rows} * op.inner;
  for (int i = 0; i < op.outer; ++i, a += image, b += op.inner, out += image) {
    for (int j = 0; j < op.inner; j += kBlock) {
      const int columns = op.inner - j;
      kinds[columns >= kBlock ? 1 : 0](op, n, columns, a + j, b + j, out + j);
    }
  }
  return true;
}

bool global_pool(const AvgPool2d& op, const std::int8_t* in, std::int8_t* out) {
  const Window& w = op.window;
  BlockNumbers n = {};
  if (!spread(op.requantize, 128LL * w.taps(), n)) {
    return false;
  }
  const Bounds bounds = bounds_of(op.requantize.low, op.requantize.high);
  const int pixels = w.in_height * w.in_width;
  for (int image = 0; image < w.batch; ++image) {
    for (int channel = 0; channel < w.in_channels; channel += kBlock) {
      const int count = w.in_channels - channel;
      __m256i first = _mm256_setzero_si256();
      __m256i second = _mm256_setzero_si256();
      for (int pixel = 0; pixel < pixels; ++pixel) {
        const __m128i x = load_some(in + std::int64_t{pixel} * w.in_channels + channel, count);
        first = _mm256_add_epi32(first, _mm256_cvtepi8_epi32(x));
        second = _mm256_add_epi32(second, _mm256_cvtepi8_epi32(_mm_srli_si128(x, kHalf)));
      }
      store(out + channel,
            narrow(requantize<true>(first, n, 0), requantize<true>(second, n, 1), bounds), count);
    }
    in += std::int64_t{pixels} * w.in_channels;
    out += w.in_channels;
  }
  return true;
}

namespace {

/// Taps of a window along one dimension that lie inside of the input.
struct Taps {
  int first, end;
};

Taps taps_inside(int start, int kernel, int dilation, int size) {
  Taps taps = {0, kernel};
  while (taps.first < taps.end && start + taps.first * dilation < 0) {
    ++taps.first;
  }
  while (taps.end > taps.first && start + (taps.end - 1) * dilation >= size) {
    --taps.end;
  }
  return taps;
}

/// One window of a channel: its first tap, and what lies inside.
struct PoolWindow {
  const std::int8_t* first;
  std::int64_t row_step, column_step;
  int rows, columns;
};

/// 32 channels for each vector.
template <int kVectors>
void pool_vectors(const PoolWindow& window, __m256i low, __m256i high, std::int8_t* out) {
  __m256i most[kVectors];
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    most[v] = low;
  }
  for (int i = 0; i < window.rows; ++i) {
    const std::int8_t* tap = window.first + i * window.row_step;
    for (int j = 0; j < window.columns; ++j, tap += window.column_step) {
      const auto* vectors = reinterpret_cast<const __m256i*>(tap);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        most[v] = _mm256_max_epi8(most[v], _mm256_loadu_si256(vectors + v));
      }
    }
  }
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out) + v, _mm256_min_epi8(most[v], high));
  }
}

/// Up to 16 channels.
__m128i most_of_some(const PoolWindow& window, int count, __m128i most) {
  for (int i = 0; i < window.rows; ++i) {
    const std::int8_t* tap = window.first + i * window.row_step;
    for (int j = 0; j < window.columns; ++j, tap += window.column_step) {
      most = _mm_max_epi8(most, load_some(tap, count));
    }
  }
  return most;
}

void pool_channels(PoolWindow window, const MaxPool2d& op, std::int8_t* out) {
  const __m256i low = _mm256_set1_epi8(static_cast<char>(op.low));
  const __m256i high = _mm256_set1_epi8(static_cast<char>(op.high));
  constexpr int kVector = 2 * kBlock;
  int left = op.window.in_channels;
  for (; left >= 2 * kVector; left -= 2 * kVector, out += 2 * kVector) {
    pool_vectors<2>(window, low, high, out);
    window.first += 2 * kVector;
  }
  for (; left >= kVector; left -= kVector, out += kVector, window.first += kVector) {
    pool_vectors<1>(window, low, high, out);
  }
  for (; left > 0; left -= kBlock, out += kBlock, window.first += kBlock) {
    const __m128i most = most_of_some(window, left, _mm256_castsi256_si128(low));
    store(out, _mm_min_epi8(most, _mm256_castsi256_si128(high)), left);
  }
}

struct BoundaryNumbers {
  __m256 factor, least, most;
  __m256i zero_point;
};

/// Eight values in 32 bits. NaN becomes the least, as maxima give their second operand then.
__m256i quantize_eight(const float* in, const BoundaryNumbers& n) {
  const __m256 x = _mm256_mul_ps(_mm256_loadu_ps(in), n.factor);
  const __m256 inside = _mm256_min_ps(_mm256_max_ps(x, n.least), n.most);
  return _mm256_add_epi32(_mm256_cvtps_epi32(inside), n.zero_point);
}

__m128i quantize_sixteen(const float* in, const BoundaryNumbers& n) {
  const __m256i pairs = _mm256_packs_epi32(quantize_eight(in, n), quantize_eight(in + 8, n));
  const __m256i ordered = _mm256_permute4x64_epi64(pairs, 0xD8);
  return _mm_packs_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1));
}

/// Brings 16 bytes of each of up to four values into the order of pixels, 16 bytes of them at a
/// time: what _mm_shuffle_epi8 takes from each value.
struct PixelOrder {
  alignas(16) std::int8_t from[kMostPixelValues][kMostPixelValues][16];
};

constexpr PixelOrder pixel_order(int values) {
  PixelOrder order{};
  for (int part = 0; part < values; ++part) {
    for (int value = 0; value < values; ++value) {
      for (int i = 0; i < 16; ++i) {
        const int byte = 16 * part + i;
        order.from[part][value][i] =
            static_cast<std::int8_t>(byte % values == value ? byte / values : -1);
      }
    }
  }
  return order;
}

constexpr PixelOrder kPixelOrders[kMostPixelValues] = {pixel_order(1), pixel_order(2),
                                                       pixel_order(3), pixel_order(4)};

/// 16 pixels; `in` has their values `stride` apart.
void quantize_sixteen_pixels(const float* in, int values, std::int64_t stride,
                             const BoundaryNumbers& n, const PixelOrder& order, std::int8_t* out) {
  __m128i bytes[kMostPixelValues];
  for (int value = 0; value < values; ++value) {
    bytes[value] = quantize_sixteen(in + value * stride, n);
  }
  for (int part = 0; part < values; ++part) {
    __m128i made = _mm_shuffle_epi8(bytes[0], load_bytes(order.from[part][0]));
    for (int value = 1; value < values; ++value) {
      made =
          _mm_or_si128(made, _mm_shuffle_epi8(bytes[value], load_bytes(order.from[part][value])));
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 16 * part), made);
  }
}

}  // namespace

void quantize_pixels(const Boundary& op, const float* in, std::int64_t count, std::int64_t values,
                     std::int64_t stride, std::int8_t* out) {
  constexpr std::int64_t kPixels = 16;
  const BoundaryNumbers n = {_mm256_set1_ps(op.factor),
                             _mm256_set1_ps(static_cast<float>(op.low - op.zero_point)),
                             _mm256_set1_ps(static_cast<float>(op.high - op.zero_point)),
                             _mm256_set1_epi32(op.zero_point)};
  const auto some_values = static_cast<int>(values);
  const PixelOrder& order = kPixelOrders[values - 1];
  std::int64_t i = 0;
  for (; i + kPixels <= count; i += kPixels) {
    quantize_sixteen_pixels(in + i, some_values, stride, n, order, out + i * values);
  }
  if (i == count) {
    return;
  }
  float rest[kMostPixelValues * kPixels] = {};
  std::int8_t made[kMostPixelValues * kPixels];
  for (std::int64_t value = 0; value < values; ++value) {
    std::memcpy(rest + value * kPixels, in + value * stride + i, (count - i) * sizeof(float));
  }
  quantize_sixteen_pixels(rest, some_values, kPixels, n, order, made);
  std::memcpy(out + i * values, made, (count - i) * values);
}

void max_pool(const MaxPool2d& op, const std::int8_t* in, std::int8_t* out) {
  const Window& w = op.window;
  const std::int64_t row_bytes = std::int64_t{w.in_width} * w.in_channels;
  for (int image = 0; image < w.batch; ++image, in += w.in_height * row_bytes) {
    for (int row = 0; row < w.out_height; ++row) {
      const int top = row * w.stride_height - w.pad_top;
      const Taps rows = taps_inside(top, w.kernel_height, w.dilation_height, w.in_height);
      for (int column = 0; column < w.out_width; ++column, out += w.in_channels) {
        const int left = column * w.stride_width - w.pad_left;
        const Taps columns = taps_inside(left, w.kernel_width, w.dilation_width, w.in_width);
        const std::int64_t y = top + rows.first * w.dilation_height;
        const std::int64_t x = left + columns.first * w.dilation_width;
        pool_channels({.first = in + y * row_bytes + x * w.in_channels,
                       .row_step = w.dilation_height * row_bytes,
                       .column_step = std::int64_t{w.dilation_width} * w.in_channels,
                       .rows = rows.end - rows.first,
                       .columns = columns.end - columns.first},
                      op, out);
      }
    }
  }
}

void table(const std::int8_t* results, std::int64_t count, const std::int8_t* in,
           std::int8_t* out) {
  constexpr std::int64_t kFew = 128;  // Two tables take longer to make than these to look up.
  constexpr int kBytes = 32;
  std::int64_t i = 0;
  if (count >= kFew) {
    const Results negative(results);
    const Results positive(results + 128);
    const __m256i sign = _mm256_set1_epi8(-128);
    for (; i + kBytes <= count; i += kBytes) {
      const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i));
      const __m256i found =
          _mm256_or_si256(positive.look_up(x), negative.look_up(_mm256_xor_si256(x, sign)));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), found);
    }
  }
  look_up_few(results + 128, count - i, in + i, out + i);
}

}  // namespace fixedpoint::avx2
