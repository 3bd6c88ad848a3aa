#pragma once

#include <string>
#include <string_view>

namespace assay {

/// Kind of work of an operator, by which engines with different names can be compared:
/// "convolution", "matrix product", "copy", "quantize", …; "other" when the name tells nothing.
/// An engine that computes a 1x1 convolution as a matrix product counts as the latter.
std::string_view family_of_operator(std::string_view name);

/// The name under which an operator of two programs is the same one: without its number and without
/// the element types, so that a quantized one meets its floating original.
/// "Convolution (NHWC, QS8, QC8W) IGEMM #3" becomes "Convolution (NHWC) IGEMM".
std::string matching_name(std::string_view name);

/// "aten.add.Tensor" of a graph and "add.out" of a runtime are both "add".
std::string base_name_of_operator(std::string_view name);

}  // namespace assay
