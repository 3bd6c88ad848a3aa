#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/suggest.h"
#include "assay/record/axes.h"
#include "assay/record/device_trace.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/spec/node.h"
#include "assay/spec/reference_kind.h"
#include "assay/spec/spec.h"
#include "assay/spec/spec_parts.h"

namespace assay::spec_parts {
namespace {

std::vector<Pass> read_passes(const Node& node) {
  std::vector<Pass> passes;
  for (const auto& item : node.items()) {
    const auto pass = enum_from_name<Pass>(item.text());
    if (!pass) {
      item.complain(pass.error().message);
    } else if (std::ranges::find(passes, *pass) == passes.end()) {
      passes.push_back(*pass);
    }
  }
  return passes;
}

// Parts of a tolerance that hold for one kind of reference, or for integer outputs.
std::vector<std::string> tolerance_parts() {
  auto parts = named_reference_kinds();
  parts.emplace_back("engine");
  parts.emplace_back("integer");
  return parts;
}

std::vector<std::string> tolerance_keys() {
  std::vector<std::string> keys = {"separation_db", "allow_nondeterminism", "why"};
  for (const auto& definition : metric_definitions()) {
    if (definition.level == "output" && definition.better != Better::kNone) {
      keys.emplace_back(definition.name);
    }
  }
  return keys;
}

void check_tolerance_value(const std::string& key, const Node& value) {
  if (key == "why" && !value.json().is_string()) {
    value.complain_of_type("a string: the reason for these numbers");
  } else if (key == "allow_nondeterminism" && !value.json().is_boolean()) {
    value.complain_of_type("true or false");
  } else if (key != "why" && key != "allow_nondeterminism" && !value.json().is_number()) {
    value.complain_of_type("a number");
  }
}

// As evaluate/tolerance.h reads it, but before anything runs, and with the path of what is wrong.
// `has_reason`: the document around this part says why.
void check_tolerance_part(const Node& node, bool is_part, bool has_reason) {
  const auto parts = is_part ? std::vector<std::string>() : tolerance_parts();
  const auto keys = tolerance_keys();
  const bool is_reasoned = has_reason || node.find("why").has_value();
  bool has_bounds = false;
  for (const auto& [key, value] : node.members()) {
    if (std::ranges::find(parts, key) != parts.end()) {
      check_tolerance_part(value, /*is_part=*/true, is_reasoned);
      continue;
    }
    if (std::ranges::find(keys, key) == keys.end()) {
      node.complain(fmt::format("unknown key '{}'{}", key, suggestion_for(key, keys)));
      continue;
    }
    check_tolerance_value(key, value);
    has_bounds = has_bounds || value.json().is_number();
  }
  if (has_bounds && !is_reasoned) {
    node.complain("needs a \"why\": a sentence on where these numbers come from");
  }
}

// "auto", which is the default, or how many.
void read_warmup(const Node& node, MeasurePlan& plan) {
  const auto warmup = node.find("warmup");
  if (!warmup || warmup->json() == "auto") {
    return;
  }
  if (!warmup->json().is_number_integer()) {
    warmup->complain_of_type("\"auto\" or a whole number of at least 0");
    return;
  }
  plan.warmup_iterations = node.integer("warmup", 0, plan.warmup_iterations);
  plan.detects_warmup = false;
}

// Reads a number, or "auto".
void read_iterations(const Node& node, SpecMeasure& measure) {
  const auto iterations = node.find("iterations");
  if (iterations && iterations->json().is_string()) {
    measure.adapts_iterations = iterations->json() == "auto";
    if (!measure.adapts_iterations) {
      iterations->complain_of_type("\"auto\" or a whole number of at least 1");
    }
    return;
  }
  measure.plan.iterations = node.integer("iterations", 1, measure.plan.iterations);
}

/// "1%" is 0.01.
double ratio_from_percent(const Node& node) {
  const auto text = node.text();
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc() || std::string_view(end) != "%" || percent <= 0 || percent > 100) {
    node.complain_of_type("a share of the median such as \"1%\"");
    return 0;
  }
  return percent / 100;
}

// An interval needs six launches to be one of 95 %.
void read_launches(const Node& node, SpecMeasure& measure) {
  constexpr int kFewestForInterval = 6;
  if (const auto interval = node.find("interval")) {
    measure.interval_ratio = ratio_from_percent(*interval);
    measure.launches = kFewestForInterval;
  }
  measure.launches = node.integer("launches", 1, measure.launches);
  measure.most_launches = node.integer("most_launches", 1, measure.most_launches);
  measure.case_budget_ns = node.duration_ns("case_budget", 0);
  const bool is_sequential = measure.interval_ratio > 0;
  if (is_sequential && measure.launches < kFewestForInterval) {
    node.complain(
        fmt::format("\"launches\" {} has no interval of 95 %: with \"interval\" there "
                    "are at least {}",
                    measure.launches, kFewestForInterval));
  }
  if (is_sequential && measure.launches > measure.most_launches) {
    node.complain(fmt::format("\"launches\" {} is more than \"most_launches\" {}", measure.launches,
                              measure.most_launches));
  }
  for (const char* key : {"most_launches", "case_budget"}) {
    if (!is_sequential && node.find(key)) {
      node.complain(fmt::format("\"{}\" needs an \"interval\" to work towards", key));
    }
  }
}

SpecLeakCheck read_leak_check(const Node& node, const std::vector<Pass>& passes) {
  SpecLeakCheck check;
  if (!node.expect_object(kLeakCheckKeys)) {
    return check;
  }
  check.loads = node.integer("loads", 0, check.loads);
  check.inferences = node.integer("inferences", 0, check.inferences);
  if (check.loads == 0 && check.inferences == 0) {
    node.complain("repeats nothing; give \"loads\", such as 20, or \"inferences\", such as 200");
  }
  if (std::ranges::find(passes, Pass::kMemory) == passes.end()) {
    node.complain("is made in the memory pass: name \"memory\" in \"passes\"");
  }
  return check;
}

/// "qdq", "file", or "engine:NAME".
std::string read_kind(const Node& node) {
  auto kind = node.text();
  if (!is_reference_kind(kind)) {
    auto known = named_reference_kinds();
    known.emplace_back("engine:NAME");
    expect_one_of(node, "kind of reference", kind, known);
  }
  return kind;
}

bool read_flag(const Node& node, std::string_view key) {
  const auto value = node.find(key);
  if (!value) {
    return false;
  }
  if (!value->json().is_boolean()) {
    value->complain_of_type("true or false");
    return false;
  }
  return value->json().get<bool>();
}

bool is_scalar(const Json& value) {
  return value.is_string() || value.is_boolean() || value.is_number();
}

}  // namespace

