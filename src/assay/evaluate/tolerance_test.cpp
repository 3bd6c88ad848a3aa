#include "assay/evaluate/tolerance.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/tensor/dtype.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const Json kNone = Json::object();

Recipe recipe_with(Json quantization, Json tolerance = Json::object()) {
  return {
      .name = "mine", .quantization = std::move(quantization), .tolerance = std::move(tolerance)};
}

Tolerance floating(const Recipe& recipe, const Json& spec, std::string_view kind = "float32") {
  const auto set = tolerances_for(recipe, spec, kind);
  EXPECT_TRUE(set) << set.error().message;
  return set ? set->floating : Tolerance{};
}

std::string refusal(const Json& document) {
  const auto status = check_tolerance(document, "spec");
  EXPECT_FALSE(status) << document;
  if (status) {
    return {};
  }
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  return status.error().message;
}

TEST(Tolerance, DefaultsFollowTheQuantization) {
  EXPECT_THAT(floating(recipe_with(nullptr), kNone).bounds,
              ElementsAre(Pair("relative_l2_error", 1e-4), Pair("scaled_max_error", 1e-3)));
  EXPECT_THAT(floating(recipe_with("float16"), kNone).bounds,
              ElementsAre(Pair("relative_l2_error", 5e-2), Pair("scaled_max_error", 3e-1)));
  const auto quantized = floating(recipe_with("xnnpack-int8"), kNone);
  EXPECT_THAT(quantized.bounds, ElementsAre(Pair("sqnr_db", 8)));
  EXPECT_EQ(quantized.separation_db, 3);
  for (const auto& recipe : {recipe_with(nullptr), recipe_with("xnnpack-int8")}) {
    EXPECT_FALSE(floating(recipe, kNone).why.empty());
  }
}

TEST(Tolerance, DefaultsOfFloat32AndFloat16GrowWithWhatFloat32Loses) {
  const auto widened = [](const Recipe& recipe, const Json& spec, const Sensitivity& sensitivity) {
    auto tolerance = floating(recipe, spec);
    widen_by_sensitivity(sensitivity, tolerance);
    return tolerance.bounds;
  };
  const auto plain = recipe_with(nullptr);
  EXPECT_EQ(widened(plain, kNone, {{"relative_l2_error", 1e-6}}).at("relative_l2_error"), 1e-4);
  const auto bounds = widened(plain, kNone, {{"relative_l2_error", 3e-5}});
  EXPECT_DOUBLE_EQ(bounds.at("relative_l2_error"), kSensitivityFactor * 3e-5);
  EXPECT_EQ(bounds.at("scaled_max_error"), 1e-3);
  EXPECT_DOUBLE_EQ(widened(plain, kNone, {{"scaled_max_error", 1}}).at("scaled_max_error"), 0.1)
      << "no network is so sensitive that anything is right";
  const auto half = recipe_with("float16");
  const auto of_half = [&](double loss) {
    return widened(half, kNone, {{"relative_l2_error", loss}}).at("relative_l2_error");
  };
  EXPECT_DOUBLE_EQ(of_half(1e-7), 5e-2) << "the default suffices";
  EXPECT_DOUBLE_EQ(of_half(5.74e-6), kFloat16SensitivityFactor * 5.74e-6);
  EXPECT_GT(of_half(5.74e-6), 2 * 4.44e-2) << "what eager float16 loses in such a network";
  EXPECT_DOUBLE_EQ(of_half(1), 0.2) << "of all zeros the relative error is 1";
  const Json given = {{"relative_l2_error", 1e-6}, {"why", "asked for"}};
  EXPECT_EQ(widened(plain, given, {{"relative_l2_error", 1e-2}}).at("relative_l2_error"), 1e-6);
  EXPECT_EQ(
      widened(recipe_with("bfloat16"), kNone, {{"relative_l2_error", 1}}).at("relative_l2_error"),
      2e-1);
}

TEST(Tolerance, TellsByHowMuchEachBoundGrew) {
  auto plain = floating(recipe_with(nullptr), kNone);
  EXPECT_THAT(widen_by_sensitivity({{"relative_l2_error", 3e-5}, {"scaled_max_error", 1}}, plain),
              ElementsAre("relative_l2_error 0.00048, 16 times what float32 itself loses (3e-05)",
                          "scaled_max_error 0.1, 100 times its default, the most that a network "
                          "gets for what float32 itself loses (1)"));
  auto half = floating(recipe_with("float16"), kNone);
  EXPECT_THAT(
      widen_by_sensitivity({{"relative_l2_error", 5e-6}}, half),
      ElementsAre("relative_l2_error 0.082, 16384 times what float32 itself loses (5e-06)"));
}

