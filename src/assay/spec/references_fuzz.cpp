// Whatever a reference, a bound, a recipe file or an ONNX file holds, its reader refuses it or
// reads it, and never leaves its bytes.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "assay/base/fuzz_input.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/spec/bound.h"
#include "assay/spec/model_name.h"
#include "assay/spec/models.h"
#include "assay/spec/onnx_files.h"
#include "assay/spec/onnx_inputs.h"
#include "assay/spec/program_format.h"
#include "assay/spec/recipes.h"

namespace {

void read_bound(std::string_view text) {
  for (const std::string_view unit : {"", "ns", "bytes", "dB"}) {
    if (const auto bound = assay::bound_from_text(text, unit)) {
      ASSAY_CHECK(std::isfinite(bound->value));
      static_cast<void>(bound->is_met_by(0));
    }
  }
}

void read_reference(std::string_view text) {
  static_cast<void>(assay::find_program_format(text));
  static_cast<void>(assay::complaint_about_model_name(text));
  static_cast<void>(assay::model_suggestion_for(text));
  if (const auto file = assay::find_model_file(text)) {
    ASSAY_CHECK(text.starts_with(*file));
  }
}

void read_recipes(std::string_view text) {
  const auto document = assay::parse_json(text, "fuzz");
  const auto catalog =
      document ? assay::RecipeCatalog::from_json(*document, "fuzz") : assay::fail({}, "");
  if (!catalog) {
    return;
  }
  for (const auto& name : catalog->recipe_names()) {
    const auto recipe = catalog->get_recipe(name);
    ASSAY_CHECK(recipe && recipe->name == name);
  }
}

void read_onnx(std::string_view text) {
  const assay::FuzzedFile file(text);
  std::size_t bytes = 0;
  for (const auto& name : assay::read_external_files(file.path())) {
    bytes += name.size();
  }
  ASSAY_CHECK(bytes <= text.size());
  if (const auto inputs = assay::read_onnx_inputs(file.path())) {
    ASSAY_CHECK(inputs->size() <= text.size());
  }
}

constexpr assay::FuzzedParser kParsers[] = {
    {'b', read_bound}, {'m', read_reference}, {'r', read_recipes}, {'o', read_onnx}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return assay::run_fuzzed_parser(kParsers, data, size);
}