void expect_one_of(const Node& node, std::string_view what, std::string_view name,
                   const std::vector<std::string>& known) {
  if (std::ranges::find(known, name) == known.end()) {
    node.complain(fmt::format("unknown {} '{}'{}", what, name, suggestion_for(name, known)));
  }
}

SpecMeasure read_measure(const Node& node) {
  SpecMeasure measure;
  if (!node.expect_object(kMeasureKeys)) {
    return measure;
  }
  auto& plan = measure.plan;
  read_launches(node, measure);
  read_warmup(node, plan);
  read_iterations(node, measure);
  plan.min_iterations =
      node.integer("min_iterations", 1, std::min(plan.min_iterations, plan.iterations));
  plan.time_budget_ns = node.duration_ns("time_budget", plan.time_budget_ns);
  if (plan.min_iterations > plan.iterations) {
    node.complain(fmt::format("\"min_iterations\" {} is more than \"iterations\" {}",
                              plan.min_iterations, plan.iterations));
  }
  if (const auto passes = node.find("passes")) {
    measure.passes = read_passes(*passes);
    if (passes->json().is_array() && passes->json().empty()) {
      passes->complain("is empty; name at least one of: timing, evaluate, memory, profile");
    }
  }
  measure.sensors = node.text("sensors", measure.sensors);
  const auto sensors = node.find("sensors");
  if (const auto period = sensors_period_from_text(measure.sensors); sensors && !period) {
    sensors->complain(period.error().message);
  }
  if (const auto check = node.find("leak_check")) {
    measure.leak_check = read_leak_check(*check, measure.passes);
  }
  return measure;
}

Json read_tolerance(const Node& node) {
  check_tolerance_part(node, /*is_part=*/false, /*has_reason=*/false);
  return node.json().is_object() ? node.json() : Json::object();
}

SpecEvaluate read_evaluate(const Node& node) {
  SpecEvaluate evaluate;
  if (!node.expect_object(kEvaluateKeys)) {
    return evaluate;
  }
  if (const auto against = node.find("against")) {
    evaluate.against.clear();
    for (const auto& kind : against->items()) {
      evaluate.against.push_back(read_kind(kind));
    }
  }
  evaluate.samples = node.integer("samples", 1, evaluate.samples);
  evaluate.seed = node.seed("seed", evaluate.seed);
  evaluate.gives_layers = read_flag(node, "layers");
  evaluate.has_parity = read_flag(node, "parity");
  if (const auto tolerance = node.find("tolerance")) {
    evaluate.tolerance = read_tolerance(*tolerance);
  }
  return evaluate;
}

SpecCalibration read_calibration(const Node& node) {
  SpecCalibration calibration;
  if (node.expect_object(kCalibrationKeys)) {
    calibration.batches = node.integer("batches", 1, calibration.batches);
    calibration.seed = node.seed("seed", calibration.seed);
  }
  return calibration;
}

std::vector<SpecExclude> read_exclude(const Node& node, const SpecContext& context) {
  std::vector<SpecExclude> rules;
  for (const auto& item : node.items()) {
    SpecExclude rule;
    if (!item.expect_object(kExcludeKeys)) {
      continue;
    }
    rule.model = item.text("model");
    rule.recipe = item.text("recipe");
    rule.engine = item.text("engine");
    rule.device = item.text("device");
    if (const auto options = item.find("options")) {
      static_cast<void>(options->members());
      rule.options = options->json().is_object() ? options->json() : Json::object();
    }
    if (const auto scenario = item.find("scenario")) {
      rule.scenario = read_scenario(*scenario, context);
    }
    if (item.json().empty()) {
      item.complain(
          "is empty and would exclude every case; name a model, recipe, engine, device, options "
          "or scenario");
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

std::map<std::string, std::vector<Json>> read_options(const Node& node) {
  std::map<std::string, std::vector<Json>> options;
  for (const auto& [name, value] : node.members()) {
    if (is_scalar(value.json())) {
      options[name] = {value.json()};
      continue;
    }
    auto& values = options[name];
    for (const auto& item : value.items()) {
      if (!is_scalar(item.json())) {
        item.complain_of_type("a number, a string, true or false");
      } else if (std::ranges::find(values, item.json()) != values.end()) {
        item.complain(fmt::format("{} stands here twice", item.json().dump()));
      } else {
        values.push_back(item.json());
      }
    }
    if (value.json().is_array() && value.json().empty()) {
      value.complain("is empty; give at least one value, or leave the option out");
    }
  }
  return options;
}

}  // namespace assay::spec_parts
