#include "assay/engines/executorch/profile_tracer.h"

#include <cstddef>
#include <executorch/runtime/platform/platform.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/engine/session.h"
#include "assay/engines/executorch/runtime_log.h"

namespace assay::et {
namespace {

using ::executorch::runtime::kUnsetChainId;
using ::executorch::runtime::kUnsetDebugHandle;

class ProfileTracerTest : public testing::Test {
 protected:
  ProfileTracerTest() { capture_runtime_log(); }

  /// One operator call as the runtime tells it: the kernel nests in the call.
  void call_operator(::executorch::runtime::DebugHandle instruction, const std::string& kernel) {
    tracer_.set_chain_debug_handle(0, instruction);
    const auto outer = tracer_.start_profiling("OPERATOR_CALL", kUnsetChainId, kUnsetDebugHandle);
    const auto inner = tracer_.start_profiling(("native_call_" + kernel).c_str(), kUnsetChainId,
                                               kUnsetDebugHandle);
    tracer_.end_profiling(inner);
    tracer_.end_profiling(outer);
    tracer_.set_chain_debug_handle(kUnsetChainId, kUnsetDebugHandle);
  }

  ProfileTracer tracer_;
};

TEST_F(ProfileTracerTest, ReportsAKernelOnceWithTheTimeOfItsCall) {
  tracer_.start();
  call_operator(3, "add.out");
  call_operator(4, "add.out");
  call_operator(3, "add.out");
  const auto report = tracer_.finish(2, "delegate");
  ASSERT_EQ(report.events.size(), 2U);
  EXPECT_EQ(report.events[0].name, "add.out");
  EXPECT_EQ(report.events[0].kind, "operator");
  EXPECT_EQ(report.events[0].instruction, 3);
  EXPECT_EQ(report.events[0].count, 2);
  EXPECT_EQ(report.events[1].instruction, 4);
}

TEST_F(ProfileTracerTest, IgnoresWhatHappensBeforeStartAndAfterFinish) {
  call_operator(1, "mul.out");
  tracer_.start();
  const auto empty = tracer_.finish(1, "delegate");
  call_operator(1, "mul.out");
  EXPECT_TRUE(empty.events.empty());
  tracer_.start();
  EXPECT_TRUE(tracer_.finish(1, "delegate").events.empty());
}

TEST_F(ProfileTracerTest, TakesTheTimesThatADelegateTells) {
  tracer_.start();
  tracer_.set_chain_debug_handle(0, 7);
  for (const et_timestamp_t ticks : {10, 30, 20}) {
    tracer_.log_profiling_delegate("Convolution #1", -1, 1000, 1000 + ticks, nullptr, 0);
  }
  tracer_.log_profiling_delegate(nullptr, 5, 1000, 1001, nullptr, 0);
  const auto report = tracer_.finish(3, "delegate");
  ASSERT_EQ(report.events.size(), 2U);
  EXPECT_EQ(report.events[0].kind, "delegate_operator");
  EXPECT_EQ(report.events[0].instruction, 7);
  EXPECT_EQ(report.events[0].median_ns, 20);
  EXPECT_EQ(report.events[0].min_ns, 10);
  EXPECT_EQ(report.events[0].total_ns, 60);
  EXPECT_EQ(report.events[1].name, "#5");
}

TEST_F(ProfileTracerTest, TakesTheWordThatADelegateSaysBesideANumber) {
  constexpr std::string_view kWord = "conv2d";
  constexpr std::string_view kNoWord = "\x01\x02";
  tracer_.start();
  tracer_.set_chain_debug_handle(0, 7);
  for (const auto& [number, text] : {std::pair{3, kWord}, {4, kNoWord}, {5, std::string_view()}}) {
    const auto entry = tracer_.start_profiling_delegate(nullptr, number);
    tracer_.end_profiling_delegate(entry, text.data(), text.size());
  }
  const auto named = tracer_.start_profiling_delegate("Convolution #1", -1);
  tracer_.end_profiling_delegate(named, kWord.data(), kWord.size());
  tracer_.log_profiling_delegate(nullptr, 8, 1000, 1001, kWord.data(), kWord.size());
  std::vector<std::string> names;
  for (const auto& event : tracer_.finish(1, "delegate").events) {
    names.push_back(event.name);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"conv2d #3", "#4", "#5", "Convolution #1", "conv2d #8"}));
}

