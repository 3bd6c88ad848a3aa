#include "assay/summary/profile_layers.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <numeric>
#include <optional>
#include <vector>

#include "assay/record/profile.h"

namespace assay {
namespace {

std::vector<ProfilePart> weighted_parts(const ProfileBreakdown& breakdown) {
  std::vector<ProfilePart> parts;
  for (const auto& part : breakdown.parts) {
    if (part.position >= 0 && (part.family == "convolution" || part.family == "matrix product")) {
      parts.push_back(part);
    }
  }
  std::ranges::sort(parts, {}, &ProfilePart::position);
  return parts;
}

void add_case(const ProfileBreakdown& breakdown, const std::vector<ProfilePart>& parts,
              ProfileLayers& layers) {
  layers.labels.push_back(breakdown.label);
  layers.sum_ns.push_back(0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    layers.rows[i].names.push_back(parts[i].name);
    layers.rows[i].time_ns.push_back(parts[i].time_ns);
    layers.sum_ns.back() += parts[i].time_ns;
  }
}

/// The least of the cases after the first, over the first; absent if a time is none.
std::optional<double> fastest_other_ratio(const std::vector<double>& time_ns) {
  const double least = *std::min_element(time_ns.begin() + 1, time_ns.end());
  return least > 0 && time_ns.front() > 0 ? std::optional(least / time_ns.front()) : std::nullopt;
}

void compare_with_first(ProfileLayers& layers) {
  std::vector<double> logarithms;
  for (const auto& row : layers.rows) {
    if (const auto ratio = fastest_other_ratio(row.time_ns)) {
      logarithms.push_back(std::log(*ratio));
      layers.fastest_count += *ratio >= 1 ? 1 : 0;
    }
  }
  if (!logarithms.empty()) {
    layers.fastest_other_ratio =
        std::exp(std::accumulate(logarithms.begin(), logarithms.end(), 0.0) /
                 static_cast<double>(logarithms.size()));
  }
  layers.sum_fastest_other_ratio = fastest_other_ratio(layers.sum_ns).value_or(0);
}

}  // namespace

std::optional<ProfileLayers> layers_of_profiles(const std::vector<ProfileBreakdown>& cases) {
  if (cases.size() < 2) {
    return std::nullopt;
  }
  ProfileLayers layers;
  const auto first = weighted_parts(cases.front());
  layers.rows.resize(first.size());
  for (const auto& breakdown : cases) {
    const auto parts = weighted_parts(breakdown);
    if (parts.size() == first.size()) {
      add_case(breakdown, parts, layers);
    } else {
      layers.notes.push_back(
          fmt::format("{} has {} convolutions and matrix products where {} has {}: not laid beside",
                      breakdown.label, parts.size(), cases.front().label, first.size()));
    }
  }
  if (layers.labels.size() < 2 || first.empty()) {
    layers.rows.clear();
    return layers;
  }
  compare_with_first(layers);
  return layers;
}

}  // namespace assay
