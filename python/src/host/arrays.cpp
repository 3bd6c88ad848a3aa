#include "host/arrays.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay::host {
namespace {

using Code = nb::dlpack::dtype_code;

constexpr std::array<std::pair<Dtype, Code>, 13> kCodes = {{
    {Dtype::kFloat64, Code::Float},
    {Dtype::kFloat32, Code::Float},
    {Dtype::kFloat16, Code::Float},
    {Dtype::kBFloat16, Code::Bfloat},
    {Dtype::kInt64, Code::Int},
    {Dtype::kInt32, Code::Int},
    {Dtype::kInt16, Code::Int},
    {Dtype::kInt8, Code::Int},
    {Dtype::kUInt8, Code::UInt},
    {Dtype::kUInt16, Code::UInt},
    {Dtype::kUInt32, Code::UInt},
    {Dtype::kUInt64, Code::UInt},
    {Dtype::kBool, Code::Bool},
}};

nb::dlpack::dtype numpy_type(Dtype dtype) {
  const auto shown = dtype == Dtype::kBFloat16 ? Dtype::kUInt16 : dtype;
  Code code = Code::Float;
  for (const auto& [candidate, its_code] : kCodes) {
    code = candidate == shown ? its_code : code;
  }
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * size_of_dtype(shown)), 1};
}

Result<Dtype> dtype_from(nb::dlpack::dtype type) {
  for (const auto& [dtype, code] : kCodes) {
    if (type.code == static_cast<std::uint8_t>(code) && type.bits == 8 * size_of_dtype(dtype) &&
        type.lanes == 1) {
      return dtype;
    }
  }
  return fail(ErrorCode::kUnsupported,
              fmt::format("an output has elements of {} bits (DLPack code {}), which have no "
                          "counterpart here",
                          type.bits, type.code));
}

}  // namespace

nb::object array_from(const TensorView& view) {
  const std::vector<std::size_t> shape(view.shape.begin(), view.shape.end());
  // Engines only read it, but some refuse an array that they could not write to.
  auto* data = const_cast<std::byte*>(view.data.data());
  const nb::ndarray<nb::numpy> array(data, shape.size(), shape.data(), nb::handle(), nullptr,
                                     numpy_type(view.dtype));
  auto shown = nb::cast(array, nb::rv_policy::reference);
  // NumPy has two types of signed 64 bits. nanobind makes C's long long, and LiteRT refuses what is
  // not numpy.int64.
  const bool is_wide = view.dtype == Dtype::kInt64 || view.dtype == Dtype::kUInt64;
  return is_wide ? shown.attr("view")(view.dtype == Dtype::kInt64 ? "int64" : "uint64") : shown;
}

Result<TensorView> view_of(const Array& array, Dtype declared) {
  TensorView view;
  ASSAY_ASSIGN_OR_RETURN(view.dtype, dtype_from(array.dtype()));
  if (declared == Dtype::kBFloat16 && view.dtype == Dtype::kUInt16) {
    view.dtype = declared;
  }
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    view.shape.push_back(static_cast<std::int64_t>(array.shape(i)));
  }
  view.data = {static_cast<const std::byte*>(array.data()), array.nbytes()};
  return view;
}

}  // namespace assay::host
