#pragma once

#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace fixedpoint {

/// Channels whose requantization parameters are neighbors.
constexpr int kBlock = 16;

/// Requantization of 16 channels as vector units take it.
///
/// With P = (sum << left) * multiplier + bias, the result is the upper half of P, shifted right by
/// `right`: the definition's integer, whose shift is 32 - left + right. Odd channels lie apart, for
/// 32-bit products in 64-bit lanes; every second `odd_multiplier` is one.
struct alignas(64) BlockNumbers {
  /// Where accumulators start: what the offset of activations adds is taken out.
  std::int32_t start[kBlock];
  std::int32_t left[kBlock];
  std::int32_t multiplier[kBlock];
  std::int32_t odd_multiplier[kBlock];
  std::int64_t even_bias[kBlock / 2];
  std::int64_t odd_bias[kBlock / 2];
  std::int32_t right[kBlock];
};

/// One multiplier, shift and bias for all lanes; false when they do not fit sums of up to
/// `largest`.
bool spread(const Requantize& requantize, std::int64_t largest, BlockNumbers& block);

/// Numbers that finish a tile: a BlockNumbers for every 16 of its channels, and the bounds of
/// results.
struct TileNumbers {
  const BlockNumbers* blocks = nullptr;
  int low = -128;
  int high = 127;
};

/// Where weights of a tile lie: ((depth / group) * channels + position) * group + depth % group,
/// as int8 or int16; `channel_of` tells which channel a position holds in a tile of so many.
struct Packing {
  int channels;
  int group;
  int weight_bytes;
  /// Added to activations when they are read.
  int activation_offset;
  int (*channel_of)(int position, int channels);
  /// Where the tap of a channel by itself lies in `depth`; null: as in the blob, row by row.
  int (*tap_of)(int tap) = nullptr;
};

/// Channel of a position in packings whose positions are channels in order.
inline int same_channel(int position, int /*channels*/) { return position; }

/// How one instruction set multiplies matrices of activations of type T.
template <class T>
struct TypedGemmUnit {
  Packing packing;
  /// Rows of one tile.
  int rows;
  /// Bytes of an activation in a packed row.
  int element_bytes;
  /// Packs `count` activations.
  void (*pack)(const T* in, int count, std::byte* packed);
  /// One tile: rows of `a` are `a_stride` bytes apart, `b` holds `groups` groups of depths; writes
  /// `channels` values to each of `rows` rows, `out_stride` values apart.
  void (*multiply)(const std::byte* a, std::ptrdiff_t a_stride, int rows, const std::byte* b,
                   int groups, const TileNumbers& numbers, T* out, std::ptrdiff_t out_stride,
                   int channels);
  /// The sums of one tile alone, (rows, packing.channels), from 0 on. Of activations of 16 bits,
  /// whose sums may have to be added up in parts.
  void (*sum_up)(const std::byte* a, std::ptrdiff_t a_stride, int rows, const std::byte* b,
                 int groups, std::int32_t* sums) = nullptr;
};
/// `sum_up` for one number of rows.
using SumUpRows = void (*)(const std::byte* a, std::ptrdiff_t a_stride, const std::byte* b,
                           int groups, std::int32_t* sums);
/// Packs activations of 16 bits, which the units multiply as they are.
void copy_values(const std::int16_t* in, int count, std::byte* packed);
/// Products of 2^15 and 2^7 at most, of which so many stay below 2^31.
constexpr int kMostDepth16 = 512;
constexpr int kMostTileSums = 512;  ///< rows * channels of a unit of 16 bits.
using GemmUnit = TypedGemmUnit<std::int8_t>;
using GemmUnit16 = TypedGemmUnit<std::int16_t>;

/// A row of output pixels under windows of 3x3 or 5x5 and the input that they read. What lies
/// outside of the input is read from `padding`, as many values as channels.
template <class T>
struct TypedDepthwiseRow {
  /// The first pixel of each input row; `padding` for rows outside.
  const T* rows[5];
  /// From one pixel to the next in values: 0 for rows outside.
  std::ptrdiff_t steps[5];
  const T* padding;
  int in_width;
  /// The column of the first window's left taps, negative where the input begins later.
  int first_column;
  int out_width;
};
using DepthwiseRow = TypedDepthwiseRow<std::int8_t>;

