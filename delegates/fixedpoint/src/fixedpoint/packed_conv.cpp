#include "fixedpoint/packed_conv.h"

#include "fixedpoint/conv_kernels.h"
#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_weights.h"

#include <cstdint>
#include <memory>
#include <utility>

namespace fixedpoint {
namespace {

/// The packing that the kernel for these windows reads.
const Packing& packing_of(const Window& w, const GemmUnit& gemm, const DepthwiseUnit& depthwise) {
  if (w.groups == 1) {
    return gemm.packing;
  }
  const bool has_rows = depthwise.rows.convolve != nullptr && slides_in_rows(w);
  return has_rows ? depthwise.rows.packing : depthwise.packing;
}

}  // namespace

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
  const Window& w = conv.window;
  const bool is_depthwise = w.groups > 1 && w.in_group() == 1 && w.out_group() == 1;
  if (w.groups > 1 && !is_depthwise) {
    return nullptr;
  }
  const Packing& packing = packing_of(w, gemm, depthwise);
  auto packed = pack_weights(conv, packing);
  if (!packed) {
    return nullptr;
  }
  if (&packing == &depthwise.rows.packing) {
    return make_depthwise_rows(conv, depthwise, table, std::move(*packed));
  }
  if (is_depthwise) {
    return make_depthwise_conv(conv, depthwise, table, std::move(*packed));
  }
  return make_gemm_conv(conv, gemm, table, std::move(*packed));
}

std::unique_ptr<ConvKernel> packed_or_scalar(const Conv2d& conv, const GemmUnit& gemm,
                                             const DepthwiseUnit& depthwise, TableFunction table) {
  auto packed = make_packed_conv(conv, gemm, depthwise, table);
  return packed != nullptr ? std::move(packed) : scalar_kernels().make_conv2d(conv);
}

}  // namespace fixedpoint
