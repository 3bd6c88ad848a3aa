// Comparisons on a scripted device: which launches are made, and what they decide.

#include "features/compare/compare.h"
#include "features/compare/comparison_request.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/testing/campaign_bench.h"
#include "assay/campaign/testing/scripted_device.h"
#include "assay/record/axes.h"
#include "assay/record/comparison.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr std::int64_t kBaseNs = 1'000'000;
constexpr std::size_t kBlockLaunches = 4;

/// Noise of about a thousandth that the number of the launch decides.
std::int64_t noise_ns(int launch) { return (launch * 7919 + launch * launch * 31) % 1009; }

bool is_canary(const LaunchRequest& request) {
  return request.artifact.folder.find("assay-compare") != std::string::npos;
}

/// Time of a launch as a multiple of kBaseNs, without its noise.
using SpeedOf = std::function<double(const LaunchRequest& request, int launch)>;

ScriptedDevice::Script timing(SpeedOf speed) {
  return
      [speed = std::move(speed)](const LaunchRequest& request, int launch) -> Result<LaunchResult> {
        const auto ns = static_cast<std::int64_t>(speed(request, launch) * kBaseNs);
        return timed_result(request, ns + noise_ns(launch));
      };
}

double side_b_is(double ratio, const LaunchRequest& request) {
  return program_of(request) == "b" ? ratio : 1;
}

struct ComparisonBench : CampaignBench {
  explicit ComparisonBench(ScriptedDevice::Script script) : CampaignBench(std::move(script)) {
    request = {.context = request_for({}).context, .a = add_program("a"), .b = add_program("b")};
  }

  Result<Comparison> run() { return run_comparison(request, plan, tools()); }

  std::vector<Launch> launches() { return launches_of_run(request.context.run.id); }

  ComparisonRequest request;
  ComparisonPlan plan;
};

TEST(ComparisonFlow, FindsASlowerSideAndFindsItAgainOnFreshPairs) {
  ComparisonBench bench(
      timing([](const LaunchRequest& request, int) { return side_b_is(1.1, request); }));
  const auto comparison = bench.run();
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_EQ(comparison->verdict, ComparisonVerdict::kSlower) << comparison->text;
  EXPECT_TRUE(comparison->is_confirmed);
  ASSERT_THAT(comparison->looks, SizeIs(1)) << "the first look decides";
  EXPECT_NEAR(comparison->looks[0].ratio, 0.1, 0.005);
  EXPECT_EQ(comparison->looks[0].pairs, 10);
  EXPECT_EQ(comparison->confirmation->pairs, 20);
  EXPECT_NE(bench.store->get_run(bench.request.context.run.id)->finished_unix_ns, 0);
}

/// A launch whose program tells "items" and no times.
Result<LaunchResult> told_result(const LaunchRequest& request, ProgramMetric metric) {
  auto result = timed_result(request, kBaseNs);
  result.launch.measurement->times = TimesTold::kNone;
  metric.name = "items";
  result.launch.measurement->metrics = {std::move(metric)};
  return result;
}

/// A comparison by the items that the sides tell, without a canary.
struct ItemsBench : ComparisonBench {
  explicit ItemsBench(ScriptedDevice::Script script) : ComparisonBench(std::move(script)) {
    plan.metric = "program:items";
    plan.has_canary = false;
  }
};

TEST(ComparisonFlow, KeepsItsVerdictWhereAFreshLaunchLacksTheMetric) {
  ItemsBench bench([](const LaunchRequest& request, int launch) -> Result<LaunchResult> {
    const double value = 1000 + launch % 7 + (program_of(request) == "b" ? 100 : 0);
    auto result = told_result(request, {.unit = "1/s", .better = Better::kHigher, .value = value});
    if (launch == 30) {  // One of the confirmation.
      result->launch.measurement->metrics.clear();
    }
    return result;
  });
  const auto comparison = bench.run();
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_EQ(comparison->verdict, ComparisonVerdict::kFaster) << comparison->text;
  EXPECT_EQ(comparison->confirmation->pairs, 19);
  EXPECT_EQ(comparison->pairs_without, 1);
}

