#include "fixedpoint/kernels.h"
#include "fixedpoint/neon.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/packed_matmul16.h"
#include "fixedpoint/transformer.h"
#include "fixedpoint/winograd_conv.h"

#include <cstdint>
#include <memory>

#if defined(__linux__)
#include <asm/hwcap.h>

#include <sys/auxv.h>
#endif

namespace fixedpoint {
namespace {

/// As with AVX2, whose instructions multiply 16 bits like these.
constexpr WinogradRule kWinograd = {.two = &neon::kWinograd2,
                                    .four = &neon::kWinograd4,
                                    .least_gain_of_two = 1.5,
                                    .least_gain_of_four = 1.5,
                                    .least_twos = 4,
                                    .least_fours = 8};

std::unique_ptr<ConvKernel> make_neon_conv(const Conv2d& conv) {
  if (auto tiled = make_winograd_conv(conv, kWinograd, neon::table)) {
    return tiled;
  }
  return packed_or_scalar(conv, neon::kGemm, neon::kDepthwise, neon::table);
}

std::unique_ptr<ConvKernel> make_neon_dot_conv(const Conv2d& conv) {
  return packed_or_scalar(conv, neon_dot::kGemm, neon_dot::kDepthwise, neon::table);
}

std::unique_ptr<TypedConvKernel<std::int16_t>> make_conv16(const Conv2d& conv) {
  return packed_or_scalar16(conv, neon::kGemm16, neon::kDepthwise16);
}

std::unique_ptr<MatmulKernel16> make_matmul16(const Matmul& matmul) {
  return make_packed_matmul16(matmul, neon::kGemm16);
}

Kernels16 make_kernels16() noexcept {
  Kernels16 kernels = kScalarKernels16;
  kernels.make_conv2d = make_conv16;
  kernels.make_matmul = make_matmul16;
  return kernels;
}

const Kernels16 kKernels16 = make_kernels16();

void avg_pool2d(const AvgPool2d& op, const std::int8_t* in, std::int8_t* out) {
  if (op.window.is_whole_image()) {
    neon::global_pool(op, in, out);
  } else {
    scalar_kernels().avg_pool2d(op, in, out);
  }
}

void max_pool2d(const MaxPool2d& op, const std::int8_t* in, std::int8_t* out) {
  scalar_kernels().max_pool2d(op, in, out);
}

/// Every 64-bit Arm processor has these.
bool has_neon() { return true; }

bool has_neon_dot() {
#if defined(__linux__)
  return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#else
  return false;  // no portable way to ask
#endif
}

}  // namespace

const Kernels& neon_kernels() {
  static constexpr Kernels kKernels = {.isa = "neon",
                                       .is_supported = has_neon,
                                       .make_conv2d = make_neon_conv,
                                       .add = neon::add,
                                       .mul = neon::mul,
                                       .avg_pool2d = avg_pool2d,
                                       .max_pool2d = max_pool2d,
                                       .table = neon::table,
                                       .of_16_bits = &kKernels16};
  return kKernels;
}

const Kernels& neon_dot_kernels() {
  static constexpr Kernels kKernels = {.isa = "neondot",
                                       .is_supported = has_neon_dot,
                                       .make_conv2d = make_neon_dot_conv,
                                       .add = neon::add,
                                       .mul = neon::mul,
                                       .avg_pool2d = avg_pool2d,
                                       .max_pool2d = max_pool2d,
                                       .table = neon::table,
                                       .of_16_bits = &kKernels16};
  return kKernels;
}

}  // namespace fixedpoint
