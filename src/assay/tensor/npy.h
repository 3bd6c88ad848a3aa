#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "assay/base/result.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// Reads one array in numpy's .npy format, versions 1 to 3, little-endian, C order
/// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html). Never reads outside
/// `bytes`. An .npz is a zip of these; the Python side unpacks it.
/// Errors: kCorrupt for anything malformed, kUnsupported for big-endian, Fortran order and dtypes
/// that Dtype lacks, with the numpy call that mends it.
Result<Tensor> tensor_from_npy(std::span<const std::byte> bytes);

/// Reads a .npy file. Errors: also kNotFound, kUnavailable; messages begin with the path.
Result<Tensor> read_npy(const std::filesystem::path& path);

/// A version 1 document; bfloat16, which numpy lacks, is kUnsupported.
Result<std::vector<std::byte>> npy_from_tensor(const TensorView& tensor);

}  // namespace assay