TEST(ComparisonFlow, CannotTellWhereManyLaunchesLackTheMetric) {
  ItemsBench bench([](const LaunchRequest& request, int launch) -> Result<LaunchResult> {
    auto result = told_result(request, {.unit = "ns", .value = 1000.0 + launch % 7});
    if (launch % 5 == 0) {
      result->launch.measurement->metrics.clear();
    }
    return result;
  });
  const auto comparison = bench.run();
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_EQ(comparison->verdict, ComparisonVerdict::kInconclusive);
  EXPECT_THAT(comparison->text, HasSubstr("have a launch without program:items"));
}

TEST(ComparisonFlow, ComparesDifferencesWhereValuesAreZero) {
  ItemsBench bench([](const LaunchRequest& request, int launch) -> Result<LaunchResult> {
    const double value = program_of(request) == "b" ? 5 + launch % 2 : 0;
    return told_result(request, {.unit = "count", .better = Better::kLower, .value = value});
  });
  const auto comparison = bench.run();
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_EQ(comparison->verdict, ComparisonVerdict::kSlower) << comparison->text;
  EXPECT_EQ(comparison->looks.back().pairs, 10) << "no pair is left out";
  EXPECT_THAT(comparison->text, HasSubstr("more items than A"));
  EXPECT_THAT(comparison->text, Not(HasSubstr("%")));
  EXPECT_FALSE(is_relative(comparison->metrics.front()));
}

TEST(ComparisonFlow, LeavesNoPairOutThatHasAZero) {
  // A prints 0 in every second of its launches and 10 in the others, B always 10.
  std::map<std::string, int> launched;
  ItemsBench bench([&launched](const LaunchRequest& request, int) -> Result<LaunchResult> {
    const auto side = program_of(request);
    const double value = side == "a" && launched[side]++ % 2 == 0 ? 0 : 10;
    return told_result(request, {.unit = "count", .better = Better::kLower, .value = value});
  });
  const auto comparison = bench.run();
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_NE(comparison->verdict, ComparisonVerdict::kEquivalent) << comparison->text;
  EXPECT_EQ(comparison->looks.front().pairs, 10);
}

TEST(ComparisonFlow, RefusesAMetricWithoutABetterDirection) {
  ItemsBench bench([](const LaunchRequest& request, int) -> Result<LaunchResult> {
    const double value = program_of(request) == "b" ? 140 : 100;
    return told_result(request, {.unit = "count", .better = Better::kNone, .value = value});
  });
  const auto comparison = bench.run();
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_EQ(comparison->verdict, ComparisonVerdict::kInconclusive);
  EXPECT_THAT(comparison->text, HasSubstr("neither less nor more program:items is better"));
  EXPECT_THAT(bench.launches(), SizeIs(kBlockLaunches)) << "the first block tells";
  EXPECT_EQ(comparison->metrics.front().verdict, ComparisonVerdict::kInconclusive);
}

