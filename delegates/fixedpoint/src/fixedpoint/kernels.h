#pragma once

#include "fixedpoint/masked_softmax.h"
#include "fixedpoint/operations.h"
#include "fixedpoint/transformer.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace fixedpoint {

/// A convolution of activations of type T made ready for one instruction set: weights packed,
/// scratch memory taken.
template <class T>
class TypedConvKernel {
 public:
  TypedConvKernel() = default;
  TypedConvKernel(const TypedConvKernel&) = delete;
  TypedConvKernel& operator=(const TypedConvKernel&) = delete;
  virtual ~TypedConvKernel() = default;

  /// in: (batch, in_height, in_width, in_channels); out likewise. Any alignment; no overlap.
  /// Allocates nothing. Not for two threads at a time.
  virtual void run(const T* in, T* out) = 0;

  /// Takes what `run_part` needs for that many parts; returns how many parts are worth it, one or
  /// all of them.
  virtual int split(int /*parts*/) { return 1; }
  /// Does one of the parts that `split` returned; together they make what `run` makes. Different
  /// parts may run at the same time.
  virtual void run_part(const T* in, T* out, int /*part*/) { run(in, out); }
};
using ConvKernel = TypedConvKernel<std::int8_t>;

/// The primitives on activations of 16 bits.
struct Kernels16 {
  std::unique_ptr<TypedConvKernel<std::int16_t>> (*make_conv2d)(const Conv2d& conv);
  void (*add)(const Add& add, const std::int16_t* a, const std::int16_t* b, std::int16_t* out);
  void (*mul)(const Mul& mul, const std::int16_t* a, const std::int16_t* b, std::int16_t* out);
  void (*avg_pool2d)(const AvgPool2d& pool, const std::int16_t* in, std::int16_t* out);
  void (*max_pool2d)(const MaxPool2d& pool, const std::int16_t* in, std::int16_t* out);
  /// entries: 513, interpolated.
  void (*table)(const std::int16_t* entries, std::int64_t count, const std::int16_t* in,
                std::int16_t* out);
  std::unique_ptr<MatmulKernel16> (*make_matmul)(const Matmul& matmul);
  void (*softmax)(const Softmax& softmax, const std::int16_t* in, std::int16_t* out);
  void (*layer_norm)(const LayerNorm& norm, const std::int16_t* in, std::int16_t* out);
  void (*masked_softmax)(const MaskedSoftmax& op, const std::int16_t* in, const std::uint8_t* mask,
                         std::int16_t* out) = fixedpoint::masked_softmax;
};
/// The definitions, as plain loops.
extern const Kernels16 kScalarKernels16;

/// Quantizes `count` pixels of up to `kMostPixelValues` values, `stride` apart, to neighbours; one
/// value a pixel is a plain row.
using QuantizePixels = void (*)(const Boundary& boundary, const float* in, std::int64_t count,
                                std::int64_t values, std::int64_t stride, std::int8_t* out);
constexpr std::int64_t kMostPixelValues = 4;
void quantize_pixels(const Boundary& boundary, const float* in, std::int64_t count,
                     std::int64_t values, std::int64_t stride, std::int8_t* out);

/// The primitives on one instruction set. All sets give the same bits.
///
/// Elementwise ones may work in place: `out` is one of the inputs or overlaps none.
struct Kernels {
  std::string_view isa;
  bool (*is_supported)();
  std::unique_ptr<ConvKernel> (*make_conv2d)(const Conv2d& conv);
  void (*add)(const Add& add, const std::int8_t* a, const std::int8_t* b, std::int8_t* out);
  void (*mul)(const Mul& mul, const std::int8_t* a, const std::int8_t* b, std::int8_t* out);
  void (*avg_pool2d)(const AvgPool2d& pool, const std::int8_t* in, std::int8_t* out);
  void (*max_pool2d)(const MaxPool2d& pool, const std::int8_t* in, std::int8_t* out);
  void (*table)(const std::int8_t* results, std::int64_t count, const std::int8_t* in,
                std::int8_t* out);
  std::unique_ptr<MatmulKernel> (*make_matmul)(const Matmul& matmul) = fixedpoint::make_matmul;
  void (*softmax)(const Softmax& softmax, const std::int8_t* in,
                  std::int8_t* out) = fixedpoint::softmax;
  void (*layer_norm)(const LayerNorm& norm, const std::int8_t* in,
                     std::int8_t* out) = fixedpoint::layer_norm;
  void (*masked_softmax)(const MaskedSoftmax& op, const std::int8_t* in, const std::uint8_t* mask,
                         std::int8_t* out) = fixedpoint::masked_softmax;
  QuantizePixels quantize_pixels = fixedpoint::quantize_pixels;
  const Kernels16* of_16_bits = &kScalarKernels16;
};

/// The definitions, as plain loops.
const Kernels& scalar_kernels();
#if defined(__x86_64__)
const Kernels& avx2_kernels();
const Kernels& avxvnni_kernels();
const Kernels& avx512_kernels();
const Kernels& amx_kernels();
#elif defined(__aarch64__)
const Kernels& neon_kernels();
const Kernels& neon_dot_kernels();
#endif

/// Every set that this library was built with, the fastest first; scalar is the last.
const std::vector<const Kernels*>& all_kernels();

/// The set called `isa`, or the fastest that this processor runs for an empty name; null when
/// there is none.
const Kernels* find_kernels(std::string_view isa);

/// Moves data; the same on every instruction set.
void copy(const Copy& copy, const std::int8_t* in, std::int8_t* out);
void copy(const Copy& copy, const std::int16_t* in, std::int16_t* out);
/// The boundary; the same on every instruction set.
void quantize(const Boundary& boundary, const float* in, std::int8_t* out,
              QuantizePixels pixels = quantize_pixels);
void quantize(const Boundary& boundary, const float* in, std::int16_t* out);
void dequantize(const Boundary& boundary, const std::int8_t* in, float* out);
void dequantize(const Boundary& boundary, const std::int16_t* in, float* out);

}  // namespace fixedpoint
