#pragma once

#include <cstdint>
#include <openvino/runtime/profiling_info.hpp>
#include <span>
#include <vector>

#include "assay/record/launch.h"

namespace assay::openvino {

/// Times of the operators of a compiled model since its compilation: OpenVINO reports means over
/// all inferences, in whole microseconds.
struct ProfileState {
  std::vector<ov::ProfilingInfo> operators;
  int inferences = 0;
};

/// One inference under the profiler, as our own clock saw it.
struct ExecutedSpan {
  std::int64_t start_ns = 0;  ///< monotonic_ns()
  std::int64_t duration_ns = 0;
};

/// The inferences between two states. Operators have a mean only, which stands for their median and
/// smallest time, too; `executed` gives the method's. Operators that took no whole microsecond are
/// counted in a note.
ProfileReport profile_between(const ProfileState& before, const ProfileState& after,
                              std::span<const ExecutedSpan> executed);

}  // namespace assay::openvino
