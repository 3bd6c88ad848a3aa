#include "assay/spec/exclusion.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/record/case.h"
#include "assay/spec/spec.h"

namespace assay {
namespace {

bool matches(const SpecExclude& rule, const Case& cell) {
  const auto is_same = [](const std::string& wanted, const std::string& a, const std::string& b) {
    return wanted.empty() || wanted == a || wanted == b;
  };
  const auto has_option = [&cell](const auto& option) {
    const auto found = cell.options.find(option.key());
    return found != cell.options.end() && *found == option.value();
  };
  for (const auto& option : rule.options.items()) {
    if (!has_option(option)) {
      return false;
    }
  }
  const auto has_condition = [&cell](const auto& condition) {
    const auto& [field, values] = condition;
    const auto found = cell.scenario.find(field);
    const Json value = found == cell.scenario.end() ? Json() : *found;
    return std::ranges::find(values, value) != values.end();
  };
  return std::ranges::all_of(rule.scenario, has_condition) &&
         is_same(rule.model, cell.model.ref, short_name_of(cell.model)) &&
         is_same(rule.recipe, cell.recipe.name, cell.recipe.name) &&
         is_same(rule.engine, cell.engine, cell.engine_build) &&
         is_same(rule.device, cell.device, cell.device);
}

}  // namespace

bool Exclusion::takes(const Case& cell) {
  bool is_hit = false;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (matches(rules_[i], cell)) {
      busy_.insert(i);
      is_hit = true;
    }
  }
  return is_hit;
}

std::vector<std::size_t> Exclusion::idle_rules() const {
  std::vector<std::size_t> idle;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (!busy_.contains(i)) {
      idle.push_back(i);
    }
  }
  return idle;
}

}  // namespace assay
