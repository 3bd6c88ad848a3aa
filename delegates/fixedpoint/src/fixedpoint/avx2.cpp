#include "fixedpoint/halved_sum.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/x86.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <immintrin.h>

#pragma GCC target("avx2")

namespace fixedpoint::avx2 {
namespace {

constexpr int kRows = 6;
constexpr int kGroup = 2;
constexpr int kHalf = kBlock / 2;

__m256i load(const void* at) { return _mm256_load_si256(static_cast<const __m256i*>(at)); }
__m128i load_bytes(const void* at) { return _mm_loadu_si128(static_cast<const __m128i*>(at)); }

/// Eight results in 32 bits, before the clamp: half 0 or 1 of a block. See BlockNumbers.
__m256i requantize(__m256i sums, const BlockNumbers& n, int half) {
  const __m256i x = _mm256_sllv_epi32(sums, load(n.left + kHalf * half));
  const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(x, load(n.multiplier + kHalf * half)),
                                        load(n.even_bias + kHalf / 2 * half));
  const __m256i odd = _mm256_add_epi64(
      _mm256_mul_epi32(_mm256_srli_epi64(x, 32), load(n.odd_multiplier + kHalf * half)),
      load(n.odd_bias + kHalf / 2 * half));
  const __m256i upper = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
  return _mm256_srav_epi32(upper, load(n.right + kHalf * half));
}

/// 16 clamped bytes in order.
__m128i narrow(__m256i first, __m256i second, int low, int high) {
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(first, second), 0xD8);
  const __m128i bytes =
      _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  return _mm_min_epi8(_mm_max_epi8(bytes, _mm_set1_epi8(static_cast<char>(low))),
                      _mm_set1_epi8(static_cast<char>(high)));
}

void store(std::int8_t* out, __m128i bytes, int count) {
  if (count >= kBlock) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
    return;
  }
  if (count == kHalf) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out), bytes);
    return;
  }
  alignas(16) std::int8_t all[kBlock];
  _mm_store_si128(reinterpret_cast<__m128i*>(all), bytes);
  std::memcpy(out, all, count);
}

__m128i load_some(const std::int8_t* in, int count) {
  if (count >= kBlock) {
    return load_bytes(in);
  }
  if (count == kHalf) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(in));
  }
  alignas(16) std::int8_t all[kBlock] = {};
  std::memcpy(all, in, count);
  return load_bytes(all);
}

void pack(const std::int8_t* in, int count, std::byte* packed) {
  auto* words = reinterpret_cast<std::int16_t*>(packed);
  int i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(words + i),
                        _mm256_cvtepi8_epi16(load_bytes(in + i)));
  }
  for (; i < count; ++i) {
    words[i] = in[i];
  }
}

/// The sums of a tile's rows, one member each: an array of them would live in memory.
template <int kCount>
struct Rows {
  __m256i first, second;
  Rows<kCount - 1> rest;

  [[gnu::always_inline]] void start() {
    first = second = _mm256_setzero_si256();
    rest.start();
  }
  [[gnu::always_inline]] void add(const std::byte* a, std::ptrdiff_t stride, __m256i first_weights,
                                  __m256i second_weights) {
    std::int32_t values = 0;
    std::memcpy(&values, a, sizeof values);
    const __m256i x = _mm256_set1_epi32(values);
    first = _mm256_add_epi32(first, _mm256_madd_epi16(x, first_weights));
    second = _mm256_add_epi32(second, _mm256_madd_epi16(x, second_weights));
    rest.add(a + stride, stride, first_weights, second_weights);
  }
  [[gnu::always_inline]] void finish(const TileNumbers& numbers, std::int8_t* out,
                                     std::ptrdiff_t stride, int channels) {
    const BlockNumbers& n = *numbers.blocks;
    store(out, narrow(requantize(first, n, 0), requantize(second, n, 1), numbers.low, numbers.high),
          channels);
    rest.finish(numbers, out + stride, stride, channels);
  }
};

