#pragma once

#include <cstddef>
#include <cstdint>
#include <executorch/runtime/core/event_tracer.h>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "assay/record/launch.h"

namespace assay::et {

/// Collects the runtime's events of executions and reduces them by instruction and name.
///
/// Kinds: "method" (Method::execute), "operator" (one kernel call), "delegate" (one call of a
/// delegate), "delegate_operator" (what the delegate tells of its inside). The runtime nests
/// native_call_<kernel> in OPERATOR_CALL: the outer time is taken with the inner name, so that
/// operators and delegates add up to the method and nothing counts twice; delegate operators are
/// parts of their delegate. A delegate that tells times on the runtime's clock has its operators
/// placed by them, or one after the other where they lie outside of its call. Collects only between
/// start() and finish(). Not thread-safe: the runtime calls from the executing thread.
class ProfileTracer final : public ::executorch::runtime::EventTracer {
 public:
  ProfileTracer();

  void start();
  /// The events since start(), and their reduction. `delegate_name`: for delegate calls, which
  /// carry no name of their own.
  ProfileReport finish(int iterations, const std::string& delegate_name);

  void create_event_block(const char* /*name*/) override {}
  ::executorch::runtime::EventTracerEntry start_profiling(
      const char* name, ::executorch::runtime::ChainID chain_id,
      ::executorch::runtime::DebugHandle debug_handle) override;
  void end_profiling(::executorch::runtime::EventTracerEntry entry) override;
  ::executorch::runtime::EventTracerEntry start_profiling_delegate(
      const char* name, ::executorch::runtime::DelegateDebugIntId delegate_debug_index) override;
  void end_profiling_delegate(::executorch::runtime::EventTracerEntry entry, const void* metadata,
                              std::size_t metadata_len) override;
  void log_profiling_delegate(const char* name,
                              ::executorch::runtime::DelegateDebugIntId delegate_debug_index,
                              et_timestamp_t start_time, et_timestamp_t end_time,
                              const void* metadata, std::size_t metadata_len) override;

  // Nothing of memory or values is collected.
  void track_allocation(::executorch::runtime::AllocatorID /*id*/, std::size_t /*size*/) override {}
  ::executorch::runtime::AllocatorID track_allocator(const char* /*name*/) override { return 0; }
  ::executorch::runtime::Result<bool> log_evalue(
      const ::executorch::runtime::EValue& /*value*/,
      ::executorch::runtime::LoggedEValueType /*type*/) override {
    return true;
  }
  ::executorch::runtime::Result<bool> log_intermediate_output_delegate(
      const char* /*name*/, ::executorch::runtime::DelegateDebugIntId /*index*/,
      const ::executorch::aten::Tensor& /*output*/) override {
    return false;
  }
  ::executorch::runtime::Result<bool> log_intermediate_output_delegate(
      const char* /*name*/, ::executorch::runtime::DelegateDebugIntId /*index*/,
      ::executorch::runtime::ArrayRef<::executorch::aten::Tensor> /*output*/) override {
    return false;
  }
  ::executorch::runtime::Result<bool> log_intermediate_output_delegate(
      const char* /*name*/, ::executorch::runtime::DelegateDebugIntId /*index*/,
      const int& /*output*/) override {
    return false;
  }
  ::executorch::runtime::Result<bool> log_intermediate_output_delegate(
      const char* /*name*/, ::executorch::runtime::DelegateDebugIntId /*index*/,
      const bool& /*output*/) override {
    return false;
  }
  ::executorch::runtime::Result<bool> log_intermediate_output_delegate(
      const char* /*name*/, ::executorch::runtime::DelegateDebugIntId /*index*/,
      const double& /*output*/) override {
    return false;
  }
  void set_delegation_intermediate_output_filter(
      ::executorch::runtime::EventTracerFilterBase* /*filter*/) override {}

 private:
  static constexpr int kNoWord = -1;

  /// One event as it happened; names are interned.
  struct Event {
    int name = 0;
    int word = kNoWord;  ///< Stands before its number: "conv2d #3".
    int instruction = -1;
    bool is_of_delegate = false;
    bool is_told = false;  ///< The delegate reported the times itself, afterwards.
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };

  /// Events of one key are one entry of the report: instruction (the method's comes first), whether
  /// it is of a delegate, name, word.
  using Key = std::tuple<int, bool, int, int>;
  static Key key_of(const Event& event) {
    return {event.instruction, event.is_of_delegate, event.name, event.word};
  }

  int intern(std::string_view name);
  void note_word(Event& event, const void* metadata, std::size_t length);
  [[nodiscard]] int current_instruction() const;
  std::int64_t open_event(std::string_view name, int instruction, bool is_of_delegate);
  void close_event(std::int64_t id);
  void adopt_kernel_names();
  void place_delegate_operators();
  void add_spans(const std::map<Key, int>& indices, ProfileReport& report) const;
  void note_clocks();

  bool is_collecting_ = false;
  double ns_per_tick_ = 1;
  std::int64_t clock_offset_ns_ = 0;  ///< monotonic_ns() less the runtime's clock.
  std::vector<Event> events_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, int> name_ids_;
};

}  // namespace assay::et
