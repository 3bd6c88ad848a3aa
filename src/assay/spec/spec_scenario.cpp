#include <array>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/record/core_names.h"
#include "assay/record/scenario.h"
#include "assay/spec/node.h"
#include "assay/spec/program_format.h"
#include "assay/spec/spec.h"
#include "assay/spec/spec_parts.h"

namespace assay::spec_parts {
namespace {

constexpr std::int64_t kMostStreams = 64;

/// Notes the problem of a value that is no text, once.
bool is_text(const Node& node) {
  if (!node.json().is_string()) {
    node.complain_of_type("a string");
    return false;
  }
  return true;
}

/// A value as the case keeps it; null for the default, which is no part of a case.
Json read_gap(const Node& node, const SpecContext& /*context*/) {
  if (!node.json().is_string()) {
    node.complain_of_type("a duration with its unit in quotes, such as \"20ms\"");
    return nullptr;
  }
  const auto ns = duration_ns_from_text(node.text());
  if (!ns) {
    node.complain(ns.error().message);
    return nullptr;
  }
  return *ns == 0 ? Json(nullptr) : Json(*ns);
}

/// A launch of a few iterations tells nothing about heat.
Json read_duration(const Node& node, const SpecContext& /*context*/) {
  constexpr std::int64_t kLeastNs = 1'000'000'000;
  if (!node.json().is_string()) {
    node.complain_of_type("\"burst\", or a duration with its unit in quotes, such as \"5min\"");
    return nullptr;
  }
  if (node.json() == "burst") {
    return nullptr;
  }
  const auto ns = duration_ns_from_text(node.text());
  if (!ns) {
    node.complain(ns.error().message);
    return nullptr;
  }
  if (*ns < kLeastNs) {
    node.complain(fmt::format("'{}' is too short to become hot in; give 1s or more, or \"burst\"",
                              node.text()));
  }
  return *ns;
}

Json read_streams(const Node& node, const SpecContext& /*context*/) {
  const auto streams = node.integer(1, 1);
  if (streams > kMostStreams) {
    node.complain(fmt::format("{} streams are more than {}", streams, kMostStreams));
  }
  return streams == 1 ? Json(nullptr) : Json(streams);
}

Json read_page_cache(const Node& node, const SpecContext& /*context*/) {
  if (!is_text(node)) {
    return nullptr;
  }
  auto text = node.text();
  if (text == "found") {
    return nullptr;
  }
  expect_one_of(node, "state of the page cache", text, {"found", "cold", "warm"});
  return text;
}

Json read_cores(const Node& node, const SpecContext& /*context*/) {
  if (!is_text(node)) {
    return nullptr;
  }
  auto text = node.text();
  if (text == "any") {
    return nullptr;
  }
  if (const auto cores = cores_from_text(text); text != "own" && !is_core_name(text) && !cores) {
    node.complain(cores.error().message);
  }
  return text;
}

Json read_background(const Node& node, const SpecContext& /*context*/) {
  if (!is_text(node)) {
    return nullptr;
  }
  auto text = node.text();
  if (text == "none") {
    return nullptr;
  }
  if (const auto background = background_from_text(text); !background) {
    node.complain(background.error().message);
  }
  return text;
}

Json read_cool_below(const Node& node, const SpecContext& /*context*/) {
  if (!node.json().is_number() || node.json().get<double>() <= 0) {
    node.complain_of_type("a temperature in degrees Celsius, such as 45");
    return nullptr;
  }
  return node.json();
}

Json read_beside(const Node& node, const SpecContext& context) {
  if (!is_text(node)) {
    return nullptr;
  }
  const auto text = node.text();
  if (text == "none") {
    return nullptr;
  }
  if (!find_program_format(text)) {
    node.complain(fmt::format(
        "'{}' is not a finished program; `assay aot MODEL --recipe … --out FOLDER` builds one",
        text));
  }
  return (context.folder / text).lexically_normal().string();
}

struct Axis {
  std::string_view name;   ///< In a spec.
  std::string_view field;  ///< In record/scenario.h.
  Json (*read)(const Node&, const SpecContext&);
};

constexpr auto kAxes = std::to_array<Axis>({{"gap", "gap_ns", read_gap},
                                            {"duration", "duration_ns", read_duration},
                                            {"streams", "streams", read_streams},
                                            {"page_cache", "page_cache", read_page_cache},
                                            {"cores", "cores", read_cores},
                                            {"background", "background", read_background},
                                            {"cool_below", "cool_below_celsius", read_cool_below},
                                            {"beside", "beside", read_beside}});

}  // namespace

std::map<std::string, std::vector<Json>> read_scenario(const Node& node,
                                                       const SpecContext& context) {
  std::map<std::string, std::vector<Json>> axes;
  if (!node.expect_object(kScenarioKeys)) {
    return axes;
  }
  for (const auto& axis : kAxes) {
    const auto member = node.find(axis.name);
    if (!member) {
      continue;
    }
    auto& values = axes[std::string(axis.field)];
    const auto items = member->json().is_array() ? member->items() : std::vector<Node>{*member};
    for (const auto& item : items) {
      values.push_back(axis.read(item, context));
    }
    if (items.empty()) {
      member->complain("is empty; leave it out, or give a value");
    }
  }
  return axes;
}

}  // namespace assay::spec_parts