TEST(Tolerance, DependsOnTheOutputsType) {
  const auto set = *tolerances_for(recipe_with(nullptr), kNone, "float32");
  EXPECT_THAT(set.for_output(Dtype::kInt64, false).bounds, ElementsAre(Pair("max_abs_error", 0)));
  EXPECT_EQ(&set.for_output(Dtype::kInt8, true), &set.floating);
  EXPECT_EQ(&set.for_output(Dtype::kFloat16, false), &set.float16);
  EXPECT_EQ(&set.for_output(Dtype::kBFloat16, false), &set.bfloat16);
  EXPECT_EQ(&set.for_output(Dtype::kFloat64, false), &set.floating);
}

TEST(Tolerance, TheNearestDocumentWinsWhole) {
  const auto recipe = recipe_with("xnnpack-int8", {{"sqnr_db", 15}, {"why", "measured"}});
  EXPECT_THAT(floating(recipe, kNone).bounds, ElementsAre(Pair("sqnr_db", 15)));
  EXPECT_FALSE(floating(recipe, kNone).separation_db.has_value());
  const Json spec = {{"max_abs_error", 0.5}, {"separation_db", 6}, {"why", "told so"}};
  EXPECT_THAT(floating(recipe, spec).bounds, ElementsAre(Pair("max_abs_error", 0.5)));
  EXPECT_EQ(floating(recipe, spec).separation_db, 6);
  EXPECT_EQ(floating(recipe, spec).why, "told so");
}

TEST(Tolerance, APartHoldsForItsKindAlone) {
  const Json spec = {{"sqnr_db", 10},
                     {"why", "kernels round"},
                     {"qdq", {{"sqnr_db", 30}}},
                     {"integer", {{"max_abs_error", 1}, {"why", "argmax of a tie"}}}};
  const auto recipe = recipe_with("xnnpack-int8");
  EXPECT_THAT(floating(recipe, spec, "float32").bounds, ElementsAre(Pair("sqnr_db", 10)));
  EXPECT_THAT(floating(recipe, spec, "qdq").bounds, ElementsAre(Pair("sqnr_db", 30)));
  EXPECT_EQ(floating(recipe, spec, "qdq").why, "kernels round");
  EXPECT_THAT(tolerances_for(recipe, spec, "qdq")->integer.bounds,
              ElementsAre(Pair("max_abs_error", 1)));
}

TEST(Tolerance, APartWithoutBoundsKeepsThoseAroundIt) {
  const auto recipe = recipe_with("xnnpack-int8");
  for (const Json& part : {Json{{"allow_nondeterminism", true}}, Json{{"separation_db", 5}},
                           Json{{"computes_in", "bfloat16"}}}) {
    const Json spec = {
        {"sqnr_db", 40}, {"computes_in", "float16"}, {"why", "a small network"}, {"qdq", part}};
    const auto found = floating(recipe, spec, "qdq");
    EXPECT_THAT(found.bounds, ElementsAre(Pair("sqnr_db", 40))) << part;
    EXPECT_EQ(found.computes_in, part.contains("computes_in") ? Dtype::kBFloat16 : Dtype::kFloat16);
    EXPECT_EQ(found.allows_nondeterminism, part.contains("allow_nondeterminism"));
    EXPECT_EQ(found.separation_db.has_value(), part.contains("separation_db"));
    EXPECT_FALSE(floating(recipe, spec, "float32").allows_nondeterminism);
  }
}

TEST(Tolerance, AQuantizationWhoseDtypeIsNoTextIsNoCast) {
  EXPECT_EQ(cast_of_quantization({{"dtype", 16}}), std::nullopt);
  EXPECT_EQ(cast_of_quantization({{"dtype", "float16"}}), Dtype::kFloat16);
}

TEST(Tolerance, AKindThatTheSpecLeavesOutFallsToTheRecipe) {
  const auto recipe = recipe_with("xnnpack-int8", {{"sqnr_db", 15}, {"why", "measured"}});
  const Json spec = {{"qdq", {{"sqnr_db", 30}, {"why", "one layer"}}}};
  EXPECT_THAT(floating(recipe, spec, "float32").bounds, ElementsAre(Pair("sqnr_db", 15)));
}