TEST_F(ProfileTracerTest, PlacesWhatADelegateTellsInsideItsCall) {
  const auto infer = [this](bool is_on_own_clock) {
    const auto method =
        tracer_.start_profiling("Method::execute", kUnsetChainId, kUnsetDebugHandle);
    tracer_.set_chain_debug_handle(0, 0);
    const auto call = tracer_.start_profiling("DELEGATE_CALL", kUnsetChainId, kUnsetDebugHandle);
    const auto now = ::executorch::runtime::pal_current_ticks();
    const auto start = is_on_own_clock ? 5 : now;
    tracer_.log_profiling_delegate("first", -1, start, start + 2, nullptr, 0);
    tracer_.log_profiling_delegate("second", -1, start + 2, start + 4, nullptr, 0);
    while (::executorch::runtime::pal_current_ticks() < now + 100'000) {
    }
    tracer_.end_profiling(call);
    tracer_.set_chain_debug_handle(kUnsetChainId, kUnsetDebugHandle);
    tracer_.end_profiling(method);
  };
  for (const bool is_on_own_clock : {false, true}) {
    tracer_.start();
    infer(is_on_own_clock);
    infer(is_on_own_clock);
    const auto report = tracer_.finish(2, "XnnpackBackend");
    ASSERT_EQ(report.spans.size(), 8U);
    for (std::size_t at = 0; at < 8; at += 4) {
      const auto& [call, first, second] =
          std::tie(report.spans[at + 1], report.spans[at + 2], report.spans[at + 3]);
      EXPECT_EQ(report.events[static_cast<std::size_t>(first.event)].name, "first");
      EXPECT_EQ(first.iteration, at == 0 ? 0 : 1);
      EXPECT_EQ(first.duration_ns, 2);
      EXPECT_GE(first.start_ns, call.start_ns);
      EXPECT_GE(second.start_ns, first.start_ns + first.duration_ns);
      EXPECT_LE(second.start_ns + second.duration_ns, call.start_ns + call.duration_ns);
    }
  }
}

TEST_F(ProfileTracerTest, KeepsSpansOfWholeInferencesOnly) {
  tracer_.start();
  for (int i = 0; i < Profiler::kMostSpanIterations + 2; ++i) {
    const auto method =
        tracer_.start_profiling("Method::execute", kUnsetChainId, kUnsetDebugHandle);
    call_operator(1, "mul.out");
    tracer_.end_profiling(method);
  }
  const auto report = tracer_.finish(Profiler::kMostSpanIterations + 2, "delegate");
  EXPECT_EQ(report.spans.size(), 2U * Profiler::kMostSpanIterations);
  EXPECT_EQ(report.spans.back().iteration, Profiler::kMostSpanIterations - 1);
  tracer_.start();
  const auto method = tracer_.start_profiling("Method::execute", kUnsetChainId, kUnsetDebugHandle);
  for (int i = 0; i < Profiler::kMostSpans; ++i) {
    call_operator(1, "mul.out");
  }
  tracer_.end_profiling(method);
  EXPECT_TRUE(tracer_.finish(1, "delegate").spans.empty());
}

TEST_F(ProfileTracerTest, NamesDelegateCallsAndTheMethod) {
  tracer_.start();
  const auto method = tracer_.start_profiling("Method::execute", kUnsetChainId, kUnsetDebugHandle);
  tracer_.set_chain_debug_handle(0, 0);
  const auto call = tracer_.start_profiling("DELEGATE_CALL", kUnsetChainId, kUnsetDebugHandle);
  tracer_.end_profiling(call);
  tracer_.set_chain_debug_handle(kUnsetChainId, kUnsetDebugHandle);
  tracer_.end_profiling(method);
  const auto report = tracer_.finish(1, "XnnpackBackend");
  ASSERT_EQ(report.events.size(), 2U);
  EXPECT_EQ(report.events[0].kind, "method");
  EXPECT_EQ(report.events[0].instruction, -1);
  EXPECT_GE(report.method_median_ns, report.events[1].median_ns);
  EXPECT_EQ(report.events[1].name, "XnnpackBackend");
  EXPECT_EQ(report.events[1].instruction, 0);
}

}  // namespace
}  // namespace assay::et
