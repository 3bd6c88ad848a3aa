#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/engines/openvino/loaded_model.h"
#include "assay/engines/openvino/profile.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay::openvino {

/// A compiled model. Powers: Profiler, MemoryReporter.
///
/// The profiler works on a second compilation of the program, made at its first start: counting is
/// fixed when a model is compiled, and the one that is timed shall not count.
class OpenvinoSession final : public Session, public Profiler, public MemoryReporter {
 public:
  using Loader = std::function<Result<std::unique_ptr<LoadedModel>>()>;
  OpenvinoSession(std::unique_ptr<LoadedModel> model, LoadReport report, Loader load_profiled);

  [[nodiscard]] const LoadReport& report() const override { return report_; }
  Status bind(std::span<const TensorView> inputs) override { return active_->bind(inputs); }
  Status execute() override;
  Result<std::span<const TensorView>> fetch() override { return active_->fetch(); }
  Status reset_state() override { return active_->reset_state(); }
  void* find_extension(std::string_view tag) override;

  Status start() override;
  Result<ProfileReport> stop(int iterations) override;

  std::vector<NamedBytes> declared_memory() override { return model_->memory(); }

 private:
  Result<ProfileState> profile_state() const;

  std::unique_ptr<LoadedModel> model_;
  LoadReport report_;
  Loader load_profiled_;
  std::unique_ptr<LoadedModel> profiled_;
  LoadedModel* active_;
  bool is_profiling_ = false;
  int profiled_inferences_ = 0;  ///< Since `profiled_` was compiled.
  ProfileState before_;
  std::vector<ExecutedSpan> executed_;
};

}  // namespace assay::openvino