TEST(Tolerance, ADocumentWithoutBoundsKeepsThemAndChangesWhatItNames) {
  const auto recipe = recipe_with("xnnpack-int8");
  const auto looser = floating(recipe, {{"allow_nondeterminism", true}});
  EXPECT_THAT(looser.bounds, ElementsAre(Pair("sqnr_db", 8)));
  EXPECT_EQ(looser.separation_db, 3);
  EXPECT_TRUE(looser.allows_nondeterminism);
  const auto wider = floating(recipe, {{"separation_db", 6}, {"why", "few classes"}});
  EXPECT_THAT(wider.bounds, ElementsAre(Pair("sqnr_db", 8)));
  EXPECT_EQ(wider.separation_db, 6);
}

TEST(Tolerance, KeepsTheTypeOfComputingUnderNearerBounds) {
  const auto recipe = recipe_with(
      nullptr, {{"sqnr_db", 25}, {"computes_in", "float16"}, {"why", "HTP computes so"}});
  EXPECT_EQ(floating(recipe, kNone).computes_in, Dtype::kFloat16);
  const auto nearer = floating(recipe, {{"sqnr_db", 40}, {"why", "a small network"}});
  EXPECT_THAT(nearer.bounds, ElementsAre(Pair("sqnr_db", 40)));
  EXPECT_EQ(nearer.computes_in, Dtype::kFloat16);
  const Json named = {{"computes_in", "bfloat16"}, {"why", "another processor"}};
  EXPECT_EQ(floating(recipe, named).computes_in, Dtype::kBFloat16);
  EXPECT_THAT(floating(recipe, named).bounds, ElementsAre(Pair("sqnr_db", 25)));
}

TEST(Tolerance, NondeterminismIsAllowedInWords) {
  const Json spec = {{"sqnr_db", 10}, {"allow_nondeterminism", true}, {"why", "atomics"}};
  const auto set = *tolerances_for(recipe_with(nullptr), spec, "float32");
  EXPECT_TRUE(set.floating.allows_nondeterminism);
  EXPECT_TRUE(set.integer.allows_nondeterminism);
}

TEST(Tolerance, RefusesWhatItDoesNotUnderstand) {
  EXPECT_THAT(refusal({{"sqnr_bd", 10}, {"why", "x"}}), HasSubstr("did you mean 'sqnr_db'"));
  EXPECT_THAT(refusal({{"steady_ns", 10}, {"why", "x"}}), HasSubstr("unknown key"));
  EXPECT_THAT(refusal({{"sqnr_db", ">=10"}, {"why", "x"}}), HasSubstr("must be a number"));
  EXPECT_THAT(refusal({{"sqnr_db", 10}}), HasSubstr("\"why\" is missing"));
  EXPECT_THAT(refusal({{"sqnr_db", 10}, {"why", ""}}), HasSubstr("\"why\""));
  EXPECT_THAT(refusal({{"qdq", 3}}), HasSubstr("must be an object"));
  EXPECT_THAT(refusal({{"qdq", {{"integer", {{"max_abs_error", 1}}}}}}), HasSubstr("another part"));
  EXPECT_THAT(refusal(Json::array({1})), HasSubstr("must be an object"));
  EXPECT_THAT(refusal({{"sqnr_db", 1}, {"allow_nondeterminism", 1}, {"why", "x"}}),
              HasSubstr("true or false"));
  EXPECT_THAT(refusal({{"computes_in", "float8"}, {"why", "x"}}), HasSubstr("\"bfloat16\""));
  EXPECT_THAT(refusal({{"computes_in", "float16"}}), HasSubstr("\"why\" is missing"));
  EXPECT_TRUE(check_tolerance(kNone, "spec"));
  EXPECT_TRUE(check_tolerance(nullptr, "spec"));
}

TEST(Tolerance, ErrorsSayWhichDocument) {
  const auto result = tolerances_for(recipe_with(nullptr, {{"sqnr_db", 1}}), kNone, "float32");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("recipe mine: tolerance"));
}

TEST(Bounds, NanHoldsNone) {
  EXPECT_FALSE(is_bound_held("sqnr_db", std::nan(""), 8));
  EXPECT_FALSE(is_bound_held("max_abs_error", std::nan(""), 8));
  EXPECT_TRUE(is_bound_held("sqnr_db", INFINITY, 8));
  EXPECT_TRUE(is_bound_held("max_abs_error", 8, 8));
  EXPECT_EQ(text_of_bound("sqnr_db", 3.25, 8), "sqnr_db 3.25 (>= 8)");
  EXPECT_EQ(text_of_bound("max_abs_error", std::nullopt, 8), "max_abs_error not measured (<= 8)");
}

}  // namespace
}  // namespace assay
