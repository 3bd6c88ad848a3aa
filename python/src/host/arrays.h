#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "assay/base/result.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay::host {

namespace nb = nanobind;

/// What an engine may give: numpy arrays, torch tensors and their like on the CPU. Those that are
/// not contiguous are copied.
using Array = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

/// A numpy array over the view's own memory, which outlives it. numpy has no bfloat16: that comes
/// as uint16.
nb::object array_from(const TensorView& view);

/// A view of the array's memory. `declared`: as the program says; what is bfloat16 there may come
/// as uint16. Errors: kUnsupported for an element type that has no counterpart here.
Result<TensorView> view_of(const Array& array, Dtype declared);

}  // namespace assay::host