template <>
struct Rows<0> {
  void start() {}
  void add(const std::byte* /*a*/, std::ptrdiff_t /*stride*/, __m256i /*first*/,
           __m256i /*second*/) {}
  void finish(const TileNumbers& /*numbers*/, std::int8_t* /*out*/, std::ptrdiff_t /*stride*/,
              int /*channels*/) {}
};

template <int kCount>
void multiply_rows(const std::byte* a, std::ptrdiff_t a_stride, const std::byte* b, int groups,
                   const TileNumbers& numbers, std::int8_t* out, std::ptrdiff_t out_stride,
                   int channels) {
  Rows<kCount> rows;
  rows.start();
  for (int group = 0; group < groups; ++group) {
    rows.add(a + group * 4, a_stride, load(b), load(b + 32));
    b += 64;
  }
  rows.finish(numbers, out, out_stride, channels);
}

using Multiply = void (*)(const std::byte*, std::ptrdiff_t, const std::byte*, int,
                          const TileNumbers&, std::int8_t*, std::ptrdiff_t, int);

void multiply(const std::byte* a, std::ptrdiff_t a_stride, int rows, const std::byte* b, int groups,
              const TileNumbers& numbers, std::int8_t* out, std::ptrdiff_t out_stride,
              int channels) {
  static constexpr Multiply kByRows[kRows + 1] = {
      nullptr,          multiply_rows<1>, multiply_rows<2>, multiply_rows<3>,
      multiply_rows<4>, multiply_rows<5>, multiply_rows<6>};
  kByRows[rows](a, a_stride, b, groups, numbers, out, out_stride, channels);
}

int same_channel(int position) { return position; }

void convolve(const std::int8_t* const* taps, int groups, const std::byte* weights,
              const TileNumbers& numbers, int channels, std::int8_t* out) {
  const BlockNumbers* block = numbers.blocks;
  for (int channel = 0; channel < channels; channel += kBlock, ++block) {
    const int count = channels - channel;
    __m256i first = _mm256_setzero_si256();
    __m256i second = _mm256_setzero_si256();
    for (int group = 0; group < groups; ++group, weights += 64) {
      const __m128i t0 = load_some(taps[group * kGroup] + channel, count);
      const __m128i t1 = load_some(taps[group * kGroup + 1] + channel, count);
      const __m256i low = _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(t0, t1));
      const __m256i high = _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(t0, t1));
      first = _mm256_add_epi32(first, _mm256_madd_epi16(low, load(weights)));
      second = _mm256_add_epi32(second, _mm256_madd_epi16(high, load(weights + 32)));
    }
    store(out + channel,
          narrow(requantize(first, *block, 0), requantize(second, *block, 1), numbers.low,
                 numbers.high),
          count);
  }
}

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

__m256i product(__m128i x, __m128i y, __m256i zero_x, __m256i zero_y) {
  return _mm256_mullo_epi32(_mm256_sub_epi32(_mm256_cvtepi8_epi32(x), zero_x),
                            _mm256_sub_epi32(_mm256_cvtepi8_epi32(y), zero_y));
}

}  // namespace

const GemmUnit kGemm = {.packing = {.channels = kBlock,
                                    .group = kGroup,
                                    .weight_bytes = 2,
                                    .activation_offset = 0,
                                    .channel_of = same_channel},
                        .rows = kRows,
                        .element_bytes = 2,
                        .pack = pack,
                        .multiply = multiply};

const DepthwiseUnit kDepthwise = {.packing = {.channels = kBlock,
                                              .group = kGroup,
                                              .weight_bytes = 2,
                                              .activation_offset = 0,
                                              .channel_of = same_channel},
                                  .convolve = convolve};

bool is_supported() { return __builtin_cpu_supports("avx2"); }

