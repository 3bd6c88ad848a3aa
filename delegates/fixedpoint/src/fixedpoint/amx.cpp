#include "fixedpoint/avx512_block.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/tile_conv.h"
#include "fixedpoint/x86.h"

#include <cstddef>
#include <cstdint>
#include <immintrin.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#pragma GCC target("amx-tile,amx-int8,avx512f,avx512bw,avx512vl,avx512dq")

namespace fixedpoint::amx {
namespace {

constexpr int kTileRows = 16;
constexpr int kTileBytes = 64;
constexpr int kGroup = 4;
constexpr int kChannels = 2 * kBlock;
constexpr std::ptrdiff_t kSumStride = kChannels * sizeof(std::int32_t);
constexpr std::ptrdiff_t kGroupBytes = kChannels * kGroup;

/// Operand of ldtilecfg.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};

/// Tiles 0 to 3 are sums, two rows of two; 4 and 5 hold activations, 6 and 7 weights.
void enter(int step_bytes) {
  TileConfig config;
  for (int tile = 0; tile < 8; ++tile) {
    config.row_bytes[tile] = kTileBytes;
    config.rows[tile] = kTileRows;
  }
  config.row_bytes[4] = config.row_bytes[5] = static_cast<std::uint16_t>(step_bytes);
  config.rows[6] = config.rows[7] = static_cast<std::uint8_t>(step_bytes / kGroup);
  // The intrinsic of GCC 12 names the first word alone as what it reads.
  asm volatile("" : : "r"(&config) : "memory");
  _tile_loadconfig(&config);
}

void leave() { _tile_release(); }

/// One or two tiles of rows, one or two of channels.
template <int kRowTiles, int kColumnTiles>
void multiply_tiles(const TileRows& a, const TileSteps& steps, const TileWeights& weights) {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  const std::ptrdiff_t weight_bytes = std::ptrdiff_t{steps.bytes} * kChannels;
  const std::byte* b = weights.data;
  for (int step = 0; step < steps.count; ++step, b += weight_bytes) {
    const std::byte* rows = a.data + steps.offsets[step];
    _tile_loadd(6, b, kGroupBytes);
    _tile_loadd(4, rows, a.stride);
    _tile_dpbssd(0, 4, 6);
    if constexpr (kColumnTiles > 1) {
      _tile_loadd(7, b + kTileBytes, kGroupBytes);
      _tile_dpbssd(1, 4, 7);
    }
    if constexpr (kRowTiles > 1) {
      _tile_loadd(5, rows + kTileRows * a.stride, a.stride);
      _tile_dpbssd(2, 5, 6);
    }
    if constexpr (kRowTiles > 1 && kColumnTiles > 1) {
      _tile_dpbssd(3, 5, 7);
    }
  }
}

void store(int rows, int channels, std::int32_t* sums) {
  const bool has_more_rows = rows > kTileRows;
  _tile_stored(0, sums, kSumStride);
  if (has_more_rows) {
    _tile_stored(2, sums + kTileRows * kChannels, kSumStride);
  }
  if (channels > kBlock) {
    _tile_stored(1, sums + kBlock, kSumStride);
    if (has_more_rows) {
      _tile_stored(3, sums + kTileRows * kChannels + kBlock, kSumStride);
    }
  }
}

void multiply(const TileRows& a, const TileSteps& steps, const TileWeights& b) {
  static constexpr decltype(&multiply_tiles<1, 1>) kByTiles[2][2] = {
      {multiply_tiles<1, 1>, multiply_tiles<1, 2>}, {multiply_tiles<2, 1>, multiply_tiles<2, 2>}};
  const int has_more_rows = a.count > kTileRows ? 1 : 0;
  const int has_more_channels = b.channels > kBlock ? 1 : 0;
  kByTiles[has_more_rows][has_more_channels](a, steps, b);
}

/// 16 results of a row.
template <bool kHasLeft>
[[gnu::always_inline]] inline __m512i results_of(const std::int32_t* sums,
                                                 const avx512::Numbers& numbers) {
  return avx512::requantize<kHasLeft>(_mm512_load_si512(sums), numbers);
}

/// Up to 16 channels, four rows at a time.
template <bool kHasLeft>
void finish_narrow(const std::int32_t* sums, int rows, const TileNumbers& numbers, std::int8_t* out,
                   std::ptrdiff_t out_stride, int channels) {
  const auto n = avx512::load(numbers.blocks[0]);
  const auto clamp = avx512::clamp_of(numbers);
  const auto mask = static_cast<__mmask16>((1U << channels) - 1);
  for (int row = 0; row < rows; row += 4) {
    __m512i results[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const int read = row + i < rows ? row + i : rows - 1;
      results[i] = results_of<kHasLeft>(sums + read * kChannels, n);
    }
    const __m512i bytes = avx512::narrow(results[0], results[1], results[2], results[3], clamp);
    const __m128i lanes[4] = {_mm512_castsi512_si128(bytes), _mm512_extracti32x4_epi32(bytes, 1),
                              _mm512_extracti32x4_epi32(bytes, 2),
                              _mm512_extracti32x4_epi32(bytes, 3)};
    for (int i = 0; i < 4 && row + i < rows; ++i, out += out_stride) {
      _mm_mask_storeu_epi8(out, mask, lanes[i]);
    }
  }
}

/// Two rows of two blocks at a time.
template <bool kHasLeft>
void finish_wide(const std::int32_t* sums, int rows, const TileNumbers& numbers, std::int8_t* out,
                 std::ptrdiff_t out_stride, int channels) {
  const auto first = avx512::load(numbers.blocks[0]);
  const auto second = avx512::load(numbers.blocks[1]);
  const auto clamp = avx512::clamp_of(numbers);
  int row = 0;
  for (; row + 2 <= rows; row += 2, sums += 2 * kChannels, out += 2 * out_stride) {
    const __m512i bytes = avx512::narrow(
        results_of<kHasLeft>(sums, first), results_of<kHasLeft>(sums + kBlock, second),
        results_of<kHasLeft>(sums + kChannels, first),
        results_of<kHasLeft>(sums + kChannels + kBlock, second), clamp);
    avx512::store_two_rows(out, out_stride, bytes, channels);
  }
  if (row < rows) {
    const __m512i left = results_of<kHasLeft>(sums, first);
    const __m512i right = results_of<kHasLeft>(sums + kBlock, second);
    avx512::store_bytes(out, avx512::narrow(left, right, left, right, clamp), channels);
  }
}

void finish(const std::int32_t* sums, int rows, const TileNumbers& numbers, std::int8_t* out,
            std::ptrdiff_t out_stride, int channels) {
  static constexpr decltype(&finish_wide<false>) kByLeftAndBlocks[2][2] = {
      {finish_narrow<false>, finish_wide<false>}, {finish_narrow<true>, finish_wide<true>}};
  const bool is_wide = channels > kBlock;
  const bool shifts =
      avx512::has_left(numbers.blocks[0]) || (is_wide && avx512::has_left(numbers.blocks[1]));
  kByLeftAndBlocks[shifts ? 1 : 0][is_wide ? 1 : 0](sums, rows, numbers, out, out_stride, channels);
}

/// Linux gives a process the state of tiles when it asks.
bool ask_for_tiles() {
#if defined(__linux__)
  constexpr int kRequestPermission = 0x1023;
  constexpr int kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

}  // namespace

const TileUnit kTiles = {.packing = {.channels = kChannels,
                                     .group = kGroup,
                                     .weight_bytes = 1,
                                     .activation_offset = 0,
                                     .channel_of = same_channel},
                         .rows = 2 * kTileRows,
                         .step_bytes = kTileBytes,
                         .enter = enter,
                         .leave = leave,
                         .multiply = multiply,
                         .store = store,
                         .finish = finish};

bool is_supported() {
  static const bool is_given =
      __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-int8") && ask_for_tiles();
  return is_given;
}

}  // namespace fixedpoint::amx
