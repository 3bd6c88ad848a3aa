#pragma once

#include <cstddef>
#include <memory>
#include <openvino/core/any.hpp>
#include <openvino/runtime/compiled_model.hpp>
#include <openvino/runtime/core.hpp>
#include <openvino/runtime/infer_request.hpp>
#include <openvino/runtime/profiling_info.hpp>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/engines/openvino/program_files.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay::openvino {

/// How to make one: everything but the files. `input_shapes`: as the option; empty: as they are.
struct CompileRequest {
  std::string device = "CPU";
  std::string input_shapes;
  ov::AnyMap properties;
};

/// A model compiled for a device, with one inference request. Outlived by the core.
class LoadedModel {
 public:
  /// Appends what each step took to `stages`. Errors: kCorrupt (it cannot be read), kUnsupported
  /// (an operator, type or property), kInvalidArgument (shapes), kExhausted, kEngine.
  static Result<std::unique_ptr<LoadedModel>> load(ov::Core& core, const ProgramFiles& files,
                                                   const CompileRequest& request,
                                                   std::vector<StageTime>& stages);

  /// Copies inputs into the request's own tensors. Errors: kInvalidArgument, naming both sides.
  Status bind(std::span<const TensorView> inputs);
  Status execute();
  /// Views of the request's output tensors, valid until the next execute.
  Result<std::span<const TensorView>> fetch();
  /// Forgets the values of state variables.
  Status reset_state();

  [[nodiscard]] const std::vector<TensorSpec>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<TensorSpec>& outputs() const { return outputs_; }
  [[nodiscard]] const ov::CompiledModel& compiled() const { return compiled_; }
  /// Profile of a model compiled with ov::enable_profiling.
  Result<std::vector<ov::ProfilingInfo>> profiling_info() const;
  /// Tensors of the request; the engine does not tell its weights and its scratch memory.
  std::vector<NamedBytes> memory();

 private:
  LoadedModel() = default;
  Status prepare();
  Status bind_one(std::size_t index, const TensorView& input);

  ov::CompiledModel compiled_;
  ov::InferRequest request_;
  std::vector<TensorSpec> inputs_;
  std::vector<TensorSpec> outputs_;
  std::vector<TensorView> output_views_;
};

}  // namespace assay::openvino
