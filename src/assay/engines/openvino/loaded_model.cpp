#include "assay/engines/openvino/loaded_model.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <openvino/core/model.hpp>
#include <openvino/core/partial_shape.hpp>
#include <openvino/core/shape.hpp>
#include <openvino/runtime/core.hpp>
#include <openvino/runtime/infer_request.hpp>
#include <openvino/runtime/profiling_info.hpp>
#include <openvino/runtime/tensor.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/engine/input_check.h"
#include "assay/engines/openvino/engine_error.h"
#include "assay/engines/openvino/program_files.h"
#include "assay/engines/openvino/signature.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay::openvino {
namespace {

/// Runs one step of loading and notes what it took.
template <class Step>
auto timed(std::string_view name, std::vector<StageTime>& stages, Step step) {
  const auto start_ns = monotonic_ns();
  auto result = step();
  stages.push_back({std::string(name), monotonic_ns() - start_ns});
  return result;
}

Result<std::shared_ptr<ov::Model>> read_model(ov::Core& core, const ProgramFiles& files,
                                              const std::string& input_shapes) {
  const auto folder = files.entry.parent_path().string();
  ASSAY_ASSIGN_OR_RETURN(
      auto model,
      guarded(
          files.entry.string() + " cannot be read", ErrorCode::kCorrupt,
          [&] { return core.read_model(files.entry.string(), files.weights.string()); }, folder));
  if (!input_shapes.empty()) {
    ASSAY_RETURN_IF_ERROR(reshape_inputs(*model, input_shapes));
  }
  return model;
}

std::int64_t sum_bytes(const std::vector<ov::Tensor>& tensors) {
  std::int64_t bytes = 0;
  for (const auto& tensor : tensors) {
    bytes += static_cast<std::int64_t>(tensor.get_byte_size());
  }
  return bytes;
}

}  // namespace

Result<std::unique_ptr<LoadedModel>> LoadedModel::load(ov::Core& core, const ProgramFiles& files,
                                                       const CompileRequest& request,
                                                       std::vector<StageTime>& stages) {
  std::unique_ptr<LoadedModel> loaded(new LoadedModel());
  {
    ASSAY_ASSIGN_OR_RETURN(const auto model, timed("read_model", stages, [&] {
                             return read_model(core, files, request.input_shapes);
                           }));
    ASSAY_ASSIGN_OR_RETURN(
        loaded->compiled_, timed("compile_model", stages, [&] {
          return guarded(
              "the program does not compile for " + request.device, ErrorCode::kEngine,
              [&] { return core.compile_model(model, request.device, request.properties); });
        }));
  }
  ASSAY_RETURN_IF_ERROR(timed("infer_request", stages, [&] { return loaded->prepare(); }));
  return loaded;
}

Status LoadedModel::prepare() {
  ASSAY_ASSIGN_OR_RETURN(inputs_, specs_of(compiled_.inputs(), "input"));
  ASSAY_ASSIGN_OR_RETURN(outputs_, specs_of(compiled_.outputs(), "output"));
  for (const auto& output : outputs_) {
    output_views_.push_back({.dtype = output.dtype, .shape = output.shape, .data = {}});
  }
  ASSAY_ASSIGN_OR_RETURN(request_, guarded("no inference request", ErrorCode::kEngine,
                                           [this] { return compiled_.create_infer_request(); }));
  return {};
}

Status LoadedModel::bind(std::span<const TensorView> inputs) {
  ASSAY_RETURN_IF_ERROR(check_input_count(inputs.size(), inputs_.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(bind_one(i, inputs[i]));
  }
  return {};
}

Status LoadedModel::bind_one(std::size_t index, const TensorView& input) {
  const auto& spec = inputs_[index];
  const auto& takes = compiled_.inputs()[index].get_partial_shape();
  const ov::Shape shape(input.shape.begin(), input.shape.end());
  if (input.dtype != spec.dtype || !takes.compatible(shape)) [[unlikely]] {
    return fail(ErrorCode::kInvalidArgument, input_mismatch_text(index, spec, input));
  }
  return guarded("an input cannot be set", ErrorCode::kEngine, [&] {
    auto tensor = request_.get_input_tensor(index);
    if (takes.is_dynamic()) {
      tensor.set_shape(shape);
    }
    std::memcpy(tensor.data(), input.data.data(), input.data.size());
  });
}

Status LoadedModel::execute() {
  return guarded("execution failed", ErrorCode::kEngine, [this] { request_.infer(); });
}

Result<std::span<const TensorView>> LoadedModel::fetch() {
  return guarded("an output cannot be read", ErrorCode::kEngine, [this] {
    for (std::size_t i = 0; i < output_views_.size(); ++i) {
      const auto tensor = request_.get_output_tensor(i);
      const auto& shape = tensor.get_shape();
      output_views_[i].shape.assign(shape.begin(), shape.end());
      output_views_[i].data = {static_cast<const std::byte*>(tensor.data()),
                               tensor.get_byte_size()};
    }
    return std::span<const TensorView>(output_views_);
  });
}

Status LoadedModel::reset_state() {
  return guarded("the state cannot be reset", ErrorCode::kEngine,
                 [this] { request_.reset_state(); });
}

Result<std::vector<ov::ProfilingInfo>> LoadedModel::profiling_info() const {
  return guarded("no profile", ErrorCode::kEngine,
                 [this] { return request_.get_profiling_info(); });
}

std::vector<NamedBytes> LoadedModel::memory() {
  const auto told = guarded("", ErrorCode::kEngine, [this] {
    std::vector<ov::Tensor> inputs;
    std::vector<ov::Tensor> outputs;
    inputs.reserve(inputs_.size());
    outputs.reserve(outputs_.size());
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      inputs.push_back(request_.get_input_tensor(i));
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      outputs.push_back(request_.get_output_tensor(i));
    }
    return std::vector<NamedBytes>{{"input_tensors", sum_bytes(inputs)},
                                   {"output_tensors", sum_bytes(outputs)}};
  });
  return told ? *told : std::vector<NamedBytes>{};
}

}  // namespace assay::openvino
