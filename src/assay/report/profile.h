#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/profile.h"

namespace assay::report {

/// Text of a profile: its parts by operator, by family and by delegate, the profiler's
/// slow-down, counters, and the `top` parts and functions only. Lines are at most `width` wide.
std::string console_from_breakdown(const ProfileBreakdown& breakdown, std::size_t top,
                                   std::size_t width, bool has_colour);

std::string console_from_instructions(const InstructionReport& instructions, std::size_t top,
                                      std::size_t width, bool has_colour);

std::string console_from_difference(const ProfileDifference& difference, std::size_t top,
                                    std::size_t width, bool has_colour);

/// The layers with weights of several cases side by side, and how the first compares.
std::string console_from_layers(const ProfileLayers& layers, std::size_t width, bool has_colour);

/// One case of a profile document.
struct ProfiledCase {
  ProfileBreakdown breakdown;
  std::optional<InstructionReport> instructions;
};

/// Schema assay/profile/1: {run, cases, difference, layers}; the difference is null without two
/// sides, the layers with less.
Json document_from_profiles(const std::string& run, const std::vector<ProfiledCase>& cases,
                            const std::optional<ProfileDifference>& difference,
                            const std::optional<ProfileLayers>& layers);

}  // namespace assay::report