TEST(ComparisonFlow, RefusesAPlanThatMakesNoSense) {
  const std::vector<std::function<void(ComparisonPlan&)>> faults = {
      [](ComparisonPlan& plan) { plan.looks.clear(); },
      [](ComparisonPlan& plan) { plan.looks = {10, 10, 20, 40}; },
      [](ComparisonPlan& plan) { plan.alpha.pop_back(); },
      [](ComparisonPlan& plan) { plan.alpha.front() = 0; },
      [](ComparisonPlan& plan) { plan.gate_ratio = 0; },
      [](ComparisonPlan& plan) { plan.confirmation_pairs = 0; },
      [](ComparisonPlan& plan) { plan.confirmation_alpha = 0.5; }};
  for (const auto& spoil : faults) {
    ComparisonBench bench(timing([](const LaunchRequest&, int) { return 1.0; }));
    spoil(bench.plan);
    const auto comparison = bench.run();
    ASSERT_FALSE(comparison);
    EXPECT_EQ(comparison.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(bench.device.requests, IsEmpty());
  }
}

TEST(ComparisonFlow, LaunchesPairsInBlocksWithACanaryBesideA) {
  ComparisonBench bench(
      timing([](const LaunchRequest& request, int) { return side_b_is(1.1, request); }));
  ASSERT_TRUE(bench.run());
  std::map<int, std::string> blocks;
  for (const auto& launch : bench.launches()) {
    blocks[launch.place->block] += launch.place->side == Side::kA   ? "A"
                                   : launch.place->side == Side::kB ? "B"
                                                                    : "c";
  }
  EXPECT_THAT(blocks, SizeIs(15)) << "10 pairs of the search and 20 of the confirmation";
  std::set<std::string> orders;
  for (const auto& [block, order] : blocks) {
    std::string pairs = order;
    std::erase(pairs, 'c');
    EXPECT_EQ(order.size(), kBlockLaunches + 1) << order;
    EXPECT_TRUE(pairs == "ABBA" || pairs == "BAAB") << order;
    EXPECT_TRUE(order.find("cA") != std::string::npos || order.find("Ac") != std::string::npos);
    orders.insert(pairs);
  }
  EXPECT_THAT(orders, SizeIs(2)) << "a coin decides which side opens a block";
}

TEST(ComparisonFlow, DecidesNothingWhenTheCopyOfADiffersFromA) {
  ComparisonBench bench(timing([](const LaunchRequest& request, int) {
    return is_canary(request) ? 1.05 : side_b_is(1.1, request);
  }));
  const auto comparison = bench.run();
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_EQ(comparison->verdict, ComparisonVerdict::kInconclusive);
  ASSERT_TRUE(comparison->canary.has_value());
  EXPECT_NEAR(comparison->canary->ratio, 0.05, 0.005);
}

TEST(ComparisonFlow, TakesBackAChangeThatFreshPairsDoNotShow) {
  // The search takes 5 blocks of 5 launches; after them both sides are alike.
  ComparisonBench bench(timing([](const LaunchRequest& request, int launch) {
    return launch < 25 ? side_b_is(1.1, request) : 1;
  }));
  const auto comparison = bench.run();
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_EQ(comparison->looks.back().verdict, ComparisonVerdict::kSlower);
  EXPECT_FALSE(comparison->is_confirmed);
  EXPECT_EQ(comparison->verdict, ComparisonVerdict::kInconclusive);
}

TEST(ComparisonFlow, CallsEqualSidesEquivalentWithoutAConfirmation) {
  ComparisonBench bench(timing([](const LaunchRequest&, int) { return 1.0; }));
  const auto comparison = bench.run();
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_EQ(comparison->verdict, ComparisonVerdict::kEquivalent) << comparison->text;
  EXPECT_FALSE(comparison->confirmation.has_value());
}

TEST(ComparisonFlow, ReplacesAPairWhoseLaunchWasDisturbed) {
  ComparisonBench bench([](const LaunchRequest& request, int launch) -> Result<LaunchResult> {
    auto result = timed_result(request, kBaseNs + noise_ns(launch));
    if (launch == 1) {  // Half of the machine's time went to its host.
      result.launch.before.steal_ticks = 0;
      result.launch.before.total_ticks = 0;
      result.launch.after.steal_ticks = 50;
      result.launch.after.total_ticks = 100;
    }
    return result;
  });
  bench.plan.has_canary = false;
  bench.plan.looks = {10};
  bench.plan.alpha = {0.05};
  const auto comparison = bench.run();
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_EQ(comparison->pairs_disturbed, 1);
  EXPECT_THAT(comparison->replaced_pairs, ElementsAre(0));
  EXPECT_EQ(comparison->looks.back().pairs, 10);
  EXPECT_EQ(bench.launches().back().place->block, 5) << "a further block stands in for the pair";
}

TEST(ComparisonFlow, ReplacesNoMoreThanAFifthOfThePairs) {
  ComparisonBench bench([](const LaunchRequest& request, int launch) -> Result<LaunchResult> {
    auto result = timed_result(request, kBaseNs + noise_ns(launch));
    result.launch.before.cpu_pressure_avg10 = 90;
    return result;
  });
  bench.plan.looks = {10};
  bench.plan.alpha = {0.05};
  const auto comparison = bench.run();
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_THAT(comparison->replaced_pairs, SizeIs(2));
  EXPECT_EQ(comparison->pairs_disturbed, 12);
}

TEST(ComparisonFlow, EndsAtALaunchThatFailsAndSaysWhichSide) {
  ComparisonBench bench([](const LaunchRequest& request, int launch) -> Result<LaunchResult> {
    return program_of(request) == "b"
               ? failed_launch({Outcome::kCrashed, Stage::kSteady, "SIGSEGV", "ended by SIGSEGV"})
               : timed_result(request, kBaseNs + noise_ns(launch));
  });
  const auto comparison = bench.run();
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_EQ(comparison->verdict, ComparisonVerdict::kInconclusive);
  EXPECT_THAT(comparison->text, HasSubstr("ended by SIGSEGV"));
  EXPECT_EQ(bench.launches().back().outcome, Outcome::kCrashed);
  EXPECT_LE(bench.device.requests.size(), 3U);
}

TEST(ComparisonFlow, GoesOnWithThePairsOfAnInterruptedRun) {
  const auto speed = [](const LaunchRequest& request, int) { return side_b_is(1.1, request); };
  ComparisonBench bench(timing(speed));
  bench.listener.stop_after = 12;  // In the third block.
  const auto stopped = bench.run();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(bench.launches(), SizeIs(12));

  bench.listener.stop_after = -1;
  bench.request.context.is_resumed = true;
  bench.plan = {.looks = {40}, .alpha = {0.05}};  // Not looked at: the run has its own.
  const auto comparison = bench.run();
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_EQ(comparison->verdict, ComparisonVerdict::kSlower);
  EXPECT_EQ(comparison->looks[0].pairs, 10);
  std::set<std::pair<int, Side>> places;
  for (const auto& launch : bench.launches()) {
    EXPECT_TRUE(places.insert({launch.place->pair, launch.place->side}).second ||
                launch.place->side == Side::kCanary)
        << "launched twice: pair " << launch.place->pair;
  }
}

TEST(ComparisonFlow, RunsTheTwoOfADuetOnTargetsOfTheirOwn) {
  ComparisonBench bench(
      timing([](const LaunchRequest& request, int) { return side_b_is(1.1, request); }));
  bench.request.a.options = bench.request.b.options = {{"threads", 2}};
  bench.plan.tries_duet = true;
  const auto comparison = bench.run();
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_TRUE(comparison->pilot.has_value());
  EXPECT_EQ(bench.device.connections, 2);
  for (const auto& launch : bench.launches()) {
    if (launch.place->pairing == Pairing::kDuet) {
      EXPECT_THAT(launch.place->cpus, SizeIs(2));
    }
  }
}

TEST(ComparisonFlow, RefusesADuetWithoutCoresForBoth) {
  ComparisonBench bench(timing([](const LaunchRequest&, int) { return 1.0; }));
  bench.request.a.options = bench.request.b.options = {{"threads", 3}};
  bench.plan.tries_duet = true;
  const auto comparison = bench.run();
  ASSERT_FALSE(comparison);
  EXPECT_EQ(comparison.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(bench.device.requests, IsEmpty());
}

}  // namespace
}  // namespace assay
