#pragma once

#include "features/repository/repository_spec.h"

#include <array>
#include <string_view>

#include "assay/base/enum_names.h"
#include "assay/spec/node.h"

/// Readers that the parts of a repository file share, and the one of its policy.
namespace assay {

inline constexpr auto kPolicyKeys = std::to_array<std::string_view>(
    {"reference", "step", "poll", "horizon", "rounds", "min_effect", "verify", "bisect",
     "count_instructions", "share_of_verification", "broken_commits", "silent_commits",
     "silent_time", "keep_builds"});

WatchPolicy read_policy(const Node& node);

bool read_bool(const Node& node);

/// The first value of the enumeration for a wrong name, which is noted.
template <NamedEnum E>
E read_enum(const Node& node) {
  const auto text = node.text();
  const auto value = enum_from_name<E>(text);
  if (!value && node.json().is_string()) {
    node.complain(value.error().message);
  }
  return value.value_or(E{});
}

/// Applies `read` to the member, if it is there.
template <class Target, class Read>
void read_member(const Node& node, std::string_view key, Target& target, Read read) {
  if (const auto member = node.find(key)) {
    target = read(*member);
  }
}

}  // namespace assay
