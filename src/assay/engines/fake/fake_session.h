#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/engines/fake/fake_program.h"
#include "assay/engines/fake/helpers.h"
#include "assay/engines/fake/work.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay::fake {

/// Executes a FakeProgram. Has the extensions Profiler and MemoryReporter.
class FakeSession final : public Session, public Profiler, public MemoryReporter {
 public:
  FakeSession(FakeProgram program, LoadReport report, int slowdown);
  FakeSession(const FakeSession&) = delete;
  FakeSession& operator=(const FakeSession&) = delete;
  ~FakeSession() override;

  [[nodiscard]] const LoadReport& report() const override { return report_; }
  Status bind(std::span<const TensorView> inputs) override;
  Status execute() override;
  Result<std::span<const TensorView>> fetch() override;
  Status reset_state() override;
  void* find_extension(std::string_view tag) override;

  Status start() override;
  Result<ProfileReport> stop(int iterations) override;

  std::vector<NamedBytes> declared_memory() override { return program_.declared_memory; }

 private:
  Status misbehave_if_due();
  [[nodiscard]] std::int64_t warmup_work() const;
  void compute(Tensor& output);
  void apply_faults(const std::vector<Tensor>& before);

  FakeProgram program_;
  LoadReport report_;
  std::int64_t execute_ns_;
  Work work_;
  Helpers helpers_;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
  std::vector<TensorView> output_views_;
  std::minstd_rand random_;
  std::int64_t executes_ = 0;
  bool is_profiling_ = false;
  std::vector<ProfiledInference> profiled_;  ///< Executes while profiling, by the clock.
};

}  // namespace assay::fake
