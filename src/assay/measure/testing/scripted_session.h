#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <time.h>

#include "assay/base/clock.h"
#include "assay/engine/session.h"

namespace assay {

/// A session for tests that writes down what is called and fails on order.
class ScriptedSession : public Session, public Profiler, public MemoryReporter {
 public:
  std::vector<std::string> calls;
  int executes = 0;
  int fail_at_execute = -1;     ///< The n-th execute fails, from 1.
  std::int64_t execute_ns = 0;  ///< Spins.
  bool has_extensions = false;
  bool* is_destroyed = nullptr;
  int* execute_counter = nullptr;  ///< Counts over several sessions.
  LoadReport load_report;

  ScriptedSession() = default;
  ScriptedSession(const ScriptedSession&) = delete;
  ScriptedSession& operator=(const ScriptedSession&) = delete;
  ~ScriptedSession() override {
    if (is_destroyed != nullptr) {
      *is_destroyed = true;
    }
  }

  [[nodiscard]] const LoadReport& report() const override { return load_report; }
  Status bind(std::span<const TensorView> /*inputs*/) override {
    write_down("bind");
    return {};
  }
  Status execute() override {
    write_down("execute");
    const std::int64_t end_ns = monotonic_ns() + execute_ns;
    while (execute_ns > 0 && monotonic_ns() < end_ns) {
    }
    *(execute_counter == nullptr ? &discarded_ : execute_counter) += 1;
    if (++executes == fail_at_execute) {
      return fail(ErrorCode::kEngine, "scripted failure");
    }
    return {};
  }
  Result<std::span<const TensorView>> fetch() override {
    write_down("fetch");
    return std::span<const TensorView>{};
  }
  Status reset_state() override { return {}; }
  void* find_extension(std::string_view tag) override {
    if (!has_extensions) {
      return nullptr;
    }
    if (tag == Profiler::kTag) {
      return static_cast<Profiler*>(this);
    }
    return tag == MemoryReporter::kTag ? static_cast<MemoryReporter*>(this) : nullptr;
  }

  Status start() override {
    write_down("start");
    return {};
  }
  Result<ProfileReport> stop(int iterations) override {
    write_down("stop");
    return ProfileReport{.iterations = iterations};
  }
  std::vector<NamedBytes> declared_memory() override { return {{"arena", 100}, {"method", 20}}; }

 private:
  int discarded_ = 0;
  static constexpr std::size_t kMostCalls = 1000;
  void write_down(std::string_view call) {
    if (calls.size() < kMostCalls) {
      calls.emplace_back(call);
    }
  }
};

}  // namespace assay
