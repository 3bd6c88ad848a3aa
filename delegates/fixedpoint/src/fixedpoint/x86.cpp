#include "fixedpoint/x86.h"

#include "fixedpoint/halved_sum.h"
#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/packed_matmul.h"
#include "fixedpoint/packed_matmul16.h"
#include "fixedpoint/tile_conv.h"
#include "fixedpoint/transformer.h"
#include "fixedpoint/window_walk.h"
#include "fixedpoint/winograd_conv.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace fixedpoint {
namespace {

bool has_narrow_weights(const Conv2d& conv) {
  const std::int64_t count = std::int64_t{conv.window.out_channels} * conv.window.depth();
  return std::all_of(conv.weights, conv.weights + count, [](int weight) {
    return weight >= -avx2::kMostNarrowWeight && weight <= avx2::kMostNarrowWeight;
  });
}

constexpr WinogradRule kAvx2Winograd = {.two = &avx2::kWinograd2,
                                        .four = &avx2::kWinograd4,
                                        .least_gain_of_two = 1.5,
                                        .least_gain_of_four = 1.5,
                                        .least_twos = 4,
                                        .least_fours = 8};
/// Windows multiply bytes, twice as many at a time, so that only the larger tiles gain.
constexpr WinogradRule kAvx512Winograd = {
    .four = &avx512::kWinograd4, .least_gain_of_four = 2.7, .least_fours = 16};

const GemmUnit& choose_avx2_gemm(const Conv2d& conv) {
  if (has_narrow_weights(conv)) {
    return avx2::kNarrowGemm;
  }
  const bool is_row = is_pointwise(conv.window) && conv.window.out_pixels() == 1;
  return is_row ? avx2::kRowGemm : avx2::kGemm;
}

std::unique_ptr<ConvKernel> make_avx2_conv(const Conv2d& conv) {
  if (auto tiled = make_winograd_conv(conv, kAvx2Winograd, avx2::table)) {
    return tiled;
  }
  return packed_or_scalar(conv, choose_avx2_gemm(conv), avx2::kDepthwise, avx2::table);
}

std::unique_ptr<ConvKernel> make_avxvnni_conv(const Conv2d& conv) {
  return packed_or_scalar(conv, avxvnni::kGemm, avx2::kDepthwise, avx2::table);
}

std::unique_ptr<ConvKernel> make_avx512_conv(const Conv2d& conv) {
  if (auto tiled = make_winograd_conv(conv, kAvx512Winograd, avx512::table)) {
    return tiled;
  }
  return packed_or_scalar(conv, avx512::kGemm, avx512::kDepthwise, avx512::table);
}

using ConvKernel16 = TypedConvKernel<std::int16_t>;

std::unique_ptr<ConvKernel16> make_avx2_conv16(const Conv2d& conv) {
  return packed_or_scalar16(conv, avx2::kGemm16, avx2::kDepthwise16);
}

std::unique_ptr<ConvKernel16> make_avx512_conv16(const Conv2d& conv) {
  return packed_or_scalar16(conv, avx512::kGemm16, avx2::kDepthwise16);
}

/// Where tiles are faster than vectors, as measured layer by layer: sums are long enough, and there
/// are rows enough to share what tiles cost before the first. Windows cost vectors a copy each.
bool suits_tiles(const Window& w) {
  constexpr std::int64_t kLeastRows = 4;
  constexpr std::int64_t kMostCountedRows = 64;
  const std::int64_t least_work = is_pointwise(w) ? 2048 : 512;
  const std::int64_t rows = std::min(w.out_pixels(), kMostCountedRows);
  return w.groups == 1 && rows >= kLeastRows && rows * w.depth() >= least_work;
}

std::unique_ptr<ConvKernel> make_amx_conv(const Conv2d& conv) {
  auto tiled =
      suits_tiles(conv.window) ? make_tile_conv(conv, amx::kTiles, avx512::table) : nullptr;
  return tiled != nullptr ? std::move(tiled) : make_avx512_conv(conv);
}

std::unique_ptr<MatmulKernel> make_avx2_matmul(const Matmul& matmul) {
  return make_dot_matmul(matmul, dot_rows_avx2);
}

std::unique_ptr<MatmulKernel> make_avx512_matmul(const Matmul& matmul) {
  auto packed = make_packed_matmul(matmul, avx512::kMatmul);
  return packed != nullptr ? std::move(packed) : make_avx2_matmul(matmul);
}

std::unique_ptr<MatmulKernel16> make_avx2_matmul16(const Matmul& matmul) {
  return make_packed_matmul16(matmul, avx2::kGemm16, avx2::requantize_row);
}

std::unique_ptr<MatmulKernel16> make_avx512_matmul16(const Matmul& matmul) {
  return make_packed_matmul16(matmul, avx512::kGemm16, avx2::requantize_row);
}

void add_avx2(const Add& op, const std::int8_t* a, const std::int8_t* b, std::int8_t* out) {
  if (!avx2::add(op, a, b, out)) {
    scalar_kernels().add(op, a, b, out);
  }
}

void add_avx512(const Add& op, const std::int8_t* a, const std::int8_t* b, std::int8_t* out) {
  if (!avx512::add(op, a, b, out)) {
    scalar_kernels().add(op, a, b, out);
  }
}

void mul_avx2(const Mul& op, const std::int8_t* a, const std::int8_t* b, std::int8_t* out) {
  if (!avx2::mul(op, a, b, out)) {
    scalar_kernels().mul(op, a, b, out);
  }
}

void mul_avx512(const Mul& op, const std::int8_t* a, const std::int8_t* b, std::int8_t* out) {
  if (!avx512::mul(op, a, b, out)) {
    scalar_kernels().mul(op, a, b, out);
  }
}

void mul16(const Mul& op, const std::int16_t* a, const std::int16_t* b, std::int16_t* out) {
  if (!avx2::mul16(op, a, b, out)) {
    kScalarKernels16.mul(op, a, b, out);
  }
}

void softmax16(const Softmax& op, const std::int16_t* in, std::int16_t* out) {
  if (!avx2::softmax16(op, in, out)) {
    kScalarKernels16.softmax(op, in, out);
  }
}

void avg_pool2d(const AvgPool2d& op, const std::int8_t* in, std::int8_t* out) {
  if (!op.window.is_whole_image() || !avx2::global_pool(op, in, out)) {
    scalar_kernels().avg_pool2d(op, in, out);
  }
}

bool has_avx512() { return avx2::is_supported() && avx512::is_supported(); }
bool has_amx() { return has_avx512() && amx::is_supported(); }

Kernels16 kernels16_with(decltype(Kernels16::make_conv2d) make_conv2d,
                         decltype(Kernels16::make_matmul) make_matmul) noexcept {
  Kernels16 kernels = kScalarKernels16;
  kernels.make_conv2d = make_conv2d;
  kernels.make_matmul = make_matmul;
  kernels.mul = mul16;
  kernels.table = avx2::table16;
  kernels.softmax = softmax16;
  kernels.layer_norm = avx2::layer_norm16;
  return kernels;
}

const Kernels16 kAvx2Kernels16 = kernels16_with(make_avx2_conv16, make_avx2_matmul16);
const Kernels16 kAvx512Kernels16 = kernels16_with(make_avx512_conv16, make_avx512_matmul16);

constexpr Kernels kAvx2Kernels = {.isa = "avx2",
                                  .is_supported = avx2::is_supported,
                                  .make_conv2d = make_avx2_conv,
                                  .add = add_avx2,
                                  .mul = mul_avx2,
                                  .avg_pool2d = avg_pool2d,
                                  .max_pool2d = avx2::max_pool,
                                  .table = avx2::table,
                                  .make_matmul = make_avx2_matmul,
                                  .quantize_pixels = avx2::quantize_pixels,
                                  .of_16_bits = &kAvx2Kernels16};

constexpr Kernels kAvx512Kernels = {.isa = "avx512vnni",
                                    .is_supported = has_avx512,
                                    .make_conv2d = make_avx512_conv,
                                    .add = add_avx512,
                                    .mul = mul_avx512,
                                    .avg_pool2d = avg_pool2d,
                                    .max_pool2d = avx2::max_pool,
                                    .table = avx512::table,
                                    .make_matmul = make_avx512_matmul,
                                    .softmax = avx512::softmax,
                                    .layer_norm = avx512::layer_norm,
                                    .masked_softmax = avx512::masked_softmax,
                                    .quantize_pixels = avx512::quantize_pixels,
                                    .of_16_bits = &kAvx512Kernels16};

}  // namespace

