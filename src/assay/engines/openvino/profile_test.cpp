#include "assay/engines/openvino/profile.h"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "assay/engine/session.h"

namespace assay::openvino {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

ov::ProfilingInfo info(std::string type, std::string kernel, int mean_us) {
  ov::ProfilingInfo info;
  info.node_type = std::move(type);
  info.exec_type = std::move(kernel);
  info.real_time = std::chrono::microseconds(mean_us);
  return info;
}

const std::vector<ExecutedSpan> kThree = {{100, 30}, {200, 10}, {300, 20}};

TEST(OpenvinoProfile, TakesTheTimeBetweenTwoStates) {
  // Ten inferences of 50 us at first, then three of 20 us: a mean of 43.07 over thirteen, told 43.
  const ProfileState before{{info("Convolution", "brgconv_avx512_I8", 50)}, 10};
  const ProfileState after{{info("Convolution", "brgconv_avx512_i8", 43)}, 13};
  const auto report = profile_between(before, after, kThree);
  ASSERT_THAT(report.events, SizeIs(2));
  EXPECT_EQ(report.events[1].name, "Convolution (I8) brgconv_avx512");
  EXPECT_EQ(report.events[1].kind, "operator");
  EXPECT_EQ(report.events[1].count, 3);
  EXPECT_EQ(report.events[1].total_ns, (43 * 13 - 50 * 10) * 1000);
  EXPECT_EQ(report.events[1].median_ns, report.events[1].total_ns / 3);
}

TEST(OpenvinoProfile, ReducesTheMethodFromItsSpans) {
  const auto report = profile_between({}, {}, kThree);
  ASSERT_THAT(report.events, SizeIs(1));
  EXPECT_EQ(report.events[0].kind, "method");
  EXPECT_EQ(report.events[0].total_ns, 60);
  EXPECT_EQ(report.events[0].min_ns, 10);
  EXPECT_EQ(report.method_median_ns, 20);
  ASSERT_THAT(report.spans, SizeIs(3));
  EXPECT_EQ(report.spans[2].start_ns, 300);
}

TEST(OpenvinoProfile, CountsOperatorsWithoutTime) {
  const ProfileState after{
      {info("Relu", "undef", 0), info("MatMul", "gemm", 4), info("Reorder", "jit_f32", 0)}, 3};
  const auto report = profile_between({}, after, kThree);
  ASSERT_THAT(report.events, SizeIs(2));
  EXPECT_EQ(report.events[1].name, "MatMul gemm");
  EXPECT_EQ(report.events[1].instruction, 1);
  EXPECT_THAT(report.notes,
              Contains(HasSubstr("of 3 operators 1 are fused into others, and 1 took")));
}

TEST(OpenvinoProfile, NeverTellsANegativeTime) {
  const ProfileState before{{info("MatMul", "gemm", 9)}, 10};
  const ProfileState after{{info("MatMul", "gemm", 6)}, 13};
  EXPECT_THAT(profile_between(before, after, kThree).events, SizeIs(1));
}

TEST(OpenvinoProfile, KeepsSpansOfAFewInferencesOnly) {
  const std::vector<ExecutedSpan> many(50, {1, 1});
  EXPECT_THAT(profile_between({}, {}, many).spans, SizeIs(Profiler::kMostSpanIterations));
}

TEST(OpenvinoProfile, StandsWithoutAnyInference) {
  const ProfileState after{{info("MatMul", "gemm", 4)}, 3};
  EXPECT_THAT(profile_between(after, after, {}).events, SizeIs(1));
}

}  // namespace
}  // namespace assay::openvino
