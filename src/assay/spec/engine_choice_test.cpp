#include "assay/spec/engine_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/spec/expand.h"
#include "assay/spec/testing/expand_fixture.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST_F(ExpandSpec, TakesARecipesOwnEngineWhenNoneIsNamed) {
  EXPECT_THAT(labels_of(expansion_of(Json::object())),
              ElementsAre("mobilenet_v2 executorch/xnnpack-fp32 executorch@1.5.1"));
}

TEST_F(ExpandSpec, RunsOneCaseOnSeveralBuilds) {
  const auto expansion = expansion_of({{"engines", {"executorch@1.5.1", "executorch@mine"}}});
  ASSERT_THAT(expansion.cases, SizeIs(2));
  EXPECT_EQ(case_key(expansion.cases[0]), case_key(expansion.cases[1]));
  EXPECT_EQ(expansion.cases[1].engine_build, "executorch@mine");
}

TEST_F(ExpandSpec, FindsTheEngineOfAProgramByItsFormat) {
  add_file("net.pte", "p");
  add_file("net.fake.json", "{}");
  local().installed.push_back({.name = "fake", .label = "1", .details = {{"formats", {"fake"}}}});
  const auto expansion =
      expansion_of({{"models", {"net.pte", "net.fake.json"}}, {"recipes", Json::array()}});
  ASSERT_THAT(expansion.cases, SizeIs(2));
  EXPECT_EQ(expansion.cases[0].engine_build, "executorch@1.5.1");
  EXPECT_EQ(expansion.cases[1].engine_build, "fake@1");
}

/// The backends of a build as its runner tells them.
Json backends_json(const std::string& name, bool is_available) {
  return {{"backends",
           {{{"name", "XnnpackBackend"}, {"is_available", true}, {"reason", ""}},
            {{"name", name}, {"is_available", is_available}, {"reason", "build one"}}}}};
}

TEST_F(ExpandSpec, TakesTheBuildThatHasTheBackendOfTheRecipe) {
  local().installed[0].details = backends_json("VulkanBackend", false);
  const Json recipes = {{"recipes", {"executorch/vulkan-fp32", "executorch/xnnpack-fp32"}}};
  local().installed[1].details = backends_json("VulkanBackend", true);
  const auto found = expansion_of(recipes);
  ASSERT_THAT(found.cases, SizeIs(2));
  EXPECT_EQ(found.cases[0].engine_build, "executorch@mine");
  EXPECT_EQ(found.cases[0].recipe.runtime_unavailable, "");
  EXPECT_EQ(found.cases[1].engine_build, "executorch@1.5.1");
}

TEST_F(ExpandSpec, LowersOnlyWhereTheBuildLacksTheBackend) {
  local().installed[0].details = backends_json("VulkanBackend", false);
  local().installed[1].details = backends_json("CoreMLBackend", true);
  const Json recipe = {{"recipes", {"executorch/vulkan-fp32"}}};
  const auto first = expansion_of(recipe).cases.at(0);
  EXPECT_EQ(first.engine_build, "executorch@1.5.1");
  EXPECT_EQ(first.recipe.runtime_unavailable, "executorch@1.5.1 has no VulkanBackend: build one");
  auto named = recipe;
  named["engines"] = {"executorch@mine"};
  const auto second = expansion_of(named).cases.at(0);
  EXPECT_EQ(second.recipe.runtime_unavailable, "executorch@mine has no VulkanBackend");
  EXPECT_EQ(case_key(first), case_key(second)) << "what runs it is no part of a case";
  context_.has_libraries = true;
  EXPECT_EQ(expansion_of(recipe).cases.at(0).recipe.runtime_unavailable, "")
      << "a library may register it";
}

TEST_F(ExpandSpec, TriesABuildThatListsNoBackends) {
  const auto cell = expansion_of({{"recipes", {"executorch/coreml-fp32"}}}).cases.at(0);
  EXPECT_EQ(cell.recipe.runtime_unavailable, "");
}

TEST_F(ExpandSpec, ListsWhatIsNotInstalledWithTheReason) {
  const auto expansion = expansion_of(
      {{"engines", {"executorch@9.9", "executorch@mine"}}, {"options", {{"threads", {1, 2, 4}}}}});
  EXPECT_THAT(expansion.cases, SizeIs(3));
  ASSERT_THAT(expansion.refused, SizeIs(1));
  EXPECT_EQ(expansion.refused[0].engine, "executorch@9.9");
  EXPECT_EQ(expansion.refused[0].cells, 3);
  EXPECT_THAT(expansion.refused[0].reason,
              AllOf(HasSubstr("unavailable: executorch@9.9"), HasSubstr("executorch@1.5.1")));
  local().installed.clear();
  const auto bare = expansion_of(Json::object());
  EXPECT_THAT(bare.cases, SizeIs(0));
  EXPECT_THAT(bare.refused.at(0).reason, HasSubstr("installed: none"));
}

TEST_F(ExpandSpec, RefusesAnUnknownEngineByName) {
  const auto error = error_of({{"engines", {"executorhc"}}});
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(error.message,
            "x.json: engines[0]: unknown engine 'executorhc'; did you mean 'executorch'?");
  context_.has_plugins = true;
  EXPECT_THAT(expansion_of({{"engines", {"executorhc"}}}).cases, SizeIs(0));
}

TEST_F(ExpandSpec, TakesTheClassAndTheEnginesOfEachDevice) {
  const auto pi = ExpansionDevice{
      .name = "pi", .device_class = "arm", .installed = {{.name = "executorch", .label = "2.0"}}};
  auto twin = pi;
  twin.name = "twin";
  context_.devices.insert(context_.devices.end(), {pi, twin});
  const auto expansion = expansion_of(
      {{"devices", {"local", "pi", "twin"}}, {"engines", {"executorch", "executorch@mine"}}});
  std::vector<std::string> cells;
  std::set<std::string> keys;
  for (const auto& cell : expansion.cases) {
    cells.push_back(cell.device + " " + cell.device_class + " " + cell.engine_build);
    keys.insert(case_key(cell));
  }
  EXPECT_THAT(cells, ElementsAre("local linux-x86_64:test:2cpu executorch@1.5.1",
                                 "pi arm executorch@2.0", "twin arm executorch@2.0",
                                 "local linux-x86_64:test:2cpu executorch@mine"));
  EXPECT_THAT(keys, SizeIs(2)) << "two devices of one class have one key";
  ASSERT_THAT(expansion.refused, SizeIs(2));
  EXPECT_EQ(expansion.refused[0].device, "pi");
}

}  // namespace
}  // namespace assay
