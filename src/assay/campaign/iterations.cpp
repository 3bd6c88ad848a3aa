#include "assay/campaign/iterations.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/launch.h"
#include "assay/stats/quantile.h"
#include "assay/stats/variance_components.h"

namespace assay {
namespace {

constexpr std::size_t kFewestInHalf = 2;  ///< Have a spread.

}  // namespace

IterationPilot::IterationPilot(std::size_t needed) : needed_(needed) { ASSAY_CHECK(needed >= 2); }

void IterationPilot::add(const Launch& launch) {
  if (is_full() || !launch.measurement || launch.measurement->samples.execute_ns.size() < 2) {
    return;
  }
  const auto& times = launch.measurement->samples.execute_ns;
  const auto half = std::span(times).subspan(times.size() / 2);
  auto& logs = logs_.emplace_back();
  for (const auto time : half) {
    logs.push_back(std::log(static_cast<double>(std::max<std::int64_t>(time, 1))));
  }
  const auto spent =
      static_cast<double>(std::accumulate(half.begin(), half.end(), std::int64_t{0}));
  iteration_costs_ns_.push_back(spent / static_cast<double>(half.size()));
  launch_costs_ns_.push_back(std::max(0.0, static_cast<double>(launch.end.wall_ns) - spent));
}

std::optional<int> IterationPilot::iterations() const {
  const bool is_enough = is_full() && std::ranges::all_of(logs_, [](const auto& logs) {
                           return logs.size() >= kFewestInHalf;
                         });
  if (!is_enough) {
    return std::nullopt;
  }
  const std::vector<std::span<const double>> launches(logs_.begin(), logs_.end());
  const auto variances = stats::variance_components(launches);
  const double iteration_ns = std::max(stats::median(iteration_costs_ns_), 1.0);
  return stats::optimal_iterations(stats::median(launch_costs_ns_), iteration_ns, variances.within,
                                   variances.between);
}

MeasurePlan with_iterations(MeasurePlan plan, int iterations) {
  plan.iterations = iterations;
  plan.min_iterations = std::min(plan.min_iterations, iterations);
  return plan;
}

}  // namespace assay