bool add(const Add& op, const std::int8_t* a, const std::int8_t* b, std::int8_t* out) {
  HalvedSum halves;
  if (!halve(op, halves)) {
    return false;
  }
  const SumNumbers n = {_mm256_set1_epi32(halves.upper), _mm256_set1_epi32(halves.lower),
                        _mm256_set1_epi32(halves.upper_bias), _mm256_set1_epi32(halves.lower_bias),
                        _mm_cvtsi32_si128(halves.shift)};
  for (std::int64_t i = 0; i < op.count; i += kBlock) {
    const int count = static_cast<int>(op.count - i < kBlock ? op.count - i : kBlock);
    const __m256i x = _mm256_cvtepi8_epi16(load_some(a + i, count));
    const __m256i y = _mm256_cvtepi8_epi16(load_some(b + i, count));
    // Interleaving and packing both stay within 128 bits, so the order comes back.
    const __m256i first = sum_pairs(_mm256_unpacklo_epi16(x, y), n);
    const __m256i second = sum_pairs(_mm256_unpackhi_epi16(x, y), n);
    const __m256i words = _mm256_packs_epi32(first, second);
    const __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    store(out + i,
          _mm_min_epi8(_mm_max_epi8(bytes, _mm_set1_epi8(static_cast<char>(op.low))),
                       _mm_set1_epi8(static_cast<char>(op.high))),
          count);
  }
  return true;
}

bool mul(const Mul& op, const std::int8_t* a, const std::int8_t* b, std::int8_t* out) {
  BlockNumbers n = {};
  if (!spread(op.requantize, 255 * 255, n)) {
    return false;
  }
  const __m256i zero_a = _mm256_set1_epi32(op.zero_point_a);
  const __m256i zero_b = _mm256_set1_epi32(op.zero_point_b);
  for (int i = 0; i < op.outer; ++i, b += op.inner) {
    for (int row = 0; row < op.rows; ++row, a += op.inner, out += op.inner) {
      for (int j = 0; j < op.inner; j += kBlock) {
        const int count = op.inner - j;
        const __m128i x = load_some(a + j, count);
        const __m128i y = load_some(b + j, count);
        const __m256i first = requantize(product(x, y, zero_a, zero_b), n, 0);
        const __m256i second = requantize(
            product(_mm_srli_si128(x, kHalf), _mm_srli_si128(y, kHalf), zero_a, zero_b), n, 1);
        store(out + j, narrow(first, second, op.requantize.low, op.requantize.high), count);
      }
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
            narrow(requantize(first, n, 0), requantize(second, n, 1), op.requantize.low,
                   op.requantize.high),
            count);
    }
    in += std::int64_t{pixels} * w.in_channels;
    out += w.in_channels;
  }
  return true;
}

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

/// 32 channels.
__m256i most_of(const PoolWindow& window, __m256i most) {
  for (int i = 0; i < window.rows; ++i) {
    const std::int8_t* tap = window.first + i * window.row_step;
    for (int j = 0; j < window.columns; ++j, tap += window.column_step) {
      most = _mm256_max_epi8(most, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(tap)));
    }
  }
  return most;
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
  int left = op.window.in_channels;
  for (; left >= 2 * kBlock; left -= 2 * kBlock, out += 2 * kBlock, window.first += 2 * kBlock) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                        _mm256_min_epi8(most_of(window, low), high));
  }
  for (; left > 0; left -= kBlock, out += kBlock, window.first += kBlock) {
    const __m128i most = most_of_some(window, left, _mm256_castsi256_si128(low));
    store(out, _mm_min_epi8(most, _mm256_castsi256_si128(high)), left);
  }
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
  const std::int8_t* from_zero = results + 128;
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    std::int8_t made[8];
    for (int j = 0; j < 8; ++j) {
      made[j] = from_zero[in[i + j]];
    }
    std::memcpy(out + i, made, sizeof made);
  }
  for (; i < count; ++i) {
    out[i] = from_zero[in[i]];
  }
}

}  // namespace fixedpoint::avx2
