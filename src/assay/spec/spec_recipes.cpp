#include <fmt/format.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/record/case.h"
#include "assay/spec/node.h"
#include "assay/spec/spec.h"
#include "assay/spec/spec_parts.h"

namespace assay::spec_parts {
namespace {

// A name that the catalog lacks, left to the toolchain and its plug-ins.
Recipe foreign_recipe(const std::string& name) {
  const auto slash = name.find('/');
  return {.name = name,
          .is_preset = true,
          .engine = slash == std::string::npos ? "" : name.substr(0, slash)};
}

Recipe read_preset(const Node& node, const SpecContext& context) {
  const auto name = node.text();
  auto recipe = context.catalog->get_recipe(name);
  if (recipe) {
    return *std::move(recipe);
  }
  const bool is_left_to_others = context.has_plugins || name.find(':') != std::string::npos;
  if (node.json().is_string() && !is_left_to_others) {
    node.complain(recipe.error().message);
  }
  return foreign_recipe(name);
}

Json read_quantization(const Node& node, const SpecContext& context) {
  if (node.json().is_object()) {
    return node.json();
  }
  const auto name = node.text();
  const auto quantization = context.catalog->get_quantization(name);
  if (!quantization && node.json().is_string() && !context.has_plugins) {
    node.complain(quantization.error().message);
  }
  return quantization ? *quantization : Json(name);
}

Json read_lowering(const Node& node) {
  if (!node.expect_object(kLoweringKeys)) {
    return Json::object();
  }
  const auto flow = node.text("flow", "to_edge_transform_and_lower");
  if (const auto given = node.find("flow")) {
    expect_one_of(*given, "lowering flow", flow,
                  {"to_edge_transform_and_lower", "executorch_recipe", "openvino", "onnx",
                   "torch_export", "aoti", "litert", "tosa", "ethos_u", "vgf", "cortex_m"});
  }
  static_cast<void>(node.text("partitioner"));
  static_cast<void>(node.text("recipe"));
  if (const auto options = node.find("options"); options && !options->json().is_object()) {
    options->complain_of_type("an object");
  }
  auto lowering = node.json();
  lowering["flow"] = flow;
  return lowering;
}

Recipe read_inline(const Node& node, const SpecContext& context) {
  Recipe recipe;
  recipe.name = node.text("name");
  if (recipe.name.empty()) {
    node.complain("needs a \"name\" for its column in reports");
  }
  recipe.engine = node.text("engine", "executorch");
  recipe.produces = node.text("produces", "pte");
  recipe.backend = node.text("backend");
  recipe.description = node.text("description");
  if (const auto quantization = node.find("quantization")) {
    recipe.quantization = read_quantization(*quantization, context);
  }
  if (const auto lowering = node.find("lowering")) {
    recipe.lowering = read_lowering(*lowering);
  } else {
    node.complain(
        "needs a \"lowering\", such as {\"partitioner\": \"xnnpack\"}; {} keeps portable kernels");
  }
  if (const auto tolerance = node.find("tolerance")) {
    recipe.tolerance = read_tolerance(*tolerance);
  }
  return recipe;
}

}  // namespace

std::vector<Recipe> read_recipes(const Node& node, const SpecContext& context) {
  std::vector<Recipe> recipes;
  std::set<std::string> names;
  for (const auto& item : node.items()) {
    const bool is_inline = item.json().is_object();
    if (is_inline && !item.expect_object(kRecipeKeys)) {
      continue;
    }
    recipes.push_back(is_inline ? read_inline(item, context) : read_preset(item, context));
    if (!names.insert(recipes.back().name).second) {
      item.complain(
          fmt::format("duplicate recipe '{}'; rename or remove one", recipes.back().name));
    }
  }
  return recipes;
}

}  // namespace assay::spec_parts
