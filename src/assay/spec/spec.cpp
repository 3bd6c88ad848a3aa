#include "assay/spec/spec.h"

#include "spec_data.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/sandbox.h"
#include "assay/spec/node.h"
#include "assay/spec/program_format.h"
#include "assay/spec/spec_parts.h"

namespace assay {
namespace {

constexpr std::string_view kSchema = "assay/spec/1";
constexpr std::string_view kSchemaFamily = "assay/spec/";

constexpr auto kKeys = std::to_array<SpecKeys>({
    {"", spec_parts::kTopKeys},
    {"models[]", spec_parts::kModelKeys},
    {"models[].inputs[]", spec_parts::kInputKeys},
    {"recipes[]", spec_parts::kRecipeKeys},
    {"recipes[].lowering", spec_parts::kLoweringKeys},
    {"scenario", spec_parts::kScenarioKeys},
    {"measure", spec_parts::kMeasureKeys},
    {"measure.leak_check", spec_parts::kLeakCheckKeys},
    {"evaluate", spec_parts::kEvaluateKeys},
    {"calibration", spec_parts::kCalibrationKeys},
    {"exclude[]", spec_parts::kExcludeKeys},
});

Status check_schema(const Json& document, const std::string& origin) {
  const auto found = document.is_object() ? document.find("schema") : document.end();
  if (found == document.end() || !found->is_string()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: a spec is an object that begins with \"schema\": \"{}\"", origin,
                            kSchema));
  }
  const auto schema = found->get<std::string>();
  if (schema == kSchema) {
    return {};
  }
  const bool is_other_version = schema.starts_with(kSchemaFamily);
  return fail(is_other_version ? ErrorCode::kUnsupported : ErrorCode::kInvalidArgument,
              fmt::format("{}: schema: '{}' cannot be read, this Assay reads '{}'{}", origin,
                          schema, kSchema, is_other_version ? "; update Assay" : ""));
}

std::vector<SpecEngine> read_engines(const Node& node) {
  std::vector<SpecEngine> engines;
  std::set<std::string> seen;
  for (const auto& item : node.items()) {
    const auto text = item.text();
    const auto at = text.find('@');
    engines.push_back(
        {.name = text.substr(0, at), .label = at == std::string::npos ? "" : text.substr(at + 1)});
    if (item.json().is_string() && (engines.back().name.empty() || text.ends_with('@'))) {
      item.complain("must be an engine's name, or name@build, such as \"executorch@1.5.1\"");
    }
    if (!seen.insert(text).second) {
      item.complain(fmt::format("duplicate engine '{}'", text));
    }
  }
  return engines;
}

std::map<std::string, std::string> read_labels(const Node& node) {
  std::map<std::string, std::string> labels;
  for (const auto& [name, value] : node.members()) {
    labels[name] = value.text();
  }
  return labels;
}

// Applies `read` to the member, if it is there.
template <class Target, class Read>
void read_member(const Node& top, std::string_view key, Target& target, Read read) {
  if (const auto member = top.find(key)) {
    target = read(*member);
  }
}

void read_matrix(const Node& top, const SpecContext& context, Spec& spec) {
  read_member(top, "models", spec.models,
              [&](const Node& node) { return spec_parts::read_models(node, context); });
  read_member(top, "recipes", spec.recipes,
              [&](const Node& node) { return spec_parts::read_recipes(node, context); });
  read_member(top, "engines", spec.engines, read_engines);
  read_member(top, "options", spec.options, spec_parts::read_options);
  read_member(top, "scenario", spec.scenario,
              [&](const Node& node) { return spec_parts::read_scenario(node, context); });
  spec.devices = top.texts("devices", spec.devices);
  read_member(top, "exclude", spec.exclude,
              [&](const Node& node) { return spec_parts::read_exclude(node, context); });
  read_member(top, "expand", spec.expand, [](const Node& node) {
    const auto expand = enum_from_name<Expand>(node.text());
    if (!expand) {
      node.complain(expand.error().message);
    }
    return expand.value_or(Expand::kFull);
  });
  read_member(top, "sandbox", spec.sandbox, [](const Node& node) {
    const auto mode = enum_from_name<SandboxMode>(node.text());
    if (!mode) {
      node.complain(mode.error().message);
    }
    return mode.value_or(SandboxMode::kOn);
  });
  spec.max_cases = top.integer("max_cases", 1, spec.max_cases);
}

