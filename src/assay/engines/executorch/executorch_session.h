#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/engines/executorch/loaded_method.h"
#include "assay/engines/executorch/loaded_program.h"
#include "assay/engines/executorch/profile_tracer.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay::et {

/// A method of a program, loaded. Powers: Profiler, MemoryReporter.
///
/// The profiler works on a second copy of the method, loaded at its first start: a tracer can only
/// be given at load, and the copy that is timed shall not carry one.
class ExecutorchSession final : public Session, public Profiler, public MemoryReporter {
 public:
  struct Parts {
    std::unique_ptr<LoadedProgram> program;
    std::unique_ptr<LoadedMethod> method;
    std::string method_name;
    std::filesystem::path etdump;  ///< Empty: none.
    LoadReport report;
  };
  explicit ExecutorchSession(Parts parts);

  [[nodiscard]] const LoadReport& report() const override { return parts_.report; }
  Status bind(std::span<const TensorView> inputs) override;
  Status execute() override { return active_->execute(); }
  Result<std::span<const TensorView>> fetch() override { return active_->fetch(); }
  /// Loads the method again: its mutable buffers are as in the program.
  Status reset_state() override;
  void* find_extension(std::string_view tag) override;

  Status start() override;
  Result<ProfileReport> stop(int iterations) override;

  std::vector<NamedBytes> declared_memory() override;

 private:
  Result<std::unique_ptr<LoadedMethod>> load_method(::executorch::runtime::EventTracer* tracer);
  Status write_etdump();

  Parts parts_;
  ProfileTracer tracer_;
  std::unique_ptr<LoadedMethod> traced_method_;
  LoadedMethod* active_;
  std::span<const TensorView> last_inputs_;
};

}  // namespace assay::et
