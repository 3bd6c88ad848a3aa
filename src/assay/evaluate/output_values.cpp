#include "assay/evaluate/output_values.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/evaluate/error_bounds.h"
#include "assay/tensor/classification.h"
#include "assay/tensor/difference.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

Result<std::vector<double>> doubles_of(const Tensor& tensor, const TensorSpec* spec) {
  const bool is_stored_quantized =
      spec != nullptr && spec->quantization && !is_floating(tensor.dtype);
  if (is_stored_quantized) {
    return doubles_from_quantized(tensor.view(), *spec->quantization);
  }
  return doubles_from_tensor(tensor.view());
}

std::optional<double> step_of(const TensorSpec* spec) {
  const bool has_one_step =
      spec != nullptr && spec->quantization && spec->quantization->scales.size() == 1;
  return has_one_step && spec->quantization->scales.front() > 0
             ? std::optional(spec->quantization->scales.front())
             : std::nullopt;
}

/// Number of classes when the output reads as rows of scores; 0 otherwise.
std::int64_t classes_of(const OutputValues& values) {
  constexpr std::size_t kMaxRank = 3;
  const bool is_integer = !is_floating(values.dtype) && !values.is_quantized;
  if (values.shapes.empty() || is_integer) {
    return 0;
  }
  const auto last_axis = [](const Shape& shape) {
    return shape.empty() || shape.size() > kMaxRank ? 0 : shape.back();
  };
  const auto classes = last_axis(values.shapes.front());
  const bool is_uniform = std::ranges::all_of(
      values.shapes, [&](const Shape& shape) { return last_axis(shape) == classes; });
  return is_uniform && classes >= 2 ? classes : 0;
}

void add_class_metrics(const OutputValues& values, std::span<const double> candidate,
                       std::map<std::string, double>& metrics) {
  const auto classes = classes_of(values);
  if (classes == 0 || values.reference.empty()) {
    return;
  }
  const auto scores = classification_difference(candidate, values.reference, classes);
  metrics["cross_entropy"] = scores.cross_entropy;
  metrics["kl_divergence"] = scores.kl_divergence;
  metrics["top1_agreement"] = scores.top1_agreement;
  if (scores.top5_agreement) {
    metrics["top5_agreement"] = *scores.top5_agreement;
  }
}

template <class Stored>
void append_differences(const Tensor& result, const Tensor& reference, std::vector<double>& exact) {
  const auto number = [](const Tensor& tensor, std::size_t at) {
    Stored stored;
    std::memcpy(&stored, tensor.data.data() + at * sizeof(Stored), sizeof(Stored));
    return stored;
  };
  const auto count = std::min(result.data.size(), reference.data.size()) / sizeof(Stored);
  for (std::size_t i = 0; i < count; ++i) {
    const Stored a = number(result, i);
    const Stored b = number(reference, i);
    // The distance of two numbers of 64 bits fits into 64 bits, and its double is 0 for 0 only.
    const auto bits_a = static_cast<std::uint64_t>(a);
    const auto bits_b = static_cast<std::uint64_t>(b);
    exact.push_back(a < b ? -static_cast<double>(bits_b - bits_a)
                          : static_cast<double>(bits_a - bits_b));
  }
}

/// Fills `exact` for integers that stand for themselves and are too wide for doubles.
void gather_exact(const Tensor& result, const Tensor& reference, OutputValues& values) {
  if (result.dtype != reference.dtype || values.is_quantized) {
    return;
  }
  if (result.dtype == Dtype::kInt64) {
    append_differences<std::int64_t>(result, reference, values.exact);
  } else if (result.dtype == Dtype::kUInt64) {
    append_differences<std::uint64_t>(result, reference, values.exact);
  }
}

