#include "assay/engine/input_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <span>
#include <string>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

std::string text_of(Dtype dtype, std::span<const std::int64_t> shape) {
  return fmt::format("{} {}", name_of(dtype), text_from_shape(shape));
}

bool is_taken(const TensorSpec& spec, const TensorView& input) {
  const auto fits = [](std::int64_t taken, std::int64_t given) {
    return taken == given || taken == kUnboundDimension;
  };
  return input.dtype == spec.dtype && std::ranges::equal(spec.shape, input.shape, fits);
}

}  // namespace

std::string input_mismatch_text(std::size_t index, const TensorSpec& spec,
                                const TensorView& input) {
  const auto name = spec.name.empty() ? "" : fmt::format(" ('{}')", spec.name);
  return fmt::format("input {}{} is {}, the program takes {}", index, name,
                     text_of(input.dtype, input.shape), text_of(spec.dtype, spec.shape));
}

Status check_input_count(std::size_t given, std::size_t taken) {
  if (given == taken) [[likely]] {
    return {};
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{} inputs are given, the program takes {}", given, taken));
}

Status check_inputs(std::span<const TensorView> inputs, std::span<const TensorSpec> specs) {
  ASSAY_RETURN_IF_ERROR(check_input_count(inputs.size(), specs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_taken(specs[i], inputs[i])) [[unlikely]] {
      return fail(ErrorCode::kInvalidArgument, input_mismatch_text(i, specs[i], inputs[i]));
    }
  }
  return {};
}

}  // namespace assay
