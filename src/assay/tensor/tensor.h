#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/tensor/dtype.h"

namespace assay {

using Shape = std::vector<std::int64_t>;

/// A dimension of a TensorSpec whose size only the inputs decide.
inline constexpr std::int64_t kUnboundDimension = -1;

/// Product of the dimensions; 1 for a scalar, 0 when a dimension is 0. A product beyond int64 gives
/// its largest value, which is more than any memory holds.
std::int64_t count_elements(std::span<const std::int64_t> shape);

/// Bytes of the elements of such a tensor; absent beyond int64, or for a negative dimension.
std::optional<std::size_t> size_in_bytes(Dtype dtype, std::span<const std::int64_t> shape);

/// "1x3x224x224"; "scalar" for rank 0; "?" for an unbound dimension.
std::string text_from_shape(std::span<const std::int64_t> shape);

/// value = (stored - zero_point) * scale; one entry, or one for each index along `axis`.
struct Quantization {
  std::vector<double> scales;
  std::vector<std::int64_t> zero_points;
  int axis = -1;  ///< -1: per tensor.
};

/// Declaration of one input or output by a program.
struct TensorSpec {
  std::string name;
  Dtype dtype = Dtype::kFloat32;
  Shape shape;
  std::optional<Quantization> quantization;
};

/// Whether the elements of a bound spec can be counted. Errors: kCorrupt when their bytes leave
/// int64, naming the tensor.
Status check_size(const TensorSpec& spec);

/// Elements that somebody else owns: contiguous, row-major, `data.size()` bytes.
struct TensorView {
  Dtype dtype = Dtype::kFloat32;
  Shape shape;
  std::span<const std::byte> data;
};

/// Contiguous row-major elements, owned.
struct Tensor {
  Dtype dtype = Dtype::kFloat32;
  Shape shape;
  std::vector<std::byte> data;

  /// All bits zero.
  static Tensor zeros(Dtype dtype, Shape shape);
  static Tensor copy_of(const TensorView& view);
  [[nodiscard]] TensorView view() const { return {dtype, shape, data}; }
};

/// The elements converted to double; bool gives 0 and 1. Exact, but for int64 and uint64 beyond
/// 2^53. Takes as many whole elements as `data` holds, whatever the shape says. O(n) time and
/// memory.
std::vector<double> doubles_from_tensor(const TensorView& tensor);

/// A tensor of a floating type with these values, each rounded to nearest, ties to even.
/// `values`: row-major, as many as `shape` has elements.
Tensor tensor_from_doubles(std::span<const double> values, Shape shape, Dtype floating);

/// (stored - zero_point) * scale of each element. Errors: kInvalidArgument when the parameters do
/// not fit the shape.
Result<std::vector<double>> doubles_from_quantized(const TensorView& tensor,
                                                   const Quantization& quantization);

/// Seeded random elements for a spec: floating types standard normal, integers uniform in [0, 10),
/// bool fair. The same seed gives the same bits on every machine: SplitMix64, for floating types
/// the polar method in double with a logarithm of our own, then rounded to nearest.
Tensor random_tensor(const TensorSpec& spec, std::uint64_t seed);

ASSAY_DECLARE_JSON(Quantization);
ASSAY_DECLARE_JSON(TensorSpec);

}  // namespace assay
