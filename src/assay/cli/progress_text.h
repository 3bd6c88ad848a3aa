#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "assay/campaign/listener.h"

namespace assay::cli {

/// A phase as its display knows it.
struct PhaseState {
  std::string name;
  std::string unit;  ///< Singular: "launch".
  PhaseProgress progress;
};

/// "timing 5/20 launches, 12 s left", "timing 5 launches of at most 20", "search 86 pairs, 12 s
/// left", "building 2/4".
std::string text_from_phase(const PhaseState& phase);

/// One line for a log as a phase begins: "timing: 20 launches", "search: at most 40 pairs",
/// "search: pairs for 30 s"; empty if there is nothing to do.
std::string line_from_phase_start(const PhaseState& phase);

/// One line for a terminal: the phase, a bar where its end is known, and `step`, shortened to
/// `width` columns in all.
std::string status_line(const PhaseState& phase, std::string_view step, std::size_t width);

/// "mobilenet_v2 xnnpack-int8, lower, 18 s"; the time is left out below a second.
std::string text_from_step(std::string_view label, std::string_view stage, std::int64_t elapsed_ns);

}  // namespace assay::cli
