#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/measure/memory_probe.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// Repeats of a leak check; 0: none.
struct LeakPlan {
  int loads = 0;                    ///< Cycles of load, two inferences, unload.
  int inferences = 0;               ///< In one session.
  std::int64_t time_budget_ns = 0;  ///< Limit for each of the two, checked after a cycle; 0: none.
};

/// Loads the program again.
using SessionLoader = std::function<Result<std::unique_ptr<Session>>()>;

/// Takes the series of the plan: what malloc holds and the private dirty memory of the process,
/// after each cycle. Nothing of Assay grows meanwhile. Errors: what loader, session or probe
/// return.
Result<std::vector<LeakSeries>> check_leaks(const LeakPlan& plan, const SessionLoader& load,
                                            std::span<const TensorView> inputs,
                                            const MemoryProbe& probe);

}  // namespace assay
