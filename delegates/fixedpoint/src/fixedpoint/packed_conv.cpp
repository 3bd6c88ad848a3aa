#include "fixedpoint/packed_conv.h"

#include "fixedpoint/conv_kernels.h"
#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_weights.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

namespace fixedpoint {
namespace {

/// Finds a unit that convolves these windows a row at a time; null: none.
template <class T>
const TypedSlidingUnit<T>* sliding_unit(const Window& w, const TypedDepthwiseUnit<T>& depthwise) {
  if (w.kernel_height != w.kernel_width || w.dilation_width != 1 || w.stride_width > 2) {
    return nullptr;
  }
  for (const auto& [size, unit] : {std::pair(3, &depthwise.rows_of_3), {5, &depthwise.rows_of_5}}) {
    if (w.kernel_width == size && unit->convolve != nullptr) {
      return unit;
    }
  }
  return nullptr;
}

bool is_depthwise(const Window& w) {
  return w.groups > 1 && w.in_group() == 1 && w.out_group() == 1;
}

/// Finds the unit for the windows; null: none.
template <class T>
std::unique_ptr<TypedConvKernel<T>> make_for_windows(const Conv2d& conv,
                                                     const TypedGemmUnit<T>& gemm,
                                                     const TypedDepthwiseUnit<T>& depthwise,
                                                     TableFunction table, std::int64_t largest) {
  const Window& w = conv.window;
  if (w.groups == 1) {
    auto packed = pack_weights(conv, gemm.packing, largest);
    return packed.fits || gemm.sum_up != nullptr
               ? make_gemm_conv(conv, gemm, table, std::move(packed))
               : nullptr;
  }
  if (!is_depthwise(w)) {
    return nullptr;
  }
  const auto* rows = sliding_unit(w, depthwise);
  auto packed = pack_weights(conv, rows != nullptr ? rows->packing : depthwise.packing, largest);
  if (!packed.fits) {
    return nullptr;
  }
  return rows != nullptr ? make_depthwise_rows(conv, *rows, table, std::move(packed))
                         : make_depthwise_conv(conv, depthwise, table, std::move(packed));
}

}  // namespace

void copy_values(const std::int16_t* in, int count, std::byte* packed) {
  std::memcpy(packed, in, count * sizeof *in);
}

bool spread(const Requantize& r, std::int64_t largest, BlockNumbers& block) {
  const int left = r.shift < 32 ? 32 - r.shift : 0;
  const std::int64_t bias = r.bias < 0 ? -r.bias : r.bias;
  if (left > 0 && ((largest >> (31 - left)) != 0 || (bias >> (62 - left)) != 0)) {
    return false;
  }
  for (int i = 0; i < kBlock; ++i) {
    block.left[i] = left;
    block.right[i] = r.shift + left - 32;
    block.multiplier[i] = static_cast<std::int32_t>(r.multiplier);
    block.odd_multiplier[i] = static_cast<std::int32_t>(r.multiplier);
    block.even_bias[i / 2] = r.bias * (std::int64_t{1} << left);
    block.odd_bias[i / 2] = block.even_bias[i / 2];
  }
  return true;
}

std::unique_ptr<ConvKernel> make_packed_conv(const Conv2d& conv, const GemmUnit& gemm,
                                             const DepthwiseUnit& depthwise, TableFunction table) {
  constexpr std::int64_t kLargest = 1 << 7;
  return make_for_windows(conv, gemm, depthwise, table, kLargest);
}

std::unique_ptr<TypedConvKernel<std::int16_t>> packed_or_scalar16(
    const Conv2d& conv, const GemmUnit16& gemm, const DepthwiseUnit16& depthwise) {
  constexpr std::int64_t kLargest = 1 << 15;
  auto packed = make_for_windows(conv, gemm, depthwise, nullptr, kLargest);
  return packed != nullptr ? std::move(packed) : kScalarKernels16.make_conv2d(conv);
}

std::unique_ptr<ConvKernel> packed_or_scalar(const Conv2d& conv, const GemmUnit& gemm,
                                             const DepthwiseUnit& depthwise, TableFunction table) {
  auto packed = make_packed_conv(conv, gemm, depthwise, table);
  return packed != nullptr ? std::move(packed) : scalar_kernels().make_conv2d(conv);
}

}  // namespace fixedpoint
