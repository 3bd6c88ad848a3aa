#include "features/repository/policy_reader.h"

#include "features/repository/repository_spec.h"

#include <charconv>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>

#include "assay/base/units.h"
#include "assay/spec/node.h"

namespace assay {
namespace {

constexpr std::string_view kPinned = "pinned:";

std::string read_reference(const Node& node) {
  auto text = node.text();
  const bool is_pinned = text.starts_with(kPinned) && text.size() > kPinned.size();
  const bool is_known = text == "week" || text == "parent" || text == "none" || is_pinned;
  if (node.json().is_string() && !is_known) {
    node.complain("must be \"pinned:REVISION\", \"week\", \"parent\" or \"none\"");
  }
  return text;
}

/// "2%" as 0.02.
double read_percent(const Node& node) {
  const auto text = node.json().is_string() ? node.json().get<std::string>() : std::string();
  double percent = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, percent);
  constexpr double kMost = 1000;
  if (error != std::errc() || stop + 1 != end || *stop != '%' ||
      !(percent > 0 && percent < kMost)) {
    node.complain("must be a percentage in quotes, such as \"2%\"");
    return 0;
  }
  return percent / 100;
}

std::map<std::string, double> read_min_effect(const Node& node) {
  std::map<std::string, double> effects;
  for (const auto& [metric, value] : node.members()) {
    effects[metric] = read_percent(value);
  }
  return effects;
}

double read_share(const Node& node) {
  const auto& value = node.json();
  const double share = value.is_number() ? value.get<double>() : -1;
  if (!(share >= 0 && share <= 1)) {
    node.complain("must be a number from 0 to 1");
    return 0;
  }
  return share;
}

std::int64_t read_bytes(const Node& node) {
  const auto bytes = bytes_from_text(node.text());
  if (!bytes && node.json().is_string()) {
    node.complain(bytes.error().message);
  }
  return bytes.value_or(0);
}

}  // namespace

bool read_bool(const Node& node) {
  if (!node.json().is_boolean()) {
    node.complain_of_type("true or false");
    return false;
  }
  return node.json().get<bool>();
}

WatchPolicy read_policy(const Node& node) {
  WatchPolicy policy;
  if (!node.expect_object(kPolicyKeys)) {
    return policy;
  }
  read_member(node, "reference", policy.reference, read_reference);
  policy.step = node.integer("step", 1, policy.step);
  policy.poll_ns = node.duration_ns("poll", policy.poll_ns);
  policy.horizon = node.integer("horizon", 1, policy.horizon);
  policy.rounds = node.integer("rounds", 1, policy.rounds);
  read_member(node, "min_effect", policy.min_effect_ratio, read_min_effect);
  read_member(node, "verify", policy.verifies, read_bool);
  read_member(node, "bisect", policy.bisects, read_bool);
  read_member(node, "count_instructions", policy.counts_instructions, read_bool);
  read_member(node, "share_of_verification", policy.share_of_verification, read_share);
  policy.broken_commits = node.integer("broken_commits", 0, policy.broken_commits);
  policy.silent_commits = node.integer("silent_commits", 0, policy.silent_commits);
  policy.silent_ns = node.duration_ns("silent_time", policy.silent_ns);
  read_member(node, "keep_builds", policy.keep_builds_bytes, read_bytes);
  return policy;
}

}  // namespace assay
