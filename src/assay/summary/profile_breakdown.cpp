#include "assay/summary/profile_breakdown.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/launch.h"
#include "assay/record/profile.h"
#include "assay/record/summary.h"
#include "assay/summary/operator_family.h"

namespace assay {
namespace {

constexpr double kImplausibleRatio = 0.95;

ProfilePart part_of(const ProfileReport& profile, const ProfileEvent& event,
                    const std::string& delegate) {
  const int iterations = std::max(1, profile.iterations);
  const double calls = static_cast<double>(event.count) / iterations;
  return {
      .name = event.name,
      .kind = event.kind,
      .family = event.kind == "delegate" ? "delegate" : std::string(family_of_operator(event.name)),
      .delegate = delegate,
      .instruction = event.instruction,
      .position = static_cast<int>(&event - profile.events.data()),
      .calls = calls,
      .time_ns = static_cast<double>(event.median_ns) * calls,
      .mean_ns = static_cast<double>(event.total_ns) / iterations,
      .min_ns = static_cast<double>(event.min_ns)};
}

ProfilePart rest_of(std::string name, const std::string& delegate, double time_ns) {
  return {.name = std::move(name),
          .kind = "rest",
          .family = "rest",
          .delegate = delegate,
          .time_ns = time_ns};
}

/// Adds to the group of that name, a new one if there is none.
void add_to_group(std::vector<ProfileGroup>& groups, const std::string& name, double calls,
                  double time_ns) {
  auto found = std::ranges::find(groups, name, &ProfileGroup::name);
  if (found == groups.end()) {
    found = groups.insert(groups.end(), ProfileGroup{.name = name});
  }
  found->calls += calls;
  found->time_ns += time_ns;
}

/// Name of a delegate's call in the rows of its operators: "X #2" where one delegate is called at
/// several places.
std::string place_of_call(const ProfileReport& profile, const ProfilePart& call) {
  int before = 0;
  int all = 0;
  for (const auto& event : profile.events) {
    if (event.kind == "delegate" && event.name == call.name) {
      ++all;
      before += event.instruction < call.instruction ? 1 : 0;
    }
  }
  return all > 1 ? fmt::format("{} #{}", call.name, before + 1) : call.name;
}

/// A delegate's operators and what they leave of its call; the call itself where it tells nothing.
void add_delegate(const ProfileReport& profile, const ProfilePart& call,
                  ProfileBreakdown& breakdown) {
  auto& parts = breakdown.parts;
  const auto place = place_of_call(profile, call);
  double told_ns = 0;
  bool is_told = false;
  for (const auto& event : profile.events) {
    if (event.kind == "delegate_operator" && event.instruction == call.instruction) {
      parts.push_back(part_of(profile, event, place));
      told_ns += parts.back().time_ns;
      is_told = true;
    }
  }
  parts.push_back(is_told
                      ? rest_of(call.name + " outside its operators", place, call.time_ns - told_ns)
                      : call);
}

void add_parts(const ProfileReport& profile, ProfileBreakdown& breakdown) {
  double inside_ns = 0;
  for (const auto& event : profile.events) {
    if (event.kind == "method") {
      breakdown.method_floor_ns = static_cast<double>(event.min_ns);
    } else if (event.kind == "operator") {
      breakdown.parts.push_back(part_of(profile, event, ""));
      inside_ns += breakdown.parts.back().time_ns;
      add_to_group(breakdown.places, "operators outside of delegates", breakdown.parts.back().calls,
                   breakdown.parts.back().time_ns);
    } else if (event.kind == "delegate") {
      const auto call = part_of(profile, event, event.name);
      inside_ns += call.time_ns;
      add_to_group(breakdown.places, event.name, call.calls, call.time_ns);
      add_delegate(profile, call, breakdown);
    }
  }
  if (breakdown.method_ns == 0) {  // An engine that does not tell it.
    breakdown.method_ns = inside_ns;
  }
  breakdown.outside_ns = breakdown.method_ns - inside_ns;
  breakdown.parts.push_back(rest_of("outside any operator", "", breakdown.outside_ns));
  add_to_group(breakdown.places, "outside any operator", 0, breakdown.outside_ns);
}

/// A program calls one kernel or delegate many times: "convolution.out #3" is the third in it. What
/// runs inside a delegate has the delegate's own numbers.
void number_parts(std::vector<ProfilePart>& parts) {
  std::map<std::string, int> total;
  for (const auto& part : parts) {
    total[part.name] += part.kind == "delegate_operator" ? 0 : 1;
  }
  std::map<std::string, int> seen;
  for (auto& part : parts) {
    if (part.kind != "delegate_operator" && total[part.name] > 1) {
      part.name += fmt::format(" #{}", ++seen[part.name]);
    }
  }
}

std::optional<double> time_of(const CaseSummary& summary, const char* metric) {
  const auto found = summary.metrics.find(metric);
  return found == summary.metrics.end() || found->second.value <= 0
             ? std::nullopt
             : std::optional(found->second.value);
}

/// True if the case is timed under other conditions than the default ones.
bool has_scenario(const CaseSummary& summary) {
  const auto scenario = summary.identity.find("scenario");
  return scenario != summary.identity.end() && !scenario->empty();
}

void add_times(const CaseSummary& summary, ProfileBreakdown& breakdown) {
  breakdown.timed_ns = time_of(summary, "steady_ns");
  if (breakdown.timed_ns) {
    breakdown.timed_launches = summary.metrics.at("steady_ns").count;
    breakdown.timed_floor_ns = time_of(summary, "steady_floor_ns");
  }
}

void add_slowdown(const CaseSummary& summary, ProfileBreakdown& breakdown) {
  if (!breakdown.timed_ns) {
    return;
  }
  if (has_scenario(summary)) {
    breakdown.notes.emplace_back(
        "no slow-down: the times were taken under the case's scenario, the profile without it");
    return;
  }
  if (breakdown.execute_ns > 0) {
    breakdown.slowdown_ratio = breakdown.execute_ns / *breakdown.timed_ns;
    if (*breakdown.slowdown_ratio < kImplausibleRatio) {
      breakdown.notes.emplace_back(
          "no profiler makes a program faster: other work slowed the timing pass down more than "
          "the profile pass; run again on a quieter machine");
    }
  }
  if (breakdown.timed_floor_ns && breakdown.method_floor_ns > 0) {
    breakdown.floor_slowdown_ratio = breakdown.method_floor_ns / *breakdown.timed_floor_ns;
  }
}

}  // namespace

ProfileBreakdown break_down_profile(const CaseSummary& summary) {
  ASSAY_CHECK(summary.profile.has_value());
  const auto& profile = *summary.profile;
  ProfileBreakdown breakdown{.label = summary.label,
                             .method_ns = static_cast<double>(profile.method_median_ns),
                             .iterations = std::max(1, profile.iterations),
                             .execute_ns = static_cast<double>(profile.execute_median_ns),
                             .counted_iterations = profile.counted_iterations,
                             .counters = profile.counters,
                             .notes = profile.notes};
  // The notes name disturbances of the timed launches and what the engine cannot switch off.
  std::ranges::copy(summary.notes, std::back_inserter(breakdown.notes));
  add_parts(profile, breakdown);
  number_parts(breakdown.parts);
  for (const auto& part : breakdown.parts) {
    add_to_group(breakdown.families, part.family, part.calls, part.time_ns);
  }
  const auto share = [&breakdown](auto& row) {
    row.share_ratio = breakdown.method_ns > 0 ? row.time_ns / breakdown.method_ns : 0;
  };
  std::ranges::for_each(breakdown.parts, share);
  std::ranges::for_each(breakdown.families, share);
  std::ranges::for_each(breakdown.places, share);
  std::ranges::sort(breakdown.parts, std::greater{}, &ProfilePart::time_ns);
  std::ranges::sort(breakdown.families, std::greater{}, &ProfileGroup::time_ns);
  add_times(summary, breakdown);
  add_slowdown(summary, breakdown);
  return breakdown;
}

}  // namespace assay
