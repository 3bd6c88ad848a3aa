#include "assay/engines/executorch/io_quantization.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/engines/executorch/loaded_method.h"
#include "assay/engines/executorch/loaded_program.h"
#include "assay/engines/executorch/runtime_error.h"
#include "assay/engines/executorch/signature.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay::et {
namespace {

/// The number that a method without inputs returns.
Result<double> number_of(const LoadedProgram& program, const std::string& name) {
  const auto meta = program.program().method_meta(name.c_str());
  if (!meta.ok()) {
    return fail_with_runtime_error(name, meta.error());
  }
  ASSAY_ASSIGN_OR_RETURN(const auto outputs, outputs_of(*meta));
  ASSAY_ASSIGN_OR_RETURN(const auto method,
                         LoadedMethod::load(program, name, {}, outputs, nullptr));
  ASSAY_RETURN_IF_ERROR(method->execute());
  ASSAY_ASSIGN_OR_RETURN(const auto views, method->fetch());
  const auto values = views.empty() ? std::vector<double>() : doubles_from_tensor(views.front());
  if (values.size() != 1) {
    return fail(ErrorCode::kCorrupt, fmt::format("method '{}' returns no number", name));
  }
  return values.front();
}

}  // namespace

Status add_quantization(const LoadedProgram& program, std::string_view method,
                        std::string_view side, std::vector<TensorSpec>& specs) {
  const auto known = program.method_names();
  const std::string prefix = method == "forward" ? "" : fmt::format("{}_", method);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const auto scale_name = fmt::format("{}{}{}_scale", prefix, side, i);
    const auto zero_point_name = fmt::format("{}{}{}_zp", prefix, side, i);
    const auto is_known = [&](const std::string& name) {
      return std::ranges::find(known, name) != known.end();
    };
    if (is_floating(specs[i].dtype) || !is_known(scale_name) || !is_known(zero_point_name)) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const double scale, number_of(program, scale_name));
    ASSAY_ASSIGN_OR_RETURN(const double zero_point, number_of(program, zero_point_name));
    specs[i].quantization =
        Quantization{.scales = {scale}, .zero_points = {static_cast<std::int64_t>(zero_point)}};
  }
  return {};
}

}  // namespace assay::et
