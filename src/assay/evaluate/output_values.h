#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// One output over all samples as numbers, ready to be compared: quantized integers are
/// dequantized, the samples stand one after another.
struct OutputValues {
  std::string name;
  Dtype dtype = Dtype::kFloat32;  ///< Type of the result; floating when only the reference is.
  bool is_quantized = false;
  std::optional<double> step;     ///< Size of one quantization step, where it is known.
  std::vector<Shape> shapes;      ///< Shape of each sample.
  std::vector<double> result;     ///< The engine's values, samples one after the other.
  std::vector<double> reference;  ///< The reference's values, in the same order.
  std::vector<double> exact;      ///< result - reference of 64-bit integers, which doubles do not
                                  ///< hold beyond 2^53; empty for other types.
  std::vector<double> bounds;     ///< Permitted error of each element; empty: no such bounds.
  bool is_constant = false;       ///< Equal for every input by design.
  bool is_copy = false;           ///< An unchanged input by design.
  bool has_inputs = false;        ///< True if the inputs of the samples are known.
  /// Inputs of the output's shape in every sample, each concatenated over samples.
  std::vector<std::vector<double>> inputs;
  std::vector<std::size_t> begin;  ///< Where each sample begins, and the end: samples + 1 entries.

  [[nodiscard]] std::size_t samples() const { return shapes.size(); }
  [[nodiscard]] std::span<const double> reference_of(std::size_t sample) const;
};

/// Output `index` of every sample. The tensors exist and agree in shape (check_same_shapes).
/// `spec`: its name and quantization, if known. Errors: kInvalidArgument when the quantization does
/// not fit.
Result<OutputValues> gather_output(std::span<const std::vector<Tensor>> results,
                                   std::span<const std::vector<Tensor>> references,
                                   std::size_t index, const TensorSpec* spec);

/// Some of the outputs: [begin, end).
struct OutputRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// A sentence on the first difference in the number of samples, of outputs, or in shape; absent
/// when there is none. Shapes are looked at in the range only, numbers always. The range lies
/// within the references.
std::optional<std::string> find_shape_difference(std::span<const std::vector<Tensor>> results,
                                                 std::span<const std::vector<Tensor>> references,
                                                 OutputRange range);

/// Every metric of level "output" that applies, by name, pooled over the samples: as if they were
/// one tensor. Class metrics only where the rank is 1 to 3 and the last axis has two or more
/// entries; step metrics only where the step is known. With bounds, error_bound_ratio too.
std::map<std::string, double> measure_output(const OutputValues& values);

/// Measures a control that takes the result's place.
std::map<std::string, double> measure_control(const OutputValues& values,
                                              std::span<const double> candidate);

/// Adds the metrics that compare the classes of an output with labels, one a row, and says whether
/// it did: an output that has no class metrics, another number of rows, or no class for one of the
/// labels gets none.
bool add_label_metrics(const OutputValues& values, std::span<const std::int64_t> labels,
                       std::map<std::string, double>& metrics);

}  // namespace assay