void read_plans(const Node& top, const SpecContext& context, Spec& spec) {
  read_member(top, "measure", spec.measure, spec_parts::read_measure);
  read_member(top, "evaluate", spec.evaluate, spec_parts::read_evaluate);
  read_member(top, "calibration", spec.calibration, spec_parts::read_calibration);
  read_member(top, "require", spec.require,
              [&](const Node& node) { return spec_parts::read_require(node, context); });
  const auto measure = top.find("measure");
  const bool has_passes = measure && measure->find("passes");
  if (!has_passes && top.find("evaluate")) {
    spec.measure.passes.push_back(Pass::kEvaluate);
  }
  read_member(top, "labels", spec.labels, read_labels);
  spec.name = top.text("name");
  spec.seed = top.seed("seed", 0);
  spec.baseline = top.text("baseline");
}

bool needs_recipe(const SpecModel& model) { return !find_program_format(model.model.ref); }

void check_presence_of_models(const Node& top, const SpecContext& context) {
  const bool has_models = top.find("models").has_value();
  if (has_models && !context.has_models) {
    top.complain("describes settings only; leave \"models\" out");
  } else if (!has_models && context.has_models) {
    top.complain("needs \"models\", such as [\"torchvision:mobilenet_v2\"]");
  }
}

// Checks relations between the parts.
void check_whole(const Node& top, const Spec& spec, const SpecContext& context) {
  check_presence_of_models(top, context);
  const bool has_to_lower = !context.has_models || std::ranges::any_of(spec.models, needs_recipe);
  if (spec.recipes.empty() && has_to_lower) {
    top.complain(
        "needs \"recipes\", such as [\"executorch/xnnpack-fp32\"]; only finished programs "
        "(.pte) do without");
  }
  if (spec.devices.empty()) {
    top.complain("\"devices\" is empty; leave it out for the local one");
  }
  if (context.has_models) {
    spec_parts::check_references(top, spec);
  }
  spec_parts::check_gates(top, spec);
  if (spec.evaluate.seed == spec.calibration.seed) {
    top.complain(
        fmt::format("\"evaluate\" and \"calibration\" have the same seed {}, so a recipe "
                    "would be judged on what it was calibrated with; change one",
                    spec.evaluate.seed));
  }
  std::vector<std::string> names;
  names.reserve(spec.recipes.size());
  for (const auto& recipe : spec.recipes) {
    names.push_back(recipe.name);
  }
  if (const auto baseline = top.find("baseline"); baseline && baseline->json().is_string()) {
    spec_parts::expect_one_of(*baseline, "baseline", spec.baseline, names);
  }
}

}  // namespace

std::span<const SpecKeys> spec_keys() { return kKeys; }

std::string_view spec_schema() { return spec_data("spec.schema.json"); }

Result<Spec> spec_from_json(const Json& document, const SpecContext& context) {
  ASSAY_RETURN_IF_ERROR(check_schema(document, context.origin));
  Problems problems(context.origin);
  const Node top(document, "", problems);
  Spec spec;
  if (top.expect_object(spec_parts::kTopKeys)) {
    read_matrix(top, context, spec);
    read_plans(top, context, spec);
    check_whole(top, spec, context);
  }
  ASSAY_RETURN_IF_ERROR(problems.status());
  spec.origin = context.origin;
  spec.document = document;
  spec.digest = digest_of_json(document);
  return spec;
}

Result<Spec> read_spec_file(const std::filesystem::path& path, SpecContext context) {
  ASSAY_ASSIGN_OR_RETURN(const auto document, read_json_file(path));
  context.origin = path.string();
  std::error_code ignored;
  const auto absolute = std::filesystem::absolute(path, ignored);
  context.folder = absolute.parent_path();
  auto spec = spec_from_json(document, context);
  if (spec && spec->name.empty()) {
    spec->name = path.stem().string();
  }
  return spec;
}

}  // namespace assay
