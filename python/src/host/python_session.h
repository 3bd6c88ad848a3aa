#pragma once

#include "host/python_call.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay::host {

/// A session that Python implements (assay.engines.Session). Powers: Profiler where it has
/// start_profile, MemoryReporter where it has declared_memory, and Upkeep: collects the cycles that
/// inferences leave, because Python's own collector is off in a runner.
///
/// Each call takes Python's lock, about 0.1 us while nobody else has it.
class PythonSession final : public Session, public Profiler, public MemoryReporter, public Upkeep {
 public:
  /// Needs the lock. Throws nb::python_error where `session` lacks a method.
  PythonSession(nb::object session, LoadReport report);
  PythonSession(const PythonSession&) = delete;
  PythonSession& operator=(const PythonSession&) = delete;
  /// Lets go of the Python session and collects the cycles that it was part of.
  ~PythonSession() override;

  [[nodiscard]] const LoadReport& report() const override { return report_; }
  Status bind(std::span<const TensorView> inputs) override;
  Status execute() override;
  Result<std::span<const TensorView>> fetch() override;
  Status reset_state() override;
  void* find_extension(std::string_view tag) override;

  Status start() override;
  Result<ProfileReport> stop(int iterations) override;
  std::vector<NamedBytes> declared_memory() override;
  void clear_up() override;

 private:
  struct Objects;
  [[nodiscard]] bool is_bound(std::span<const TensorView> inputs) const;
  Status make_arrays(std::span<const TensorView> inputs);

  LoadReport report_;
  std::unique_ptr<Objects> objects_;  ///< All that Python owns; touched with the lock held.
  std::vector<TensorView> bound_;     ///< What the arrays of the last bind are views of.
  std::vector<TensorView> outputs_;
  std::int64_t inferences_ = 0;  ///< So many were cleared up behind.
};

}  // namespace assay::host
