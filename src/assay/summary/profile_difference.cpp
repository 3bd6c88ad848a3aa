#include "assay/summary/profile_difference.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/profile.h"
#include "assay/record/summary.h"
#include "assay/summary/operator_family.h"
#include "assay/summary/profile_breakdown.h"

namespace assay {
namespace {

/// One side's time under a name.
struct ProfileSide {
  double time_ns = 0;
  double calls = 0;
};

using Sides = std::vector<std::pair<std::string, ProfileSide>>;  ///< In order of appearance.

/// The number that an engine, or the breakdown, gave: 10 of "GEMM #10"; 0 without one.
int number_in(std::string_view name) {
  int number = 0;
  if (const auto mark = name.rfind(" #"); mark != std::string_view::npos) {
    std::from_chars(name.data() + mark + 2, name.data() + name.size(), number);
  }
  return number;
}

/// Parts in the order of the program, "#2" for the second of one matching name.
Sides sides_of_parts(std::vector<ProfilePart> parts) {
  std::ranges::sort(parts, {}, [](const ProfilePart& part) {
    return std::tuple(part.instruction, number_in(part.name), part.name);
  });
  std::map<std::string, int> seen;
  Sides sides;
  for (const auto& part : parts) {
    const auto name = matching_name(part.name);
    const int occurrence = ++seen[name];
    sides.emplace_back(
        occurrence == 1 && part.kind == "rest" ? name : fmt::format("{} #{}", name, occurrence),
        ProfileSide{.time_ns = part.time_ns, .calls = part.calls});
  }
  return sides;
}

Sides sides_of_groups(const std::vector<ProfileGroup>& groups) {
  Sides sides;
  for (const auto& group : groups) {
    sides.emplace_back(group.name, ProfileSide{.time_ns = group.time_ns, .calls = group.calls});
  }
  return sides;
}

/// Largest difference first; shares refer to the whole difference, which the rows add up to.
std::vector<DifferenceRow> rows_of(const Sides& a, const Sides& b, double whole_ns) {
  std::vector<DifferenceRow> rows;
  for (const auto& [name, side] : a) {
    rows.push_back({.name = name, .a_ns = side.time_ns, .a_calls = side.calls});
  }
  for (const auto& [name, side] : b) {
    auto found = std::ranges::find(rows, name, &DifferenceRow::name);
    if (found == rows.end()) {
      found = rows.insert(rows.end(), DifferenceRow{.name = name});
    }
    found->b_ns = side.time_ns;
    found->b_calls = side.calls;
  }
  for (auto& row : rows) {
    row.difference_ns = row.b_ns.value_or(0) - row.a_ns.value_or(0);
    row.share_ratio = whole_ns != 0 ? row.difference_ns / whole_ns : 0;
  }
  std::ranges::sort(rows, [](const DifferenceRow& left, const DifferenceRow& right) {
    return std::abs(left.difference_ns) > std::abs(right.difference_ns);
  });
  double sum = 0;
  for (auto& row : rows) {
    sum += row.share_ratio;
    row.cumulative_ratio = sum;
  }
  return rows;
}

/// Counts of an operator inside and outside of delegates, from a manifest.
struct Counts {
  int delegated = 0;
  int left = 0;
  std::string reason;
};

/// A toolchain writes the manifest: what is not of its type counts as absent.
std::string text_at(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : "";
}

int count_of(const Json& value) { return value.is_number_integer() ? value.get<int>() : 0; }

std::map<std::string, Counts> counts_of(const Json& manifest) {
  std::map<std::string, Counts> counts;
  const auto program = manifest.is_object() ? manifest.value("program", Json::object()) : Json();
  if (!program.is_object()) {
    return counts;
  }
  if (const Json delegated = program.value("operators_delegated", Json()); delegated.is_object()) {
    for (const auto& [name, count] : delegated.items()) {
      counts[name].delegated = count_of(count);
    }
  }
  const Json left = program.value("operators_left", Json());
  for (const auto& entry : left.is_array() ? left : Json::array()) {
    if (!entry.is_object()) {
      continue;
    }
    auto& count = counts[text_at(entry, "name")];
    count.left += count_of(entry.value("count", Json()));
    count.reason = text_at(entry, "reason");  // Null if the stack gives none.
  }
  return counts;
}

/// Time of one graph operator's kernels outside of delegates.
double outside_ns_of(const ProfileBreakdown& breakdown, const std::string& name) {
  double sum = 0;
  for (const auto& part : breakdown.parts) {
    if (part.kind == "operator" &&
        base_name_of_operator(matching_name(part.name)) == base_name_of_operator(name)) {
      sum += part.time_ns;
    }
  }
  return sum;
}

std::string signed_ms(double ns) { return fmt::format("{:+.3g} ms", ns / 1e6); }

std::string text_of(const OperatorChange& change) {
  std::string what;
  if (change.a_delegated > 0 && change.b_delegated == 0) {
    what = change.b_left > change.a_left ? "left the delegate" : "is gone";
  } else if (change.a_delegated == 0 && change.b_delegated > 0) {
    what = change.a_left > change.b_left ? "entered the delegate" : "is new, in the delegate";
  } else if (change.a_delegated != change.b_delegated) {
    what = change.b_delegated < change.a_delegated ? "is less in the delegate"
                                                   : "is more in the delegate";
  } else if (change.a_left == 0) {
    what = "is new, outside of the delegate";
  } else if (change.b_left == 0) {
    what = "is gone";
  } else {
    what = change.b_left > change.a_left ? "is more outside of the delegate"
                                         : "is less outside of the delegate";
  }
  auto text = fmt::format("{} {}: delegated {} -> {}, left {} -> {}", change.name, what,
                          change.a_delegated, change.b_delegated, change.a_left, change.b_left);
  if (change.outside_ns) {
    text += ", " + signed_ms(*change.outside_ns) + " outside";
  }
  return change.reason.empty() ? text : fmt::format("{} ({})", text, change.reason);
}

void note_plumbing(const ProfileBreakdown& a, const ProfileBreakdown& b,
                   std::vector<std::string>& notes) {
  const auto outside = [](const ProfileBreakdown& breakdown) {
    ProfileSide sum;
    for (const auto& part : breakdown.parts) {
      if (part.kind == "operator" && (part.family == "copy" || part.family == "quantize")) {
        sum.time_ns += part.time_ns;
        sum.calls += part.calls;
      }
    }
    return sum;
  };
  const auto calls = [](const ProfileBreakdown& breakdown) {
    double sum = 0;
    for (const auto& place : breakdown.places) {
      sum += place.name == "operators outside of delegates" ? 0 : place.calls;
    }
    return sum;
  };
  const auto in_a = outside(a);
  const auto in_b = outside(b);
  notes.push_back(fmt::format("delegate calls in an inference: {:g} -> {:g}", calls(a), calls(b)));
  notes.push_back(fmt::format(
      "copies and conversions outside of delegates: {:g} -> {:g} ({:+g}), {}", in_a.calls,
      in_b.calls, in_b.calls - in_a.calls, signed_ms(in_b.time_ns - in_a.time_ns)));
}

}  // namespace

std::vector<OperatorChange> delegation_changes(const Json& a_manifest, const Json& b_manifest,
                                               const ProfileBreakdown& a,
                                               const ProfileBreakdown& b) {
  const auto a_counts = counts_of(a_manifest);
  const auto b_counts = counts_of(b_manifest);
  std::vector<OperatorChange> changes;
  if (a_counts.empty() || b_counts.empty()) {
    return changes;
  }
  auto all = a_counts;
  all.insert(b_counts.begin(), b_counts.end());
  for (const auto& [name, ignored] : all) {
    const auto in_a = a_counts.contains(name) ? a_counts.at(name) : Counts{};
    const auto in_b = b_counts.contains(name) ? b_counts.at(name) : Counts{};
    if (in_a.delegated == in_b.delegated && in_a.left == in_b.left) {
      continue;
    }
    OperatorChange change{.name = name,
                          .a_delegated = in_a.delegated,
                          .b_delegated = in_b.delegated,
                          .a_left = in_a.left,
                          .b_left = in_b.left,
                          .outside_ns = std::nullopt,
                          .reason = in_b.left > 0 ? in_b.reason : in_a.reason};
    if (in_a.left + in_b.left > 0) {
      change.outside_ns = outside_ns_of(b, name) - outside_ns_of(a, name);
    }
    change.text = text_of(change);
    changes.push_back(std::move(change));
  }
  std::ranges::sort(changes, [](const OperatorChange& left, const OperatorChange& right) {
    return std::abs(left.outside_ns.value_or(0)) > std::abs(right.outside_ns.value_or(0));
  });
  return changes;
}

ProfileDifference difference_of_profiles(const CaseSummary& a, const CaseSummary& b) {
  const auto in_a = break_down_profile(a);
  const auto in_b = break_down_profile(b);
  ProfileDifference difference{.a_label = in_a.label,
                               .b_label = in_b.label,
                               .a_ns = in_a.method_ns,
                               .b_ns = in_b.method_ns,
                               .difference_ns = in_b.method_ns - in_a.method_ns,
                               .a_timed_ns = in_a.timed_ns,
                               .b_timed_ns = in_b.timed_ns};
  const auto whole_ns = difference.difference_ns;
  difference.parts = rows_of(sides_of_parts(in_a.parts), sides_of_parts(in_b.parts), whole_ns);
  difference.families =
      rows_of(sides_of_groups(in_a.families), sides_of_groups(in_b.families), whole_ns);
  difference.places = rows_of(sides_of_groups(in_a.places), sides_of_groups(in_b.places), whole_ns);
  difference.delegation = delegation_changes(a.manifest, b.manifest, in_a, in_b);
  note_plumbing(in_a, in_b, difference.notes);
  if (counts_of(a.manifest).empty() || counts_of(b.manifest).empty()) {
    difference.notes.emplace_back(
        "which operators a delegate took is told by a manifest beside the program; make both with "
        "assay aot --out");
  }
  return difference;
}

}  // namespace assay
