#pragma once

#include "fixedpoint/kernels.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/packed_conv.h"
#include "fixedpoint/packed_weights.h"

#include <memory>

/// Convolutions over packed weights; the units, tables and weights stay valid longer.
namespace fixedpoint {

/// As a product of matrices, a panel of windows at a time.
template <class T>
std::unique_ptr<TypedConvKernel<T>> make_gemm_conv(const Conv2d& conv, const TypedGemmUnit<T>& unit,
                                                   TableFunction table, PackedWeights packed);

/// One filter a channel, a pixel at a time.
template <class T>
std::unique_ptr<TypedConvKernel<T>> make_depthwise_conv(const Conv2d& conv,
                                                        const TypedDepthwiseUnit<T>& unit,
                                                        TableFunction table, PackedWeights packed);

/// One filter a channel, a row at a time; for windows that the unit slides.
template <class T>
std::unique_ptr<TypedConvKernel<T>> make_depthwise_rows(const Conv2d& conv,
                                                        const TypedSlidingUnit<T>& unit,
                                                        TableFunction table, PackedWeights packed);

}  // namespace fixedpoint