/// Walks over the columns of such a row from the left: where the taps of each are, one above the
/// other. Its pointers are variables of its own, which no store can be taken to change.
template <int kSize, class T>
class ColumnWalk {
 public:
  [[gnu::always_inline]] ColumnWalk(const TypedDepthwiseRow<T>& row, int column, int channel)
      : padding_(row.padding + channel), in_width_(row.in_width), column_(column) {
#pragma GCC unroll 5
    for (int i = 0; i < kSize; ++i) {
      first_[i] = row.rows[i] + channel;
      steps_[i] = row.steps[i];
      taps_[i] = is_inside() ? first_[i] + column * steps_[i] : padding_;
    }
  }
  [[gnu::always_inline]] const T* tap(int i) const { return taps_[i]; }
  [[gnu::always_inline]] void next() {
    ++column_;
    if (column_ > 0 && column_ < in_width_) {
#pragma GCC unroll 5
      for (int i = 0; i < kSize; ++i) {
        taps_[i] += steps_[i];
      }
    } else {
#pragma GCC unroll 5
      for (int i = 0; i < kSize; ++i) {
        taps_[i] = is_inside() ? first_[i] : padding_;  // Inside there is column 0 alone.
      }
    }
  }

 private:
  [[gnu::always_inline]] bool is_inside() const { return column_ >= 0 && column_ < in_width_; }

  const T* padding_;
  const T* first_[kSize];
  const T* taps_[kSize];
  std::ptrdiff_t steps_[kSize];
  int in_width_;
  int column_;
};

/// How one instruction set convolves rows of windows of one size that slide by one or by two
/// pixels.
template <class T>
struct TypedSlidingUnit {
  Packing packing;
  /// Null: it has nothing for them.
  void (*convolve)(const TypedDepthwiseRow<T>& row, int stride, const std::byte* weights,
                   const TileNumbers& numbers, int channels, T* out) = nullptr;
};

/// How one instruction set convolves each channel by itself.
template <class T>
struct TypedDepthwiseUnit {
  Packing packing;
  /// One output pixel of all `channels`: `taps` are `groups * group` pixels of the input.
  void (*convolve)(const T* const* taps, int groups, const std::byte* weights,
                   const TileNumbers& numbers, int channels, T* out);
  TypedSlidingUnit<T> rows_of_3 = {};  ///< For 3x3 windows, faster.
  TypedSlidingUnit<T> rows_of_5 = {};  ///< For 5x5 windows.
};
using DepthwiseUnit = TypedDepthwiseUnit<std::int8_t>;
using DepthwiseUnit16 = TypedDepthwiseUnit<std::int16_t>;

using TableFunction = void (*)(const std::int8_t* results, std::int64_t count,
                               const std::int8_t* in, std::int8_t* out);

/// A convolution of one group as products of packed matrices, or of as many groups as channels;
/// null for other groups, or when its numbers do not fit BlockNumbers.
std::unique_ptr<ConvKernel> make_packed_conv(const Conv2d& conv, const GemmUnit& gemm,
                                             const DepthwiseUnit& depthwise, TableFunction table);

/// Makes the packed kernel; windows that it does not take go to the definitions.
std::unique_ptr<ConvKernel> packed_or_scalar(const Conv2d& conv, const GemmUnit& gemm,
                                             const DepthwiseUnit& depthwise, TableFunction table);

/// Makes the kernel on activations of 16 bits; sums of one group may need more than 32 bits.
std::unique_ptr<TypedConvKernel<std::int16_t>> packed_or_scalar16(const Conv2d& conv,
                                                                  const GemmUnit16& gemm,
                                                                  const DepthwiseUnit16& depthwise);

}  // namespace fixedpoint
