#include "features/conform/plan.h"

#include "features/conform/conform_case.h"
#include "features/conform/known_gaps.h"

#include <algorithm>
#include <cstddef>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "assay/record/case.h"

namespace assay {
namespace {

using testing::ElementsAre;

ConformCase one_of(const std::string& op, const std::string& dtype, int index) {
  return {.name = op + "/" + dtype + "/" + std::to_string(index),
          .model = {.ref = "aten:" + op, .args = {{"sample", index}, {"dtype", dtype}}},
          .inputs = {.generator = "model", .count = 3},
          .operator_name = "aten." + op,
          .dtype = dtype,
          .is_joinable = true};
}

std::vector<ConformCase> cases_of(const std::vector<std::pair<std::string, int>>& counts,
                                  const std::string& dtype = "float32") {
  std::vector<ConformCase> cases;
  for (const auto& [op, count] : counts) {
    for (int i = 0; i < count; ++i) {
      cases.push_back(one_of(op, dtype, i));
    }
  }
  return cases;
}

ConformSetting portable() {
  ConformSetting setting;
  setting.pattern.recipe.name = "executorch/portable";
  setting.pattern.engine = "executorch";
  setting.gaps.recipe = setting.pattern.recipe.name;
  return setting;
}

std::vector<std::size_t> sizes_of(const std::vector<ConformUnit>& units) {
  std::vector<std::size_t> sizes;
  for (const auto& unit : units) {
    sizes.push_back(unit.cells.size());
  }
  return sizes;
}

TEST(Plan, PutsEveryCellIntoOneProgramAndNoneTwice) {
  auto cases = cases_of({{"add", 7}, {"mul", 5}, {"conv", 21}});
  cases[3].is_joinable = false;
  const auto plan = plan_conformance(cases, {portable(), portable()}, {.cases = 8});
  EXPECT_EQ(plan.cells.size(), 66U);
  std::set<std::size_t> seen;
  for (const auto& unit : plan.units) {
    EXPECT_LE(unit.cells.size(), 8U);
    for (const auto cell : unit.cells) {
      EXPECT_TRUE(seen.insert(cell).second);
      EXPECT_EQ(plan.cells[cell].setting_index, plan.cells[unit.cells.front()].setting_index);
    }
  }
  EXPECT_EQ(seen.size(), 66U);
}

TEST(Plan, JoinsOneDtypeAndInputsAndKeepsOperatorsTogether) {
  auto cases = cases_of({{"add", 3}, {"mul", 3}, {"sub", 3}});
  cases.push_back(one_of("add", "float16", 0));
  cases.push_back(one_of("add", "float32", 9));
  const auto plan = plan_conformance(cases, {portable()}, {.cases = 8});
  for (const auto& unit : plan.units) {
    std::set<std::string> dtypes;
    for (const auto cell : unit.cells) {
      dtypes.insert(plan.cases[plan.cells[cell].case_index].dtype);
    }
    EXPECT_EQ(dtypes.size(), 1U);
  }
  // add has 4 of float32 by now and mul 3: sub begins a new program, rather than being torn apart.
  EXPECT_THAT(sizes_of(plan.units), testing::UnorderedElementsAre(1, 7, 3));
}

TEST(Plan, LimitsTheCostOfAProgram) {
  auto cases = cases_of({{"conv", 6}});
  for (auto& one : cases) {
    one.cost = 30;
  }
  const auto plan = plan_conformance(cases, {portable()}, {.cases = 16, .cost = 64});
  EXPECT_THAT(sizes_of(plan.units), ElementsAre(3, 3));
}

TEST(Plan, LeavesWhatIsExpectedToFailAlone) {
  auto setting = portable();
  setting.gaps.expected_failures = {{.case_name = "add/float32/1"}};
  setting.gaps.unsupported = {{.match = {.operator_name = "aten.mul"}, .reason = "x"}};
  const auto plan = plan_conformance(cases_of({{"add", 4}, {"mul", 2}}), {setting}, {.cases = 8});
  EXPECT_THAT(sizes_of(plan.units), testing::UnorderedElementsAre(3, 1, 1, 1));
}

TEST(Plan, CasesOfOneToleranceShareAProgram) {
  auto setting = portable();
  for (const auto* name : {"add/float32/2", "add/float32/3"}) {
    setting.gaps.relaxed_bounds.push_back(
        {.match = {.case_name = name}, .error_bound_ratio = 4, .reason = "approximates"});
  }
  const auto plan = plan_conformance(cases_of({{"add", 5}}), {setting}, {.cases = 8});
  EXPECT_THAT(sizes_of(plan.units), testing::UnorderedElementsAre(2, 3));
  EXPECT_EQ(plan.cells[2].eval_case.recipe.tolerance.at("error_bound_ratio"), 4);
  EXPECT_EQ(plan.cells[2].eval_case.recipe.tolerance.at("why"), "approximates");
  EXPECT_TRUE(plan.cells[0].eval_case.recipe.tolerance.empty());
}

TEST(Plan, AJointCaseNamesTheModelsOfItsParts) {
  const auto plan = plan_conformance(cases_of({{"add", 2}}), {portable()}, {});
  ASSERT_EQ(plan.units.size(), 1U);
  const auto joint = case_of(plan, plan.units[0]);
  EXPECT_EQ(joint.model.ref, "joint");
  const auto& models = joint.model.args.at("models");
  ASSERT_EQ(models.size(), 2U);
  EXPECT_EQ(models[1].at("ref"), "aten:add");
  EXPECT_EQ(models[1].at("args").at("sample"), 1);
  EXPECT_EQ(joint.inputs.generator, "model");
  const auto alone = case_of(plan, {.cells = {1}});
  EXPECT_EQ(alone.model.ref, "aten:add");
  EXPECT_NE(case_key(alone), case_key(joint));
}

TEST(Split, HalvesBetweenOperators) {
  const auto plan =
      plan_conformance(cases_of({{"add", 3}, {"mul", 4}, {"sub", 5}}), {portable()}, {.cases = 12});
  ASSERT_EQ(plan.units.size(), 1U);
  const auto halves = split_unit(plan, plan.units[0], "");
  EXPECT_THAT(sizes_of(halves), ElementsAre(7, 5));
  EXPECT_THAT(sizes_of(split_unit(plan, halves[0], "")), ElementsAre(3, 4));
  // One operator: each alone.
  EXPECT_THAT(sizes_of(split_unit(plan, halves[1], "")), ElementsAre(1, 1, 1, 1, 1));
}

TEST(Split, TriesFewOnesAlone) {
  const auto plan =
      plan_conformance(cases_of({{"add", 2}, {"mul", 2}}), {portable()}, {.cases = 8});
  EXPECT_THAT(sizes_of(split_unit(plan, plan.units[0], "")), ElementsAre(1, 1, 1, 1));
}

TEST(Split, TriesAloneWhatTheErrorNames) {
  const auto plan = plan_conformance(cases_of({{"add", 3}, {"log_softmax", 2}, {"sub", 5}}),
                                     {portable()}, {.cases = 12});
  const auto units =
      split_unit(plan, plan.units[0], "no kernel is registered for aten::log_softmax.int_out");
  EXPECT_THAT(sizes_of(units), ElementsAre(1, 1, 8));
  EXPECT_EQ(plan.cases[plan.cells[units[0].cells[0]].case_index].operator_name, "aten.log_softmax");
  EXPECT_THAT(sizes_of(split_unit(plan, plan.units[0], "no kernel for aten::mul.out")),
              ElementsAre(5, 5));
}

TEST(Split, HalvesWhereTheErrorNamesEveryOperator) {
  const auto plan =
      plan_conformance(cases_of({{"add", 4}, {"mul", 5}}), {portable()}, {.cases = 12});
  EXPECT_THAT(sizes_of(split_unit(plan, plan.units[0], "node_add_3 and aten.mul do not fit")),
              ElementsAre(4, 5));
}

TEST(Split, ComesToAnEnd) {
  const auto plan = plan_conformance(cases_of({{"a", 1}, {"b", 9}, {"c", 1}, {"d", 2}, {"e", 3}}),
                                     {portable()}, {.cases = 16});
  std::vector<ConformUnit> open = plan.units;
  std::size_t alone = 0;
  for (int round = 0; round < 10 && !open.empty(); ++round) {
    std::vector<ConformUnit> next;
    for (const auto& unit : open) {
      for (auto& part : split_unit(plan, unit, "")) {
        part.is_joint() ? next.push_back(part) : void(++alone);
      }
    }
    open = std::move(next);
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(alone, 16U);
}

}  // namespace
}  // namespace assay
