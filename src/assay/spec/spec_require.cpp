// Bounds on metrics ("require"), and whether the spec measures what they are about.
#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/suggest.h"
#include "assay/record/axes.h"
#include "assay/record/metric.h"
#include "assay/spec/bound.h"
#include "assay/spec/node.h"
#include "assay/spec/reference_kind.h"
#include "assay/spec/spec.h"
#include "assay/spec/spec_parts.h"

namespace assay::spec_parts {
namespace {

std::vector<std::string> names_of_metrics() {
  std::vector<std::string> names;
  for (const auto& definition : metric_definitions()) {
    names.emplace_back(definition.name);
  }
  return names;
}

/// A bound on a program's own metric, whose unit nobody knows before it has run.
void check_bound_of_program(const Node& value) {
  if (!value.json().is_string()) {
    value.complain_of_type("a bound in quotes, such as \"<=12ms\"");
    return;
  }
  for (const auto* unit : {"", "ns", "bytes"}) {
    if (bound_from_text(value.text(), unit)) {
      return;
    }
  }
  value.complain(bound_from_text(value.text(), "").error().message);
}

/// Names the part that the spec lacks to measure the metric; empty: none.
std::string_view lack_for(const MetricDefinition& metric, const Spec& spec) {
  const auto& measure = spec.measure;
  const auto has_pass = [&measure](Pass pass) {
    return std::ranges::find(measure.passes, pass) != measure.passes.end();
  };
  if (metric.level == "output" && !has_pass(Pass::kEvaluate)) {
    return "the pass \"evaluate\"; assay eval has it";
  }
  if (metric.name == "speedup_ratio" && spec.baseline.empty()) {
    return "a \"baseline\", the recipe that speed-ups refer to";
  }
  if (is_time_of_launches(metric) && !has_pass(Pass::kTiming)) {
    return "the pass \"timing\"; assay bench has it";
  }
  if (metric.name == "leak_bytes_per_load" && measure.leak_check.loads == 0) {
    return "a leak check of loads (--leak-check, or \"leak_check\")";
  }
  if (metric.name == "leak_bytes_per_inference" && measure.leak_check.inferences == 0) {
    return "a leak check of inferences (--leak-check, or \"leak_check\")";
  }
  return "";
}

}  // namespace

Json read_require(const Node& node, const SpecContext& context) {
  for (const auto& [name, value] : node.members()) {
    if (name.starts_with(kProgramPrefix)) {
      check_bound_of_program(value);
      continue;
    }
    const auto* metric = find_metric(without_reference_kind(name));
    const bool is_foreign =
        context.has_plugins || without_reference_kind(name).find(':') != std::string::npos;
    if (metric == nullptr && !is_foreign) {
      node.complain(fmt::format("unknown metric '{}'{}", name,
                                suggestion_for(without_reference_kind(name), names_of_metrics())));
      continue;
    }
    if (!value.json().is_string()) {
      value.complain_of_type("a bound in quotes, such as \">=0.99\"");
      continue;
    }
    const auto bound = bound_from_text(value.text(), metric == nullptr ? "" : metric->unit);
    if (!bound) {
      value.complain(bound.error().message);
    }
  }
  return node.json().is_object() ? node.json() : Json::object();
}

void check_gates(const Node& top, const Spec& spec) {
  const auto require = top.find("require");
  if (!require || !require->json().is_object()) {
    return;
  }
  for (const auto& [name, bound] : require->members()) {
    const auto* metric = find_metric(without_reference_kind(name));
    const auto lack = metric == nullptr ? std::string_view() : lack_for(*metric, spec);
    if (!lack.empty()) {
      bound.complain(fmt::format("nothing measures it: it takes {}", lack));
    }
  }
}

}  // namespace assay::spec_parts
