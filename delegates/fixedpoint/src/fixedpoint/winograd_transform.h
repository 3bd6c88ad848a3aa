#pragma once

#include "fixedpoint/winograd_conv.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

/// The transforms of tiles, compiled for what the file that includes this is compiled for; in an
/// unnamed namespace for that reason. See winograd_conv.h.
namespace fixedpoint {
namespace {  // NOLINT(google-build-namespaces): one copy for each instruction set

/// Four or six values times B, at `out` and each `step` on.
template <class Words>
[[gnu::always_inline]] inline void times_b(const Words (&d)[4], Words* out, std::ptrdiff_t step) {
  out[0] = d[0] - d[2];
  out[step] = d[1] + d[2];
  out[2 * step] = d[2] - d[1];
  out[3 * step] = d[1] - d[3];
}

template <class Words>
[[gnu::always_inline]] inline void times_b(const Words (&d)[6], Words* out, std::ptrdiff_t step) {
  const Words even = d[4] - (d[2] << 2);
  const Words odd = d[3] - (d[1] << 2);
  const Words near = d[4] - d[2];
  const Words twice = (d[3] - d[1]) << 1;
  out[0] = ((d[0] - d[2]) << 2) + near;
  out[step] = even + odd;
  out[2 * step] = even - odd;
  out[3 * step] = near + twice;
  out[4 * step] = near - twice;
  out[5 * step] = d[5] - d[3] - (twice << 1);
}

/// Four or six sums times C.
template <class Sums>
[[gnu::always_inline]] inline void times_c(const Sums (&m)[4], Sums* out, std::ptrdiff_t step) {
  out[0] = m[0] + m[1] + m[2];
  out[step] = m[1] - m[2] - m[3];
}

template <class Sums>
[[gnu::always_inline]] inline void times_c(const Sums (&m)[6], Sums* out, std::ptrdiff_t step) {
  const Sums first_sum = m[1] + m[2];
  const Sums first_difference = (m[1] - m[2]) << 2;
  const Sums second_sum = m[3] + m[4];
  const Sums second_difference = m[3] - m[4];
  out[0] = (m[0] << 1) + (first_sum << 2) + second_sum;
  out[step] = first_difference + (second_difference << 1);
  out[2 * step] = (first_sum + second_sum) << 2;
  out[3 * step] = first_difference + ((second_difference + m[5]) << 3);
}

/// Y of c Y modulo 2^32. `Wide` has vectors of sums, without signs, since they wrap around, and of
/// results, with them.
template <WinogradStep step, class Wide>
[[gnu::always_inline]] inline typename Wide::Results divide(typename Wide::Sums sums) {
  if constexpr (step == WinogradStep::kTwo) {
    return reinterpret_cast<typename Wide::Results>(sums) >> 2;
  } else {
    constexpr std::uint32_t kInverseOfNine = 0x38E38E39;
    static_assert(9 * kInverseOfNine == 1);
    return reinterpret_cast<typename Wide::Results>(sums * kInverseOfNine) >> 6;
  }
}

/// A WinogradUnit's `transform`; the last vectors of a pixel overlap others. `Lanes` has a type of
/// vectors of `kCount` words, and loads them from bytes.
template <WinogradStep step, class Lanes>
void transform_tile(const std::int8_t* const* rows, int channels, std::int16_t* out,
                    std::ptrdiff_t place_step) {
  constexpr int kSide = WinogradSizes<step>::kSide;
  using Words = typename Lanes::Words;
  for (int next = 0; next < channels; next += Lanes::kCount) {
    const int first = next + Lanes::kCount <= channels ? next : channels - Lanes::kCount;
    Words half[kSide][kSide];
#pragma GCC unroll 6
    for (int j = 0; j < kSide; ++j) {
      Words column[kSide];
#pragma GCC unroll 6
      for (int i = 0; i < kSide; ++i) {
        column[i] = Lanes::load(rows[i] + std::ptrdiff_t{channels} * j + first);
      }
      times_b(column, &half[0][j], kSide);
    }
#pragma GCC unroll 6
    for (int i = 0; i < kSide; ++i) {
      Words made[kSide];
      times_b(half[i], made, 1);
#pragma GCC unroll 6
      for (int j = 0; j < kSide; ++j) {
        std::memcpy(out + (kSide * i + j) * place_step + first, &made[j], sizeof made[j]);
      }
    }
  }
}

/// The results of a tile before requantization.
template <WinogradStep step, class Wide>
struct WinogradTile {
  static constexpr int kResults = WinogradSizes<step>::kResults;
  typename Wide::Results at[kResults][kResults];

  /// Place `i` is at sums[i * place_step].
  [[gnu::always_inline]] void sum_up(const std::int32_t* sums, std::ptrdiff_t place_step) {
    constexpr int kSide = WinogradSizes<step>::kSide;
    typename Wide::Sums half[kResults][kSide];
#pragma GCC unroll 6
    for (int j = 0; j < kSide; ++j) {
      typename Wide::Sums column[kSide];
#pragma GCC unroll 6
      for (int i = 0; i < kSide; ++i) {
        std::memcpy(&column[i], sums + (kSide * i + j) * place_step, sizeof column[i]);
      }
      times_c(column, &half[0][j], kSide);
    }
#pragma GCC unroll 4
    for (int i = 0; i < kResults; ++i) {
      typename Wide::Sums row[kResults];
      times_c(half[i], row, 1);
#pragma GCC unroll 4
      for (int j = 0; j < kResults; ++j) {
        at[i][j] = divide<step, Wide>(row[j]);
      }
    }
  }
};

}  // namespace
}  // namespace fixedpoint
