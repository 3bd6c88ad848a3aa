#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/case.h"

namespace assay {

/// Presets by name. The built-in ones are python/assay/data/recipes.json, the file that the
/// toolchain reads too; a plug-in's file has the same schema.
class RecipeCatalog {
 public:
  /// The presets of this build; none if it was built without the Python package's data.
  static const RecipeCatalog& built_in();

  /// Reads a document of schema assay/recipes/1. `origin` opens messages.
  /// Errors: kInvalidArgument.
  static Result<RecipeCatalog> from_json(const Json& document, std::string_view origin);

  [[nodiscard]] std::span<const Recipe> recipes() const { return recipes_; }

  /// The preset with its quantization resolved. "executorch/recipe:X" is one of ExecuTorch's own
  /// registered recipes: a preset that only the toolchain knows. Errors: kNotFound with
  /// did-you-mean.
  [[nodiscard]] Result<Recipe> get_recipe(std::string_view name) const;

  /// Errors: kNotFound with did-you-mean.
  [[nodiscard]] Result<Json> get_quantization(std::string_view name) const;

  [[nodiscard]] std::vector<std::string> recipe_names() const;

 private:
  std::vector<Recipe> recipes_;
  std::map<std::string, Json, std::less<>> quantizations_;
};

}  // namespace assay
