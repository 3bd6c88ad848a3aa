#include "assay/record/profile.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/summary.h"
#include "assay/summary/operator_family.h"
#include "assay/summary/profile_breakdown.h"
#include "assay/summary/profile_difference.h"
#include "assay/summary/profile_layers.h"

namespace assay {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

ProfileEvent event(std::string name, std::string kind, int instruction, std::int64_t median_ns,
                   std::int64_t count = 10) {
  return {.name = std::move(name),
          .kind = std::move(kind),
          .instruction = instruction,
          .count = count,
          .total_ns = (median_ns + 1) * count,
          .min_ns = median_ns - 1,
          .median_ns = median_ns};
}

/// 10 inferences of 1000 ns: a delegate of 700 with operators of 400 and 200, a copy, called twice
/// in each inference, of 50.
CaseSummary delegated_case() {
  CaseSummary summary{.label = "delegated"};
  summary.profile = ProfileReport{
      .iterations = 10,
      .events = {event("Method::execute", "method", -1, 1000),
                 event("_to_copy.out", "operator", 0, 50, 20), event("X", "delegate", 1, 700),
                 event("Convolution (NHWC, F32) GEMM #1", "delegate_operator", 1, 400),
                 event("Add (ND) #1", "delegate_operator", 1, 200)},
      .method_median_ns = 1000,
      .execute_median_ns = 1100};
  summary.metrics["steady_ns"] = {.value = 1000, .count = 3};
  summary.metrics["steady_floor_ns"] = {.value = 900, .count = 3};
  summary.manifest = {{"program",
                       {{"operators_delegated", {{"aten.add.Tensor", 1}, {"aten.conv", 1}}},
                        {"operators_left", {{{"name", "aten._to_copy.default"}, {"count", 1}}}}}}};
  return summary;
}

/// The sample program without the addition in the delegate.
CaseSummary left_case() {
  CaseSummary summary{.label = "left"};
  summary.profile = ProfileReport{
      .iterations = 10,
      .events = {event("Method::execute", "method", -1, 1900),
                 event("_to_copy.out", "operator", 0, 50, 20), event("X", "delegate", 1, 500),
                 event("Convolution (NHWC, QS8, QC8W) GEMM #1", "delegate_operator", 1, 450),
                 event("_to_copy.out", "operator", 2, 100), event("add.out", "operator", 3, 1000)},
      .method_median_ns = 1900};
  summary.manifest = {
      {"program",
       {{"operators_delegated", {{"aten.conv", 1}}},
        {"operators_left",
         {{{"name", "aten._to_copy.default"}, {"count", 2}},
          {{"name", "aten.add.Tensor"}, {"count", 1}, {"reason", "invalid dtype"}}}}}}};
  return summary;
}

const ProfilePart* find_part(const ProfileBreakdown& breakdown, const std::string& name) {
  const auto found = std::ranges::find(breakdown.parts, name, &ProfilePart::name);
  return found == breakdown.parts.end() ? nullptr : &*found;
}

TEST(ProfileBreakdown, TellsCallsOfOneDelegateApart) {
  auto summary = delegated_case();
  auto& events = summary.profile->events;
  events.push_back(event("X", "delegate", 2, 60));
  events.push_back(event("Add (ND) #1", "delegate_operator", 2, 40));
  std::multiset<std::string> places;
  for (const auto& part : break_down_profile(summary).parts) {
    places.insert(part.kind == "delegate_operator" ? part.name + " in " + part.delegate : "");
  }
  places.erase("");
  EXPECT_THAT(places, testing::ElementsAre("Add (ND) #1 in X #1", "Add (ND) #1 in X #2",
                                           "Convolution (NHWC, F32) GEMM #1 in X #1"));
}

TEST(ProfileBreakdown, HasPartsThatAddUpToTheMethod) {
  const auto breakdown = break_down_profile(delegated_case());
  double sum = 0;
  double shares = 0;
  for (const auto& part : breakdown.parts) {
    sum += part.time_ns;
    shares += part.share_ratio;
  }
  EXPECT_DOUBLE_EQ(sum, 1000);
  EXPECT_NEAR(shares, 1, 1e-12);
  EXPECT_EQ(breakdown.parts.front().name, "Convolution (NHWC, F32) GEMM #1");
  EXPECT_EQ(breakdown.parts.front().delegate, "X");
  EXPECT_EQ(find_part(breakdown, "_to_copy.out")->time_ns, 100);  // Two calls of 50.
  EXPECT_EQ(find_part(breakdown, "_to_copy.out")->calls, 2);
  EXPECT_EQ(find_part(breakdown, "_to_copy.out")->mean_ns, 102);
  EXPECT_EQ(find_part(breakdown, "X outside its operators")->time_ns, 100);
  EXPECT_EQ(breakdown.outside_ns, 200);
  EXPECT_EQ(find_part(breakdown, "X"), nullptr);  // Its operators stand for it.
}

TEST(ProfileBreakdown, NumbersKernelsThatAreCalledAtSeveralPlaces) {
  const auto breakdown = break_down_profile(left_case());
  ASSERT_NE(find_part(breakdown, "_to_copy.out #2"), nullptr);
  EXPECT_EQ(find_part(breakdown, "_to_copy.out #1")->instruction, 0);
  EXPECT_EQ(find_part(breakdown, "_to_copy.out #2")->instruction, 2);
  EXPECT_NE(find_part(breakdown, "add.out"), nullptr);
}

TEST(ProfileBreakdown, TellsTheSlowdownAgainstTheTimedPass) {
  const auto breakdown = break_down_profile(delegated_case());
  EXPECT_DOUBLE_EQ(breakdown.slowdown_ratio.value(), 1.1);
  EXPECT_EQ(breakdown.timed_launches, 3);
  EXPECT_DOUBLE_EQ(breakdown.floor_slowdown_ratio.value(), 999.0 / 900);
  EXPECT_TRUE(breakdown.notes.empty());
  auto disturbed = delegated_case();
  disturbed.notes = {"3 of 3 launches were disturbed"};
  disturbed.metrics["steady_ns"].value = 2000;
  EXPECT_THAT(break_down_profile(disturbed).notes,
              ElementsAre("3 of 3 launches were disturbed",
                          HasSubstr("no profiler makes a program faster")));
  EXPECT_FALSE(break_down_profile(left_case()).slowdown_ratio.has_value());
}

TEST(ProfileBreakdown, HasNoSlowdownWhereOnlyTheTimesAreOfAScenario) {
  auto summary = delegated_case();
  summary.identity = {{"scenario", {{"gap_ns", 5'000'000}}}};
  const auto breakdown = break_down_profile(summary);
  EXPECT_FALSE(breakdown.slowdown_ratio.has_value());
  EXPECT_FALSE(breakdown.floor_slowdown_ratio.has_value());
  EXPECT_EQ(breakdown.timed_ns, 1000);
  EXPECT_EQ(breakdown.timed_floor_ns, 900);
  EXPECT_THAT(breakdown.notes, ElementsAre(HasSubstr("no slow-down")));
  summary.identity = {{"scenario", Json::object()}};
  EXPECT_TRUE(break_down_profile(summary).slowdown_ratio.has_value());
  auto untimed = left_case();
  untimed.identity = {{"scenario", {{"streams", 2}}}};
  EXPECT_TRUE(break_down_profile(untimed).notes.empty());
}

TEST(ProfileBreakdown, KeepsADelegateThatTellsNothingOfItsInside) {
  auto summary = delegated_case();
  std::erase_if(summary.profile->events,
                [](const ProfileEvent& one) { return one.kind == "delegate_operator"; });
  const auto breakdown = break_down_profile(summary);
  ASSERT_NE(find_part(breakdown, "X"), nullptr);
  EXPECT_EQ(find_part(breakdown, "X")->time_ns, 700);
}

TEST(ProfileDifference, AddsUpAndPutsTheLargestFirst) {
  const auto difference = difference_of_profiles(delegated_case(), left_case());
  EXPECT_EQ(difference.difference_ns, 900);
  for (const auto* rows : {&difference.parts, &difference.families, &difference.places}) {
    double sum = 0;
    for (const auto& row : *rows) {
      sum += row.difference_ns;
    }
    EXPECT_DOUBLE_EQ(sum, 900);
    EXPECT_NEAR(rows->back().cumulative_ratio, 1, 1e-12);
  }
  EXPECT_EQ(difference.parts.front().name, "add.out #1");
  EXPECT_FALSE(difference.parts.front().a_ns.has_value());
  EXPECT_EQ(difference.parts.front().b_ns, 1000);
}

TEST(ProfileDifference, MatchesAnOperatorWithItsQuantizedSelf) {
  const auto difference = difference_of_profiles(delegated_case(), left_case());
  const auto found =
      std::ranges::find(difference.parts, "Convolution (NHWC) GEMM #1", &DifferenceRow::name);
  ASSERT_NE(found, difference.parts.end());
  EXPECT_EQ(found->a_ns, 400);
  EXPECT_EQ(found->b_ns, 450);
}

TEST(ProfileDifference, TellsWhatLeftTheDelegate) {
  const auto difference = difference_of_profiles(delegated_case(), left_case());
  ASSERT_EQ(difference.delegation.size(), 2U);  // The convolution did not move.
  const auto& add = difference.delegation.front();
  EXPECT_EQ(add.name, "aten.add.Tensor");
  EXPECT_EQ(add.outside_ns, 1000);
  EXPECT_EQ(add.text,
            "aten.add.Tensor left the delegate: delegated 1 -> 0, left 0 -> 1, +0.001 ms outside "
            "(invalid dtype)");
  EXPECT_THAT(difference.delegation.back().text, HasSubstr("is more outside"));
  EXPECT_THAT(difference.notes,
              Contains(HasSubstr("copies and conversions outside of delegates: 2 -> 3 (+1)")));
  EXPECT_THAT(difference.delegation.back().text, HasSubstr("+0.0001 ms outside"));
  const auto back = difference_of_profiles(left_case(), delegated_case());
  EXPECT_THAT(back.delegation.front().text, HasSubstr("entered the delegate"));
}

TEST(ProfileDifference, TakesWhatAManifestDoesNotTellForAbsent) {
  auto b = left_case();
  b.manifest["program"]["operators_left"] = {
      {{"name", "aten.add.Tensor"}, {"count", 1}, {"reason", nullptr}},
      {{"name", nullptr}, {"count", "many"}},
      "aten.mul.Tensor"};
  b.manifest["program"]["operators_delegated"] = {{"aten.conv", nullptr}};
  const auto difference = difference_of_profiles(delegated_case(), b);
  ASSERT_FALSE(difference.delegation.empty());
  EXPECT_EQ(difference.delegation.front().text,
            "aten.add.Tensor left the delegate: delegated 1 -> 0, left 0 -> 1, +0.001 ms outside");
  b.manifest["program"] = {{"operators_left", nullptr}, {"operators_delegated", nullptr}};
  EXPECT_NO_THROW(difference_of_profiles(delegated_case(), b));
}

TEST(ProfileDifference, SaysWhatItNeedsToTellOfDelegation) {
  auto without = left_case();
  without.manifest = nullptr;
  const auto difference = difference_of_profiles(delegated_case(), without);
  EXPECT_TRUE(difference.delegation.empty());
  EXPECT_THAT(difference.notes, Contains(HasSubstr("manifest beside the program")));
}

/// A case whose operators are told in the order of the names.
ProfileBreakdown told(std::string label, const std::vector<std::pair<std::string, int>>& parts) {
  CaseSummary summary{.label = std::move(label)};
  summary.profile = ProfileReport{.iterations = 10, .events = {}, .method_median_ns = 1000};
  for (const auto& [name, median_ns] : parts) {
    summary.profile->events.push_back(event(name, "operator", 0, median_ns));
  }
  return break_down_profile(summary);
}

TEST(ProfileLayers, MeetInTheOrderOfExecutionWhateverTheyAreCalled) {
  const auto layers = layers_of_profiles(
      {told("a", {{"conv2d", 10}, {"add", 90}, {"conv2d", 40}, {"linear", 20}}),
       told("b", {{"GroupConvolution (I8) dw", 20},
                  {"Convolution (I8) 1x1", 60},
                  {"Reorder (I8)", 5},
                  {"FullyConnected (I8)", 10}}),
       told("c", {{"QLinearConv x", 80}, {"QLinearConv y", 20}, {"QGemm z", 80}})});
  ASSERT_TRUE(layers.has_value());
  EXPECT_THAT(layers->labels, ElementsAre("a", "b", "c"));
  ASSERT_EQ(layers->rows.size(), 3U);
  EXPECT_THAT(layers->rows[1].names,
              ElementsAre("conv2d #2", "Convolution (I8) 1x1", "QLinearConv y"));
  EXPECT_THAT(layers->rows[1].time_ns, ElementsAre(40, 60, 20));
  EXPECT_THAT(layers->sum_ns, ElementsAre(70, 90, 180));
  EXPECT_EQ(layers->fastest_count, 1);  // 20/10, 20/40, 10/20.
  EXPECT_NEAR(layers->fastest_other_ratio, std::cbrt(2.0 * 0.5 * 0.5), 1e-12);
  EXPECT_NEAR(layers->sum_fastest_other_ratio, 90.0 / 70, 1e-12);
}

TEST(ProfileLayers, ACaseWithOtherLayersIsLeftOutAndNamed) {
  const auto a = told("a", {{"conv2d", 10}, {"conv2d", 40}});
  const auto layers = layers_of_profiles({a, told("b", {{"conv2d", 9}}), a});
  ASSERT_TRUE(layers.has_value());
  EXPECT_THAT(layers->labels, ElementsAre("a", "a"));
  EXPECT_THAT(layers->notes, ElementsAre(HasSubstr("b has 1 convolutions and matrix products")));
  EXPECT_THAT(layers_of_profiles({a, told("b", {{"add", 9}})})->rows, testing::IsEmpty());
  EXPECT_FALSE(layers_of_profiles({a}).has_value());
}

TEST(OperatorFamily, IsTheSameForNamesOfDifferentEngines) {
  EXPECT_EQ(family_of_operator("convolution.out"), "convolution");
  EXPECT_EQ(family_of_operator("Convolution (NHWC, F32) IGEMM #1"), "convolution");
  EXPECT_EQ(family_of_operator("addmm.out"), "matrix product");
  EXPECT_EQ(family_of_operator("Fully Connected (NC, F32) GEMM #3"), "matrix product");
  EXPECT_EQ(family_of_operator("add.out"), "arithmetic");
  EXPECT_EQ(family_of_operator("_to_dim_order_copy.out"), "copy");
  EXPECT_EQ(family_of_operator("dequantize_per_channel.out"), "quantize");
  EXPECT_EQ(family_of_operator("_native_batch_norm_legit_no_training.out"), "normalization");
  EXPECT_EQ(family_of_operator("_softmax.out"), "activation");
  EXPECT_EQ(family_of_operator("upsample_bilinear2d.out"), "resize");
  EXPECT_EQ(family_of_operator("FullyConnectedQuantizedLegacy (I8) brgemm"), "matrix product");
  EXPECT_EQ(family_of_operator("Reorder (F32) reorder_brgemm"), "other");
  EXPECT_EQ(family_of_operator("QLinearConv node_mul_3"), "convolution");
  EXPECT_EQ(family_of_operator("QLinearMul node_Conv_505"), "arithmetic");
  EXPECT_EQ(family_of_operator("QLinearMatMul node_1"), "matrix product");
  EXPECT_EQ(family_of_operator("QuantizeLinear x"), "quantize");
  EXPECT_EQ(family_of_operator("fakexla"), "other");
}

TEST(OperatorFamily, MatchingNameDropsNumberAndElementTypes) {
  EXPECT_EQ(matching_name("Convolution (NHWC, QS8, QC8W) IGEMM #12"), "Convolution (NHWC) IGEMM");
  EXPECT_EQ(matching_name("Convolution (NHWC, F32) IGEMM #1"), "Convolution (NHWC) IGEMM");
  EXPECT_EQ(matching_name("Add (ND) #2"), "Add (ND)");
  EXPECT_EQ(matching_name("add.out"), "add.out");
  EXPECT_EQ(base_name_of_operator("aten.add.Tensor"), "add");
  EXPECT_EQ(base_name_of_operator("add.out"), "add");
  EXPECT_EQ(base_name_of_operator("add"), "add");
}

}  // namespace
}  // namespace assay
