#include "features/compare/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "assay/record/comparison.h"
#include "assay/record/launch.h"

namespace assay {
namespace {

using testing::HasSubstr;

Comparison with_look(ComparisonVerdict verdict, double ratio, double low, double high) {
  Comparison comparison{.a_label = "old", .b_label = "new", .plan = {.gate_ratio = 0.02}};
  comparison.verdict = verdict;
  comparison.looks = {{.pairs = 20, .ratio = ratio, .low = low, .high = high, .verdict = verdict}};
  comparison.metrics = {
      {.metric = "steady_floor_ns", .pairs = 20, .ratio = ratio, .low = low, .high = high}};
  return comparison;
}

TEST(Answer, NamesAChangeThatWasFoundAgain) {
  auto slower = with_look(ComparisonVerdict::kSlower, 0.05, 0.04, 0.063);
  slower.confirmation = {.pairs = 20, .ratio = 0.048};
  slower.is_confirmed = true;
  slower.metrics = {
      {.metric = "steady_floor_ns", .pairs = 40, .ratio = 0.049, .low = 0.043, .high = 0.055}};
  settle_verdict(slower, "");
  EXPECT_EQ(slower.verdict, ComparisonVerdict::kSlower);
  EXPECT_EQ(slower.metrics.front().verdict, ComparisonVerdict::kSlower);
  EXPECT_EQ(
      slower.text,
      "B takes 4.9 % more time than A [+4.3 %, +5.5 %], found on 20 pairs and again on 20 fresh "
      "ones");
}

TEST(Answer, SaysALargeChangeAsAFactorToo) {
  auto faster = with_look(ComparisonVerdict::kFaster, -0.449, -0.457, -0.441);
  faster.confirmation = {.pairs = 20, .ratio = -0.45};
  faster.is_confirmed = true;
  settle_verdict(faster, "");
  EXPECT_EQ(faster.text,
            "B takes 45 % less time than A [-45.7 %, -44.1 %]: 1.8 times as fast, found on 20 "
            "pairs and again on 20 fresh ones");
  auto slower = with_look(ComparisonVerdict::kSlower, 11.0, 10.5, 11.5);
  slower.is_confirmed = true;
  settle_verdict(slower, "");
  EXPECT_THAT(slower.text, HasSubstr("B takes 1100 % more time than A"));
  EXPECT_THAT(slower.text, HasSubstr(": 12 times as long, found"));
}

TEST(Answer, IsInconclusiveWhenAChangeIsNotFoundAgain) {
  auto slower = with_look(ComparisonVerdict::kSlower, 0.05, 0.04, 0.063);
  slower.confirmation = {.pairs = 20, .ratio = 0.004};
  settle_verdict(slower, "");
  EXPECT_EQ(slower.verdict, ComparisonVerdict::kInconclusive);
  EXPECT_THAT(slower.text, HasSubstr("on 20 pairs, but 0.40 % more on 20 fresh pairs"));
}

TEST(Answer, TrustsNothingOnceACopyOfADiffersFromA) {
  auto equal = with_look(ComparisonVerdict::kEquivalent, 0.001, -0.01, 0.01);
  equal.canary = {.pairs = 10, .ratio = -0.04, .verdict = ComparisonVerdict::kFaster};
  settle_verdict(equal, "");
  EXPECT_EQ(equal.verdict, ComparisonVerdict::kInconclusive);
  EXPECT_THAT(equal.text, HasSubstr("a copy of A took 4.0 % less time than A itself"));
}

TEST(Answer, TrustsNoPairsThatContradictEachOther) {
  auto slower = with_look(ComparisonVerdict::kSlower, 0.05, 0.04, 0.063);
  slower.is_confirmed = true;
  settle_verdict(slower, "the halves differ");
  EXPECT_EQ(slower.verdict, ComparisonVerdict::kInconclusive);
  EXPECT_THAT(slower.text, HasSubstr("the halves differ; run it again"));
}

TEST(Answer, TrustsNoMediansOfLaunchesThatNeverBecameSteady) {
  auto equal = with_look(ComparisonVerdict::kEquivalent, 0.001, -0.01, 0.01);
  equal.launches = 40;
  equal.launches_unsteady = 11;
  auto by_floor = equal;
  equal.plan.metric = "steady_ns";
  settle_verdict(equal, "");
  EXPECT_EQ(equal.verdict, ComparisonVerdict::kInconclusive);
  EXPECT_THAT(equal.text, HasSubstr("11 of 40 launches never became steady"));
  settle_verdict(by_floor, "");
  EXPECT_EQ(by_floor.verdict, ComparisonVerdict::kEquivalent);
}

TEST(Answer, StandsWhereUnsteadyLaunchesAreFarApart) {
  auto slower = with_look(ComparisonVerdict::kSlower, 2.27, 2.1, 2.5);
  slower.is_confirmed = true;
  slower.plan.metric = "steady_ns";
  slower.launches = 72;
  slower.launches_unsteady = 44;
  auto near = slower;
  settle_verdict(near, "", false);
  EXPECT_EQ(near.verdict, ComparisonVerdict::kInconclusive);
  auto unconfirmed = slower;
  unconfirmed.is_confirmed = false;
  settle_verdict(unconfirmed, "", true);
  EXPECT_EQ(unconfirmed.verdict, ComparisonVerdict::kInconclusive);
  auto equal = with_look(ComparisonVerdict::kEquivalent, 0.001, -0.01, 0.01);
  equal.plan.metric = "steady_ns";
  equal.launches = equal.launches_unsteady = 40;
  settle_verdict(equal, "", true);
  EXPECT_EQ(equal.verdict, ComparisonVerdict::kInconclusive) << "medians cannot be called equal";
  settle_verdict(slower, "", true);
  EXPECT_EQ(slower.verdict, ComparisonVerdict::kSlower);
  EXPECT_THAT(slower.text, HasSubstr("; 44 of 72 launches never became steady, but the fastest "
                                     "inferences of B take longer than nine in ten of A"));
}

TEST(Answer, AboutLoadingDoesNotWaitForSteadyInferences) {
  for (const auto* metric : {"load_ns", "first_ns"}) {
    auto equal = with_look(ComparisonVerdict::kEquivalent, 0.001, -0.01, 0.01);
    equal.plan.metric = metric;
    equal.launches = equal.launches_unsteady = 40;
    settle_verdict(equal, "");
    EXPECT_EQ(equal.verdict, ComparisonVerdict::kEquivalent) << metric;
  }
}

TEST(Answer, BoundsWhatADifferenceCanBe) {
  auto equal = with_look(ComparisonVerdict::kEquivalent, 0.001, -0.004, 0.007);
  settle_verdict(equal, "");
  EXPECT_EQ(equal.text,
            "no difference that matters: B takes 0.10 % more time than A [-0.40 %, +0.70 %]; a "
            "change of 4 % or more, twice what matters, is excluded (20 pairs)");
  auto less = with_look(ComparisonVerdict::kChangedLess, 0.008, 0.003, 0.012);
  settle_verdict(less, "");
  EXPECT_THAT(less.text, HasSubstr("below the 2 % that matter"));
}

TEST(Answer, TellsTheIntervalThatTheTableShows) {
  for (const auto verdict : {ComparisonVerdict::kEquivalent, ComparisonVerdict::kChangedLess,
                             ComparisonVerdict::kInconclusive}) {
    auto comparison = with_look(verdict, 0.005, -0.033, 0.035);
    comparison.metrics = {
        {.metric = "steady_floor_ns", .ratio = 0.004, .low = -0.01, .high = 0.02}};
    settle_verdict(comparison, "");
    EXPECT_THAT(comparison.text, HasSubstr("0.40 % more time than A [-1.0 %, +2.0 %]"));
    EXPECT_THAT(comparison.text, testing::Not(HasSubstr("3.3")));
  }
}

TEST(Answer, SaysHowManyMorePairsWouldTell) {
  auto open = with_look(ComparisonVerdict::kInconclusive, 0.01, -0.05, 0.07);
  open.pairs_needed = 90;
  settle_verdict(open, "");
  EXPECT_THAT(open.text, HasSubstr("about 70 more pairs would decide"));
  Comparison none;
  settle_verdict(none, "");
  EXPECT_THAT(none.text, HasSubstr("too few pairs"));
}

TEST(Answer, NamesTheSideThatFailed) {
  Launch launch;
  launch.outcome = Outcome::kCrashed;
  launch.text = "ended by SIGSEGV";
  launch.place = {.pair = 2, .side = Side::kB};
  EXPECT_EQ(text_of_failure({.a_label = "old", .b_label = "new"}, launch),
            "B (new) crashed in pair 3: ended by SIGSEGV");
}

}  // namespace
}  // namespace assay