bool halve(const Add& op, HalvedSum& halves) {
  const std::int64_t upper_bias = op.bias >> HalvedSum::kBits;
  if (op.shift < HalvedSum::kBits || upper_bias > (1 << 29) || upper_bias < -(1 << 29)) {
    return false;
  }
  const std::int32_t mask = (1 << HalvedSum::kBits) - 1;
  const auto [a, b] = op.multipliers;
  if ((a >> HalvedSum::kBits) > mask || (b >> HalvedSum::kBits) > mask) {
    return false;
  }
  const auto pair = [](std::int32_t first, std::int32_t second) { return (second << 16) | first; };
  halves = {.upper = pair(a >> HalvedSum::kBits, b >> HalvedSum::kBits),
            .lower = pair(a & mask, b & mask),
            .upper_bias = static_cast<std::int32_t>(upper_bias),
            .lower_bias = static_cast<std::int32_t>(op.bias & mask),
            .shift = op.shift - HalvedSum::kBits};
  return true;
}

const Kernels& avx2_kernels() { return kAvx2Kernels; }

const Kernels& avxvnni_kernels() {
  static constexpr Kernels kKernels = [] {
    Kernels kernels = kAvx2Kernels;
    kernels.isa = "avxvnni";
    kernels.is_supported = avxvnni::is_supported;
    kernels.make_conv2d = make_avxvnni_conv;
    return kernels;
  }();
  return kKernels;
}

const Kernels& avx512_kernels() { return kAvx512Kernels; }

const Kernels& amx_kernels() {
  static constexpr Kernels kKernels = [] {
    Kernels kernels = kAvx512Kernels;
    kernels.isa = "avx512amx";
    kernels.is_supported = has_amx;
    kernels.make_conv2d = make_amx_conv;
    return kernels;
  }();
  return kKernels;
}

}  // namespace fixedpoint
