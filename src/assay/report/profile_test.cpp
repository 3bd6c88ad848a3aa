#include "assay/report/profile.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/summary.h"
#include "assay/report/trace.h"

namespace assay::report {
namespace {

using testing::HasSubstr;
using testing::Not;

ProfileBreakdown breakdown() {
  ProfileBreakdown result{.label = "m r threads=1",
                          .method_ns = 2e6,
                          .iterations = 30,
                          .outside_ns = 0.1e6,
                          .execute_ns = 2.2e6,
                          .timed_ns = 2e6,
                          .timed_launches = 3,
                          .slowdown_ratio = 1.1,
                          .floor_slowdown_ratio = 1.02,
                          .counted_iterations = 30};
  result.parts = {{.name = "conv",
                   .kind = "operator",
                   .family = "convolution",
                   .calls = 1,
                   .time_ns = 1.5e6,
                   .mean_ns = 1.6e6,
                   .min_ns = 1.4e6,
                   .share_ratio = 0.75},
                  {.name = "add",
                   .kind = "operator",
                   .family = "arithmetic",
                   .calls = 2,
                   .time_ns = 0.4e6,
                   .share_ratio = 0.2},
                  {.name = "outside any operator",
                   .kind = "rest",
                   .family = "rest",
                   .time_ns = 0.1e6,
                   .share_ratio = 0.05}};
  result.families = {{.name = "convolution", .calls = 1, .time_ns = 1.5e6, .share_ratio = 0.75}};
  result.places = {{.name = "outside any operator", .time_ns = 0.1e6, .share_ratio = 0.05}};
  result.counters = {{.name = "page-faults", .value = 60, .running_ratio = 1},
                     {.name = "instructions", .unavailable = "no such counter"},
                     {.name = "cycles", .unavailable = "no such counter"}};
  return result;
}

TEST(ProfileText, ShowsASmallProgramInItsUnit) {
  auto small = breakdown();
  small.method_ns = 28'000;
  small.outside_ns = 420;
  small.parts = {{.name = "conv", .kind = "operator", .calls = 1, .time_ns = 1'940}};
  const auto text = console_from_breakdown(small, 10, 200, false);
  EXPECT_THAT(text, HasSubstr("the method takes 28 µs; 0.420 µs (1.5 %) of it outside"));
  EXPECT_THAT(text, HasSubstr(" 1.940 "));
  EXPECT_THAT(text, HasSubstr("µs a call"));
}

TEST(ProfileText, TellsTheSlowdownWithBothCounts) {
  const auto text = console_from_breakdown(breakdown(), 10, 200, false);
  EXPECT_THAT(
      text,
      HasSubstr("2.20 ms a profiled inference (30 in one launch), 2 ms a timed "
                "one (3 launches): the profiler's slow-down is 1.100, 1.020 by their floors"));
  EXPECT_THAT(text, HasSubstr("0.100 ms (5.0 %) of it outside any operator"));
}

TEST(ProfileText, TellsNoSlowdownWhereThereIsNone) {
  auto apart = breakdown();
  apart.slowdown_ratio.reset();
  apart.floor_slowdown_ratio.reset();
  const auto text = console_from_breakdown(apart, 10, 200, false);
  EXPECT_THAT(text, HasSubstr("2 ms a timed one (3 launches)\n"));
  EXPECT_THAT(text, Not(HasSubstr("slow-down")));
  apart.timed_ns.reset();
  EXPECT_THAT(console_from_breakdown(apart, 10, 200, false), HasSubstr("there is no timed pass"));
}

TEST(ProfileText, ShowsTheLongestAndSaysHowMuchTheOthersTake) {
  const auto text = console_from_breakdown(breakdown(), 1, 120, false);
  EXPECT_THAT(text, HasSubstr("2 more: 0.500 ms, 25.0 %"));
  EXPECT_THAT(text, Not(HasSubstr("arithmetic")));
}

TEST(ProfileText, CountsPerInferenceAndGivesEachReasonOnce) {
  const auto text = console_from_breakdown(breakdown(), 10, 120, false);
  EXPECT_THAT(text, HasSubstr("page-faults: 2 an inference"));
  EXPECT_THAT(text, HasSubstr("instructions, cycles: unavailable: no such counter"));
}

TEST(ProfileText, ShowsADifferenceWithWhatItExplainsAndDoesNotDecide) {
  ProfileDifference difference{
      .a_label = "a", .b_label = "b", .a_ns = 1e6, .b_ns = 3e6, .difference_ns = 2e6};
  difference.parts = {{.name = "conv #1",
                       .a_ns = 1e6,
                       .b_ns = 2.5e6,
                       .difference_ns = 1.5e6,
                       .share_ratio = 0.75,
                       .cumulative_ratio = 0.75,
                       .a_calls = 1,
                       .b_calls = 1},
                      {.name = "add #1",
                       .a_ns = std::nullopt,
                       .b_ns = 0.5e6,
                       .difference_ns = 0.5e6,
                       .share_ratio = 0.25,
                       .cumulative_ratio = 1,
                       .b_calls = 1}};
  difference.delegation = {
      {.name = "aten.add.Tensor", .text = "aten.add.Tensor left the delegate"}};
  const auto text = console_from_difference(difference, 10, 120, false);
  EXPECT_THAT(text, HasSubstr("under the profiler: +2.000 ms. This says where"));
  difference.a_timed_ns = 0.9e6;
  difference.b_timed_ns = 2.8e6;
  EXPECT_THAT(console_from_difference(difference, 10, 200, false),
              HasSubstr("and +1.900 ms without it (2.800 and 0.900)"));
  EXPECT_THAT(text, HasSubstr("aten.add.Tensor left the delegate"));
  EXPECT_THAT(text, testing::ContainsRegex("conv #1 +1 +1.000 +2.500 +\\+1.500 +75.0 +75.0"));
  EXPECT_THAT(text, testing::ContainsRegex("add #1 +0 -> 1 +– +0.500 +\\+0.500 +25.0 +100.0"));
}

TEST(ProfileText, SaysWhyThereAreNoInstructions) {
  EXPECT_THAT(
      console_from_instructions({.unavailable = "valgrind is not installed"}, 5, 120, false),
      HasSubstr("instructions: unavailable: valgrind is not installed"));
}

/// Two inferences: a method with an operator and a delegate with two operators.
CaseSummary case_with_spans() {
  CaseSummary summary{.label = "m r"};
  summary.profile =
      ProfileReport{.events = {{.name = "Method::execute", .kind = "method"},
                               {.name = "copy", .kind = "operator", .instruction = 0},
                               {.name = "X", .kind = "delegate", .instruction = 1},
                               {.name = "conv", .kind = "delegate_operator", .instruction = 1},
                               {.name = "add", .kind = "delegate_operator", .instruction = 1}}};
  for (int i = 0; i < 2; ++i) {
    const std::int64_t at = i * 100'000;
    auto& profile = *summary.profile;
    profile.inferences.push_back(
        {.start_ns = at, .times = {.bind_ns = 1001, .execute_ns = 50'003, .fetch_ns = 7}});
    profile.spans.insert(profile.spans.end(), {{0, i, at + 1100, 49'000},
                                               {1, i, at + 1200, 900},
                                               {2, i, at + 2100, 47'000},
                                               {3, i, at + 2200, 30'001},
                                               {4, i, at + 32'201, 10'000}});
  }
  return summary;
}

struct Interval {
  double start = 0;
  double end = 0;
};

/// Times are decimal fractions of microseconds.
constexpr double kRounding = 1e-6;

bool is_within(const Interval& inner, const std::vector<Interval>& outer) {
  return std::ranges::any_of(outer, [&](const Interval& one) {
    return inner.start >= one.start - kRounding && inner.end <= one.end + kRounding;
  });
}

TEST(Trace, NestsEachTrackInTheOneAboveWithoutOverlap) {
  const auto trace = Json::parse(trace_from_cases({case_with_spans()}));
  std::map<std::pair<int, std::string>, std::vector<Interval>> by_track;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") == "X") {
      const double start = event.at("ts");
      by_track[{event.at("tid"), event.at("cat")}].push_back(
          {start, start + event.at("dur").get<double>()});
    }
  }
  const std::vector<std::pair<int, std::string>> chain = {
      {1, "inference"}, {1, "phase"}, {2, "method"}, {3, "delegate"}, {4, "delegate_operator"}};
  for (std::size_t i = 1; i < chain.size(); ++i) {
    ASSERT_FALSE(by_track[chain[i]].empty());
    for (const auto& inner : by_track[chain[i]]) {
      EXPECT_TRUE(is_within(inner, by_track[chain[i - 1]])) << chain[i].second;
    }
  }
  for (auto& [track, intervals] : by_track) {
    std::ranges::sort(intervals, {}, &Interval::start);
    for (std::size_t i = 1; i < intervals.size(); ++i) {
      EXPECT_GE(intervals[i].start, intervals[i - 1].end - kRounding) << track.second;
    }
  }
}

TEST(Trace, NamesProcessesAndTracksAndLeavesOutCasesWithoutSpans) {
  CaseSummary without{.label = "nothing"};
  const auto trace = Json::parse(trace_from_cases({without, case_with_spans(), case_with_spans()}));
  std::vector<std::string> processes;
  std::vector<std::string> tracks;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("name") == "process_name") {
      processes.push_back(event.at("args").at("name"));
    } else if (event.at("name") == "thread_name" && event.at("pid") == 1) {
      tracks.push_back(event.at("args").at("name"));
    }
  }
  EXPECT_THAT(processes, testing::ElementsAre("m r", "m r"));
  EXPECT_THAT(tracks, testing::ElementsAre("inferences", "method", "operators and delegates",
                                           "inside delegates"));
  EXPECT_TRUE(Json::parse(trace_from_cases({})).at("traceEvents").empty());
}

}  // namespace
}  // namespace assay::report
