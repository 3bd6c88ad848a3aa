#include "assay/evaluate/output_types.h"

#include <cstddef>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/evaluate/output_values.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

bool is_integer(Dtype dtype) { return !is_floating(dtype) && dtype != Dtype::kBool; }

bool is_same_class(Dtype a, Dtype b) {
  return is_floating(a) == is_floating(b) && is_integer(a) == is_integer(b);
}

/// The type that the model gives: the reference's, unless that is wider.
Dtype wanted_type(Dtype reference, std::size_t output, const TypeRules& rules) {
  return output < rules.own.size() ? rules.own[output].value_or(reference) : reference;
}

bool is_right_type(Dtype result, Dtype wanted, bool is_quantized, const TypeRules& rules) {
  const bool is_cast = rules.cast && result == *rules.cast && wanted == Dtype::kFloat32;
  const bool is_stored = is_quantized && is_integer(result) && is_floating(wanted);
  return result == wanted || is_cast || is_stored ||
         (rules.is_any_width && is_same_class(result, wanted));
}

}  // namespace

std::optional<std::string> find_type_difference(std::span<const std::vector<Tensor>> results,
                                                std::span<const std::vector<Tensor>> references,
                                                OutputRange range, const TypeRules& rules,
                                                std::span<const TensorSpec> specs) {
  for (std::size_t sample = 0; sample < results.size(); ++sample) {
    for (auto i = range.begin; i < range.end; ++i) {
      const auto result = results[sample][i].dtype;
      const auto wanted = wanted_type(references[sample][i].dtype, i, rules);
      const bool is_quantized = i < specs.size() && specs[i].quantization.has_value();
      if (!is_right_type(result, wanted, is_quantized, rules)) {
        return fmt::format("sample {}, output {}: the type is {}, the reference has {}", sample,
                           i - range.begin, name_of(result), name_of(wanted));
      }
    }
  }
  return std::nullopt;
}

}  // namespace assay
