#include "features/watch/explanation.h"

#include "features/watch/revision_runner.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/profile.h"
#include "assay/record/summary.h"
#include "assay/summary/profile_difference.h"

namespace assay::watch {
namespace {

constexpr std::size_t kMostRows = 8;
/// A part of the inference; what changed by less explains nothing.
constexpr double kLeastPart = 0.002;

/// Parts of a profile that are no operator: the rest of the method and of delegates.
std::set<std::string> rest_names(const std::optional<ProfileBreakdown>& breakdown) {
  std::set<std::string> names;
  for (const auto& part : breakdown.value_or(ProfileBreakdown()).parts) {
    if (part.kind == "rest") {
      names.insert(part.name);
    }
  }
  return names;
}

Json operators_from(const ProfileDifference& difference, const std::set<std::string>& rest) {
  Json operators = Json::array();
  for (const auto& row : difference.parts) {
    if (!rest.contains(row.name) && operators.size() < kMostRows &&
        std::abs(row.difference_ns) >= kLeastPart * difference.a_ns) {
      operators.push_back({{"name", row.name},
                           {"before_ns", row.a_ns},
                           {"after_ns", row.b_ns},
                           {"change_ns", row.difference_ns},
                           {"share", row.share_ratio}});
    }
  }
  return operators;
}

/// The functions that changed most, the largest first.
Json functions_from(const InstructionReport& before, const InstructionReport& after) {
  const double change = after.instructions_per_inference - before.instructions_per_inference;
  std::map<std::string, std::pair<double, double>> functions;
  for (const auto& one : before.functions) {
    functions[one.name].first = one.instructions;
  }
  for (const auto& one : after.functions) {
    functions[one.name].second = one.instructions;
  }
  std::vector<Json> rows;
  for (const auto& [name, counts] : functions) {
    const double more = counts.second - counts.first;
    if (std::abs(more) >= kLeastPart * before.instructions_per_inference) {
      rows.push_back({{"name", name},
                      {"before", counts.first},
                      {"after", counts.second},
                      {"change", more},
                      {"share", change == 0 ? 0 : more / change}});
    }
  }
  std::ranges::sort(rows, std::ranges::greater{},
                    [](const Json& row) { return std::abs(row.at("change").get<double>()); });
  rows.resize(std::min(rows.size(), kMostRows));
  return rows;
}

}  // namespace

PairOfRows find_rows(const RunSummary& summary, const BuildPair& pair) {
  PairOfRows rows;
  for (const auto& row : summary.cases) {
    if (row.case_key == pair.case_key) {
      (row.engine == pair.a.reference() ? rows.before : rows.after) = &row;
    }
  }
  return rows;
}

Json explain_by_operators(const PairOfRows& rows) {
  const auto& [before, after] = rows;
  if (before == nullptr || after == nullptr || !before->breakdown || !after->breakdown) {
    return Json::object();
  }
  const auto difference = difference_of_profiles(*before, *after);
  return {{"inference_ns", difference.a_ns},
          {"operators", operators_from(difference, rest_names(after->breakdown))}};
}

Json explain_by_functions(const PairOfRows& rows) {
  for (const auto* row : {rows.before, rows.after}) {
    if (row == nullptr || !row->instructions) {
      return {{"unavailable", "the instructions were not counted"}};
    }
    if (!row->instructions->unavailable.empty()) {
      return {{"unavailable", row->instructions->unavailable}};
    }
  }
  const auto before = rows.before->instructions.value_or(InstructionReport());
  const auto after = rows.after->instructions.value_or(InstructionReport());
  return {{"before", before.instructions_per_inference},
          {"after", after.instructions_per_inference},
          {"functions", functions_from(before, after)}};
}

}  // namespace assay::watch
