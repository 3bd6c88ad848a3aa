#pragma once

#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"

#include <cstddef>
#include <cstdint>
#include <memory>

/// Dense 3x3 windows that slide by one pixel as Winograd's F(2x2, 3x3) and F(4x4, 3x3) in integers:
/// four results of a channel by 16 products instead of 36, or 16 results by 36 instead of 144.
///
/// With g the weights and d the pixels that the windows of a tile read,
///
///     U = H g H^T, V = B^T d B, M = the sum over channels of U * V, c Y = C^T M C
///
/// where B is the usual matrix, and H and C are the usual G and A with a factor for each row, so
/// that both hold integers:
///
///     F(2x2)  H = 2 G, C = A, c = 2^2
///     F(4x4)  H = diag(12, 6, 6, 24, 24, 3) G, C = diag(2, 4, 4, 1, 1, 8) A, c = 24^2
///
/// For d and g in [-128, 127] the sums of magnitudes in a row of B^T and of H bound |V| by
/// 2^2 * 128 and 10^2 * 128, |U| by 3^2 * 128 and 7^2 * 128: all fit 16 bits, and two of their
/// products fit 32.
///
/// The identity holds for integers, hence also modulo 2^32, however often M or a sum of it wraps
/// around: what is computed is c Y modulo 2^32. 24^2 is 9 * 2^6, and 9 has an inverse modulo 2^32;
/// times that, it is 2^k Y modulo 2^32 with k = 2 or 6. It is 2^k Y itself, and its arithmetic
/// shift by k is Y, where |Y| < 2^(31 - k). `make_winograd_conv` proves that from the weights:
/// 128 * sum |g| < 2^(31 - k).
namespace fixedpoint {

/// Pixels on a side of a tile of results; of its input there are two more.
enum class WinogradStep : std::uint8_t { kTwo = 2, kFour = 4 };

/// Sizes of tiles.
template <WinogradStep step>
struct WinogradSizes {
  static constexpr int kResults = static_cast<int>(step);
  static constexpr int kSide = kResults + 2;
  static constexpr int kPlaces = kSide * kSide;
};
constexpr int kMostWinogradSide = WinogradSizes<WinogradStep::kFour>::kSide;

/// Fewer channels than this do not fill a vector.
constexpr int kLeastWinogradChannels = 32;

/// Where results of a tile go.
struct WinogradResults {
  std::int8_t* out;
  std::ptrdiff_t row_step;
  std::ptrdiff_t column_step;
  /// Numbers of them that are inside of the image, at least one each.
  int rows;
  int columns;
};

/// How one instruction set transforms tiles of one size.
struct WinogradUnit {
  WinogradStep step;
  /// Its sums are M.
  const GemmUnit16* gemm;
  /// V of one tile: each of its `rows` begins with as many pixels of `channels` each. Place `i` of
  /// a channel goes to out[i * place_step + channel].
  void (*transform)(const std::int8_t* const* rows, int channels, std::int16_t* out,
                    std::ptrdiff_t place_step);
  /// The results of one tile and up to `gemm->packing.channels` channels; place `i` of a channel
  /// is sums[i * place_step + channel].
  void (*finish)(const std::int32_t* sums, std::ptrdiff_t place_step, const TileNumbers& numbers,
                 int channels, const WinogradResults& results);

  int results() const { return static_cast<int>(step); }
  int side() const { return results() + 2; }
  int places() const { return side() * side(); }
};

/// Where tiles of results are faster than windows one by one, as measured layer by layer (bench/).
struct WinogradRule {
  /// Null: never.
  const WinogradUnit* two;
  const WinogradUnit* four;
  /// Times as many multiplications as tiles need, those outside of the image included, that the
  /// windows must need.
  double least_gain_of_two;
  double least_gain_of_four;
  /// Tiles that share what their weights cost to read.
  int least_twos;
  int least_fours;
};

/// The unit for the windows; null: none is faster.
const WinogradUnit* choose_winograd(const Window& window, const WinogradRule& rule);

/// True if the windows are of the kind.
bool is_winograd(const Window& window);

/// The convolution; null if its windows are of another kind or its numbers do not fit. The unit
/// and the table stay valid longer.
std::unique_ptr<ConvKernel> make_winograd_conv(const Conv2d& conv, const WinogradUnit& unit,
                                               TableFunction table);

/// By the unit that the rule chooses, or the smaller one where sums are too large for it; null
/// where neither fits or is faster.
std::unique_ptr<ConvKernel> make_winograd_conv(const Conv2d& conv, const WinogradRule& rule,
                                               TableFunction table);

}  // namespace fixedpoint
