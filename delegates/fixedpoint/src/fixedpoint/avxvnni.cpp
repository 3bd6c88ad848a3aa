#include "fixedpoint/packed_conv.h"
#include "fixedpoint/turn_signs.h"
#include "fixedpoint/x86.h"

#include <immintrin.h>

#pragma GCC target("avx2,avxvnni")

#include "fixedpoint/gemm_avx2.h"

namespace fixedpoint::avxvnni {
namespace {

/// Fours of products of 8 bits.
struct Dot {
  static constexpr int kRows = 6;
  static constexpr int kGroup = 4;

  [[gnu::always_inline]] static __m256i add(__m256i sums, __m256i x, __m256i weights) {
    return _mm256_dpbusd_avx_epi32(sums, x, weights);
  }
};

}  // namespace

const GemmUnit kGemm = {.packing = {.channels = kBlock,
                                    .group = Dot::kGroup,
                                    .weight_bytes = 1,
                                    .activation_offset = kTurnedSign,
                                    .channel_of = same_channel},
                        .rows = Dot::kRows,
                        .element_bytes = 1,
                        .pack = avx2::turn_signs,
                        .multiply = avx2::multiply<Dot>};

bool is_supported() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("avxvnni"); }

}  // namespace fixedpoint::avxvnni
