#include "assay/measure/leak_check.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/measure/measure.h"
#include "assay/measure/memory_probe.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

constexpr int kInferencesPerLoad = 2;

Status add_reading(const MemoryProbe& probe, LeakSeries& series) {
  // malloc first: the text that the second reading needs is memory too.
  if (const auto allocations = probe.read_allocations()) {
    series.malloc_live_bytes.push_back(allocations->live_bytes);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto bytes, probe.read_private_dirty_bytes());
  series.private_dirty_bytes.push_back(bytes);
  return {};
}

Result<LeakSeries> repeat(std::string cycle, int count, std::int64_t time_budget_ns,
                          const MemoryProbe& probe, const std::function<Status()>& run) {
  LeakSeries series{.cycle = std::move(cycle), .stopped_by = "count"};
  // All at once, so that the series itself does not grow while it is taken.
  series.malloc_live_bytes.reserve(static_cast<std::size_t>(count));
  series.private_dirty_bytes.reserve(static_cast<std::size_t>(count));
  const auto start_ns = monotonic_ns();
  for (int i = 0; i < count; ++i) {
    ASSAY_RETURN_IF_ERROR(run());
    ASSAY_RETURN_IF_ERROR(add_reading(probe, series));
    if (time_budget_ns > 0 && monotonic_ns() - start_ns > time_budget_ns && i + 1 < count) {
      series.stopped_by = "time_budget";
      break;
    }
  }
  return series;
}

Status infer_in(Session& session, std::span<const TensorView> inputs) {
  ASSAY_RETURN_IF_ERROR(infer_once(session, inputs));
  return {};
}

}  // namespace

Result<std::vector<LeakSeries>> check_leaks(const LeakPlan& plan, const SessionLoader& load,
                                            std::span<const TensorView> inputs,
                                            const MemoryProbe& probe) {
  std::vector<LeakSeries> all;
  if (plan.inferences > 0) {
    ASSAY_ASSIGN_OR_RETURN(const auto session, load());
    ASSAY_ASSIGN_OR_RETURN(auto series,
                           repeat("inference", plan.inferences, plan.time_budget_ns, probe,
                                  [&]() -> Status { return infer_in(*session, inputs); }));
    all.push_back(std::move(series));
  }
  if (plan.loads > 0) {
    const auto cycle = [&]() -> Status {
      ASSAY_ASSIGN_OR_RETURN(const auto session, load());
      for (int i = 0; i < kInferencesPerLoad; ++i) {
        ASSAY_RETURN_IF_ERROR(infer_in(*session, inputs));
      }
      return {};
    };
    ASSAY_ASSIGN_OR_RETURN(auto series,
                           repeat("load", plan.loads, plan.time_budget_ns, probe, cycle));
    series.inferences = kInferencesPerLoad;
    all.push_back(std::move(series));
  }
  return all;
}

}  // namespace assay
