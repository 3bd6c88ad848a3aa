#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/spec/node.h"
#include "assay/spec/program_format.h"
#include "assay/spec/reference_kind.h"
#include "assay/spec/spec.h"
#include "assay/spec/spec_parts.h"

namespace assay::spec_parts {
namespace {

constexpr std::string_view kWaysForPrograms =
    "give \"inputs\" and the outputs \"expected\" of them (--inputs, --expected), or an engine as "
    "the reference, \"against\": [\"engine:NAME\"] (--against engine:NAME)";

bool brings_outputs(const SpecModel& model) {
  return model.model.ref.ends_with(".bpte") ||
         has_expected_outputs(model.input_file, model.expected_file);
}

bool brings_inputs(const SpecModel& model) {
  return model.model.ref.ends_with(".bpte") || !model.input_file.empty();
}

bool is_program(const SpecModel& model) { return find_program_format(model.model.ref).has_value(); }

/// Only the plug-in that brings a recipe knows whether it quantizes.
bool may_quantize(const Recipe& recipe) {
  return !recipe.quantization.is_null() || recipe.produces.empty();
}

bool can_have(const SpecModel& model, const std::vector<Recipe>& recipes, const std::string& kind) {
  if (engine_of_kind(kind)) {
    return true;
  }
  if (kind == kFileKind) {
    return brings_outputs(model);
  }
  return !is_program(model) && (kind != "qdq" || std::ranges::any_of(recipes, may_quantize));
}

bool can_any_have(const Spec& spec, const std::string& kind) {
  return std::ranges::any_of(
      spec.models, [&](const SpecModel& model) { return can_have(model, spec.recipes, kind); });
}

void complain_of_kind(const Node& node, const Spec& spec, const std::string& kind) {
  if (kind == kFileKind) {
    node.complain(
        "\"against\" names \"file\", and no model has expected outputs; give one \"inputs\" and "
        "\"expected\", or inputs that hold both");
  } else if (std::ranges::all_of(spec.models, is_program)) {
    node.complain(
        fmt::format("\"against\" names \"{}\", which is computed from a model, and a finished "
                    "program has none; {}",
                    kind, kWaysForPrograms));
  } else {
    node.complain(
        fmt::format("\"against\" names \"{}\", the quantized graph, and no recipe quantizes; take "
                    "\"float32\", or a recipe that quantizes",
                    kind));
  }
}

}  // namespace

void check_references(const Node& top, const Spec& spec) {
  const auto evaluate = top.find("evaluate");
  const bool is_named = evaluate && evaluate->find("against");
  const auto& against = spec.evaluate.against;
  const auto& passes = spec.measure.passes;
  const bool is_evaluated = std::ranges::find(passes, Pass::kEvaluate) != passes.end();
  const bool has_any = std::ranges::any_of(
      against, [&spec](const std::string& kind) { return can_any_have(spec, kind); });
  if (is_named && against.empty()) {
    evaluate->complain("\"against\" is empty; leave it out for those there are");
  }
  for (const auto& kind : against) {
    // Where others serve, "qdq" is for those recipes that quantize.
    const bool is_excused = kind == "qdq" && has_any;
    const bool is_made = is_evaluated || kind == kFileKind;
    if (is_named && is_made && !is_excused && !can_any_have(spec, kind)) {
      complain_of_kind(*evaluate, spec, kind);
    }
  }
  const bool is_evaluated_only = is_evaluated && passes.size() == 1;
  if (is_evaluated_only && !is_named && !has_any && !spec.models.empty()) {
    top.complain(
        fmt::format("nothing can be evaluated: a finished program has no model to compute "
                    "a reference from; {}",
                    kWaysForPrograms));
  }
  if (evaluate && spec.evaluate.has_parity && std::ranges::none_of(spec.models, brings_inputs)) {
    evaluate->complain(
        "\"parity\" compares random inputs with real ones; give a model \"inputs\" from a file or "
        "a callable");
  }
}

}  // namespace assay::spec_parts