/// `exact`: the differences of the candidate, where doubles do not hold its elements.
std::map<std::string, double> measure(const OutputValues& values, std::span<const double> candidate,
                                      std::span<const double> exact) {
  const auto d = difference_between(candidate, values.reference, values.step, exact);
  std::map<std::string, double> metrics = {
      {"sqnr_db", d.sqnr_db},
      {"cosine_similarity", d.cosine_similarity},
      {"max_abs_error", d.max_abs},
      {"mean_abs_error", d.mean_abs},
      {"max_rel_error", d.max_rel},
      {"mean_rel_error", d.mean_rel},
      {"relative_l2_error", d.relative_l2},
      {"l2_error", d.l2},
      {"scaled_max_error", d.scaled_max},
      {"nan_count", static_cast<double>(d.nan_in_result)},
      {"inf_count", static_cast<double>(d.inf_in_result)},
  };
  if (d.max_steps && d.mean_steps) {
    metrics["max_step_error"] = *d.max_steps;
    metrics["mean_step_error"] = *d.mean_steps;
  }
  if (!values.bounds.empty()) {
    metrics["error_bound_ratio"] =
        bound_ratio_between(candidate, values.reference, values.bounds, exact).ratio;
  }
  add_class_metrics(values, candidate, metrics);
  return metrics;
}

}  // namespace

std::span<const double> OutputValues::reference_of(std::size_t sample) const {
  return std::span(reference).subspan(begin[sample], begin[sample + 1] - begin[sample]);
}

Result<OutputValues> gather_output(std::span<const std::vector<Tensor>> results,
                                   std::span<const std::vector<Tensor>> references,
                                   std::size_t index, const TensorSpec* spec) {
  OutputValues values{
      .name = spec == nullptr || spec->name.empty() ? fmt::format("{}", index) : spec->name,
      .dtype = results.front()[index].dtype,
      .is_quantized = spec != nullptr && spec->quantization.has_value(),
      .step = step_of(spec),
      .begin = {0}};
  const auto reference_dtype = references.front()[index].dtype;
  if (!is_floating(values.dtype) && is_floating(reference_dtype)) {
    values.dtype = reference_dtype;
  }
  for (std::size_t sample = 0; sample < results.size(); ++sample) {
    ASSAY_ASSIGN_OR_RETURN(const auto result, doubles_of(results[sample][index], spec));
    ASSAY_ASSIGN_OR_RETURN(const auto reference, doubles_of(references[sample][index], spec));
    values.shapes.push_back(references[sample][index].shape);
    values.result.insert(values.result.end(), result.begin(), result.end());
    values.reference.insert(values.reference.end(), reference.begin(), reference.end());
    values.begin.push_back(values.reference.size());
    gather_exact(results[sample][index], references[sample][index], values);
  }
  return values;
}

std::optional<std::string> find_shape_difference(std::span<const std::vector<Tensor>> results,
                                                 std::span<const std::vector<Tensor>> references,
                                                 OutputRange range) {
  if (results.size() != references.size()) {
    return fmt::format("{} samples came out, the reference has {}", results.size(),
                       references.size());
  }
  const auto outputs = references.empty() ? 0 : references.front().size();
  for (std::size_t sample = 0; sample < results.size(); ++sample) {
    const auto& got = results[sample];
    const auto& expected = references[sample];
    if (got.size() != outputs || expected.size() != outputs) {
      return fmt::format("sample {}: {} outputs came out, the reference has {}", sample, got.size(),
                         expected.size());
    }
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (got[i].shape != expected[i].shape) {
        return fmt::format("sample {}, output {}: the shape is {}, the reference has {}", sample,
                           i - range.begin, text_from_shape(got[i].shape),
                           text_from_shape(expected[i].shape));
      }
    }
  }
  return std::nullopt;
}

std::map<std::string, double> measure_output(const OutputValues& values) {
  return measure(values, values.result, values.exact);
}

std::map<std::string, double> measure_control(const OutputValues& values,
                                              std::span<const double> candidate) {
  return measure(values, candidate, {});
}

bool add_label_metrics(const OutputValues& values, std::span<const std::int64_t> labels,
                       std::map<std::string, double>& metrics) {
  const auto classes = classes_of(values);
  if (labels.empty() || classes == 0 ||
      values.result.size() != labels.size() * static_cast<std::size_t>(classes)) {
    return false;
  }
  const auto found = label_scores(values.result, classes, labels);
  const auto expected = label_scores(values.reference, classes, labels);
  if (!found || !expected) {
    return false;
  }
  metrics["top1_accuracy"] = found->top1_accuracy;
  metrics["reference_top1_accuracy"] = expected->top1_accuracy;
  metrics["log_loss"] = found->log_loss;
  metrics["expected_calibration_error"] = found->expected_calibration_error;
  return true;
}

}  // namespace assay
