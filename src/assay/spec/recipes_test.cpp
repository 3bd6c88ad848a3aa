#include "assay/spec/recipes.h"

#include "spec_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/spec/models.h"
#include "assay/spec/spec.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

Json catalog_document() {
  return {
      {"schema", "assay/recipes/1"},
      {"quantizations", {{"q8", {{"flow", "pt2e"}}}}},
      {"recipes",
       {{{"name", "lab/plain"}, {"engine", "lab"}, {"lowering", {{"partitioner", nullptr}}}},
        {{"name", "lab/q8"}, {"quantization", "q8"}, {"produces", "labx"}},
        {{"name", "lab/far"}, {"runtime", "unavailable here"}, {"runtime_reason", "no board"}}}}};
}

TEST(RecipeCatalog, NamesThePluginThatBringsARecipe) {
  EXPECT_THAT(RecipeCatalog::built_in().get_recipe("executorch/fixedpoint-int8").error().message,
              AllOf(HasSubstr("--plugin delegates/fixedpoint/assay_plugin.py"),
                    HasSubstr("--library executorch=")));
}

TEST(RecipeCatalog, ResolvesQuantizationByName) {
  const auto catalog = RecipeCatalog::from_json(catalog_document(), "x").value();
  const auto q8 = catalog.get_recipe("lab/q8").value();
  EXPECT_EQ(q8.quantization, (Json{{"flow", "pt2e"}}));
  EXPECT_EQ(q8.produces, "labx");
  EXPECT_EQ(q8.engine, "executorch");
  EXPECT_TRUE(q8.is_preset);
  EXPECT_TRUE(catalog.get_recipe("lab/plain").value().quantization.is_null());
  EXPECT_EQ(catalog.get_recipe("lab/far").value().runtime_unavailable, "no board");
}

TEST(RecipeCatalog, SuggestsNames) {
  const auto catalog = RecipeCatalog::from_json(catalog_document(), "x").value();
  const auto recipe = catalog.get_recipe("lab/q9");
  EXPECT_EQ(recipe.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(recipe.error().message, "unknown recipe 'lab/q9'; did you mean 'lab/q8'?");
  EXPECT_THAT(catalog.get_quantization("zzzzzzz").error().message, HasSubstr("known: q8"));
}

TEST(RecipeCatalog, PassesExecutorchsOwnRecipesThrough) {
  const auto recipe = RecipeCatalog().get_recipe("executorch/recipe:xnnpack_fp32").value();
  EXPECT_TRUE(recipe.tolerance.empty());
  const auto quantized = RecipeCatalog().get_recipe("executorch/recipe:x_pt2e_int8_static").value();
  EXPECT_EQ(quantized.tolerance.at("sqnr_db"), 8);
  EXPECT_TRUE(recipe.is_preset);
  EXPECT_EQ(recipe.engine, "executorch");
  EXPECT_EQ(recipe.lowering, (Json{{"flow", "executorch_recipe"}, {"recipe", "xnnpack_fp32"}}));
}

TEST(RecipeCatalog, RefusesMalformedDocuments) {
  auto document = catalog_document();
  document["recipes"][1]["quantization"] = "nope";
  EXPECT_FALSE(RecipeCatalog::from_json(document, "x").has_value());
  document = catalog_document();
  document["recipes"][0].erase("name");
  EXPECT_EQ(RecipeCatalog::from_json(document, "x").error().code, ErrorCode::kInvalidArgument);
  document["schema"] = "assay/recipes/2";
  EXPECT_THAT(RecipeCatalog::from_json(document, "x").error().message, HasSubstr("schema"));
  EXPECT_FALSE(RecipeCatalog::from_json(Json::array(), "x").has_value());
}

TEST(RecipeCatalog, HasTheToolchainsPresetsBuiltIn) {
  const auto& catalog = RecipeCatalog::built_in();
  EXPECT_THAT(catalog.recipe_names(), Contains("executorch/portable"));
  EXPECT_THAT(catalog.recipe_names(), Contains("executorch/xnnpack-int8"));
  for (const auto& recipe : catalog.recipes()) {
    EXPECT_TRUE(recipe.quantization.is_null() || recipe.quantization.is_object()) << recipe.name;
    EXPECT_FALSE(recipe.description.empty()) << recipe.name;
  }
}

// The lowering flows that an inline recipe may name, from the schema of specs.
Json flows_of_the_schema() {
  const auto schema = parse_json(spec_data("spec.schema.json"), "schema").value();
  return schema.at("$defs").at("lowering").at("properties").at("flow").at("enum");
}

TEST(Lowering, IsReadWithEveryFlowOfTheSchema) {
  for (const auto& flow : flows_of_the_schema()) {
    const Json spec = {{"schema", "assay/spec/1"},
                       {"models", {"torchvision:resnet18"}},
                       {"recipes", {{{"name", "mine"}, {"lowering", {{"flow", flow}}}}}}};
    const auto read = spec_from_json(spec, {});
    EXPECT_TRUE(read.has_value()) << read.error().message;
  }
}

TEST(Lowering, OfAPresetIsOneOfTheSchema) {
  const auto flows = flows_of_the_schema();
  for (const auto& recipe : RecipeCatalog::built_in().recipes()) {
    EXPECT_THAT(flows, Contains(recipe.lowering.at("flow"))) << recipe.name;
  }
}

TEST(ListedModels, HaveReferenceInputsAndDescription) {
  EXPECT_GE(listed_models().size(), 10U);
  for (const auto& model : listed_models()) {
    EXPECT_THAT(model.ref, HasSubstr(":"));
    EXPECT_FALSE(model.inputs.empty()) << model.ref;
    EXPECT_FALSE(model.description.empty()) << model.ref;
  }
}

TEST(ListedModels, AreSuggestedWithTheirLibrary) {
  EXPECT_EQ(model_suggestion_for("mobilnet_v2"), "; did you mean 'torchvision:mobilenet_v2'?");
}

}  // namespace
}  // namespace assay
