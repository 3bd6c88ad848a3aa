#include "features/conform/plan.h"

#include "features/conform/conform_case.h"
#include "features/conform/known_gaps.h"
#include "features/conform/named_operators.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/artifact/job_requests.h"
#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/record/case.h"
#include "assay/record/model_inputs.h"
#include "assay/spec/reference_kind.h"

namespace assay {
namespace {

constexpr std::size_t kFew = 4;  ///< Halves of these cost more programs than each alone.
const ConformCase& case_at(const ConformPlan& plan, std::size_t cell) {
  return plan.cases[plan.cells[cell].case_index];
}

/// Key that the cells of one program share.
std::string group_of(const ConformPlan& plan, std::size_t cell) {
  const auto& eval_case = plan.cells[cell].eval_case;
  return Json::array({plan.cells[cell].setting_index, case_at(plan, cell).dtype,
                      eval_case.inputs.generator, eval_case.inputs.seed, eval_case.inputs.count,
                      eval_case.recipe.tolerance})
      .dump();
}

Case cell_of(const ConformSetting& setting, const ConformCase& conform_case) {
  auto cell = setting.pattern;
  cell.model = conform_case.model;
  cell.inputs = conform_case.inputs;
  if (conform_case.inputs.generator == kModelInputs) {
    cell.calibration.generator = kModelInputs;  // With another seed.
  }
  if (const auto relaxed = find_relaxed_bound(setting.gaps, setting.gap_context, conform_case)) {
    Json tolerance = {{"error_bound_ratio", relaxed->error_bound_ratio}, {"why", relaxed->reason}};
    if (const auto type = cell.recipe.tolerance.find("computes_in");
        type != cell.recipe.tolerance.end()) {
      tolerance["computes_in"] = *type;
    }
    cell.recipe.tolerance = std::move(tolerance);
  }
  return cell;
}

/// Fills programs one after the other; an operator that does not fit in what is left begins a new
/// one, so that a case more or less moves the borders of few programs.
class Packer {
 public:
  Packer(const ConformPlan& plan, const BatchLimits& limits) : plan_(plan), limits_(limits) {}

  std::vector<ConformUnit> pack(const std::vector<std::size_t>& cells) {
    for (std::size_t begin = 0; begin < cells.size();) {
      auto end = begin;
      while (end < cells.size() && name(cells[end]) == name(cells[begin])) {
        ++end;
      }
      add_operator({cells.begin() + static_cast<std::ptrdiff_t>(begin),
                    cells.begin() + static_cast<std::ptrdiff_t>(end)});
      begin = end;
    }
    close();
    return std::move(units_);
  }

 private:
  const std::string& name(std::size_t cell) const { return case_at(plan_, cell).operator_name; }

  void add_operator(const std::vector<std::size_t>& cells) {
    double cost = 0;
    for (const auto cell : cells) {
      cost += case_at(plan_, cell).cost;
    }
    if (unit_.cells.size() + cells.size() > limits_.cases || cost_ + cost > limits_.cost) {
      close();
    }
    for (const auto cell : cells) {
      if (unit_.cells.size() >= limits_.cases || cost_ >= limits_.cost) {
        close();
      }
      unit_.cells.push_back(cell);
      cost_ += case_at(plan_, cell).cost;
    }
  }

  void close() {
    if (!unit_.cells.empty()) {
      units_.push_back(std::exchange(unit_, {}));
    }
    cost_ = 0;
  }

  const ConformPlan& plan_;
  const BatchLimits& limits_;
  std::vector<ConformUnit> units_;
  ConformUnit unit_;
  double cost_ = 0;
};

std::vector<ConformUnit> each_alone(const std::vector<std::size_t>& cells) {
  std::vector<ConformUnit> units;
  units.reserve(cells.size());
  for (const auto cell : cells) {
    units.push_back({.cells = {cell}});
  }
  return units;
}

/// Position of the change of operators that is nearest to the middle; 0 if there is none.
std::size_t border_near_middle(const ConformPlan& plan, const std::vector<std::size_t>& cells) {
  const auto distance = [&cells](std::size_t at) {
    const auto middle = cells.size() / 2;
    return at > middle ? at - middle : middle - at;
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < cells.size(); ++i) {
    const bool is_border =
        case_at(plan, cells[i]).operator_name != case_at(plan, cells[i - 1]).operator_name;
    if (is_border && (best == 0 || distance(i) < distance(best))) {
      best = i;
    }
  }
  return best;
}

}  // namespace

ConformPlan plan_conformance(std::vector<ConformCase> cases, std::vector<ConformSetting> settings,
                             const BatchLimits& limits) {
  ConformPlan plan{.settings = std::move(settings), .cases = std::move(cases)};
  std::map<std::string, std::vector<std::size_t>> groups;
  std::vector<std::size_t> alone;
  for (std::size_t s = 0; s < plan.settings.size(); ++s) {
    const auto& setting = plan.settings[s];
    for (std::size_t i = 0; i < plan.cases.size(); ++i) {
      const auto& conform_case = plan.cases[i];
      plan.cells.push_back(
          {.case_index = i, .setting_index = s, .eval_case = cell_of(setting, conform_case)});
      const auto index = plan.cells.size() - 1;
      const bool is_joined = conform_case.is_joinable &&
                             !is_expected_to_fail(setting.gaps, setting.gap_context, conform_case);
      (is_joined ? groups[group_of(plan, index)] : alone).push_back(index);
    }
  }
  for (auto& [group, cells] : groups) {
    std::ranges::sort(cells, {}, [&](std::size_t cell) {
      return std::pair(std::string_view(case_at(plan, cell).operator_name), cell);
    });
    for (auto& unit : Packer(plan, limits).pack(cells)) {
      plan.units.push_back(std::move(unit));
    }
  }
  for (auto& unit : each_alone(alone)) {
    plan.units.push_back(std::move(unit));
  }
  return plan;
}

Case case_of(const ConformPlan& plan, const ConformUnit& unit) {
  auto cell = plan.cells[unit.cells.front()].eval_case;
  if (!unit.is_joint()) {
    return cell;
  }
  Json models = Json::array();
  for (const auto index : unit.cells) {
    models.push_back(model_request(plan.cells[index].eval_case.model));
  }
  cell.model = {.ref = "joint", .args = {{"models", std::move(models)}}};
  return cell;
}

std::vector<ConformUnit> split_unit(const ConformPlan& plan, const ConformUnit& unit,
                                    std::string_view error) {
  const auto named = operators_named(error);
  std::vector<std::size_t> blamed;
  std::vector<std::size_t> rest;
  for (const auto cell : unit.cells) {
    const bool is_named = named.contains(operator_stem(case_at(plan, cell).operator_name));
    (is_named ? blamed : rest).push_back(cell);
  }
  if (!blamed.empty() && !rest.empty()) {
    auto units = each_alone(blamed);
    units.push_back({.cells = std::move(rest)});
    return units;
  }
  const auto border = border_near_middle(plan, unit.cells);
  if (unit.cells.size() <= kFew || border == 0) {
    return each_alone(unit.cells);
  }
  const auto middle = unit.cells.begin() + static_cast<std::ptrdiff_t>(border);
  return {{.cells = {unit.cells.begin(), middle}}, {.cells = {middle, unit.cells.end()}}};
}

std::string reference_kind_of(const Case& cell) {
  return std::string(name_of(nearest_reference_kind(cell, cell.inputs.generator == kModelInputs)));
}

}  // namespace assay
