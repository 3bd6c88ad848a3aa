#include "fixedpoint/bench/peak.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string_view>
#if defined(__x86_64__)
#include "fixedpoint/x86.h"

#include <immintrin.h>
#endif

namespace fixedpoint::bench {
namespace {

constexpr int kRounds = 10;
constexpr long kLoops = 1'000'000;

/// Seconds of the fastest of some rounds: what else runs only makes one slower.
template <class Work>
double fastest(Work work) {
  double seconds = std::numeric_limits<double>::max();
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    seconds = std::min(seconds, taken.count());
  }
  return seconds;
}

#if defined(__x86_64__) || defined(__aarch64__)
void add_in_a_chain() {
  long x = 0;
  for (long i = 0; i < kLoops; ++i) {
#if defined(__x86_64__)
    // Adds a register: newer processors add numbers that stand in the instruction in no time.
    asm volatile("add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0" : "+r"(x) : "r"(i));
#else
    asm volatile("add %0, %0, 1\n add %0, %0, 1\n add %0, %0, 1\n add %0, %0, 1" : "+r"(x));
#endif
  }
}
#endif

#if defined(__x86_64__)
// Twelve sums, which hides the latency of each; the factors do not matter.
#define FIXEDPOINT_TWELVE(one)                                                              \
  one("0") one("1") one("2") one("3") one("4") one("5") one("6") one("7") one("8") one("9") \
      one("10") one("11")

void multiply_avx2() {
  for (long i = 0; i < kLoops; ++i) {
#define FIXEDPOINT_ONE(sum) \
  "vpmaddwd %%ymm14, %%ymm15, %%ymm12\n vpaddd %%ymm12, %%ymm" sum ", %%ymm" sum "\n"
    asm volatile(FIXEDPOINT_TWELVE(FIXEDPOINT_ONE)::
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                       "xmm9", "xmm10", "xmm11", "xmm12");
#undef FIXEDPOINT_ONE
  }
}

void multiply_avxvnni() {
  for (long i = 0; i < kLoops; ++i) {
#define FIXEDPOINT_ONE(sum) "%{vex%} vpdpbusd %%ymm14, %%ymm15, %%ymm" sum "\n"
    asm volatile(FIXEDPOINT_TWELVE(FIXEDPOINT_ONE)::
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                       "xmm9", "xmm10", "xmm11");
#undef FIXEDPOINT_ONE
  }
}

void multiply_avx512() {
  for (long i = 0; i < kLoops; ++i) {
#define FIXEDPOINT_ONE(sum) "vpdpbusd %%zmm14, %%zmm15, %%zmm" sum "\n"
    asm volatile(FIXEDPOINT_TWELVE(FIXEDPOINT_ONE)::
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                       "xmm9", "xmm10", "xmm11");
#undef FIXEDPOINT_ONE
  }
}
#undef FIXEDPOINT_TWELVE

/// Fewer, for a product of tiles takes longer than one of vectors.
constexpr long kTileLoops = kLoops / 10;

/// Four tiles of sums, as a kernel has them; loads of tiles are not among it.
[[gnu::target("amx-tile,amx-int8")]] void multiply_amx() {
  amx::kTiles.enter(amx::kTiles.step_bytes);
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
  for (long i = 0; i < kTileLoops; ++i) {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  }
  amx::kTiles.leave();
}
#endif

}  // namespace

double measure_frequency() {
#if defined(__x86_64__) || defined(__aarch64__)
  return 4 * kLoops / fastest(add_in_a_chain);
#else
  return 0;
#endif
}

double measure_peak(std::string_view isa, double frequency) {
#if defined(__x86_64__)
  constexpr double kSums = 12;
  if (isa == "avx2") {
    return kSums * 16 * kLoops / fastest(multiply_avx2) / frequency;
  }
  if (isa == "avxvnni") {
    return kSums * 32 * kLoops / fastest(multiply_avxvnni) / frequency;
  }
  if (isa == "avx512amx") {
    constexpr double kTileMacs = 16 * 16 * 64;
    return 4 * kTileMacs * kTileLoops / fastest(multiply_amx) / frequency;
  }
  if (isa == "avx512vnni") {
    return kSums * 64 * kLoops / fastest(multiply_avx512) / frequency;
  }
#endif
  static_cast<void>(isa);
  static_cast<void>(frequency);
  return 0;
}

}  // namespace fixedpoint::bench
