#include "assay/summary/sample_times.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

#include "assay/record/launch.h"

namespace assay {
namespace {

std::size_t warmup_of(const Measurement& measurement) {
  return std::min(static_cast<std::size_t>(std::max(0, measurement.warmup_iterations)),
                  measurement.samples.execute_ns.size());
}

}  // namespace

std::vector<double> end_times_of(const Measurement& measurement) {
  const auto& [bind, execute, fetch] = measurement.samples;
  std::vector<double> ends;
  double at = 0;
  for (auto i = warmup_of(measurement); i < execute.size(); ++i) {
    at += static_cast<double>(bind[i]) + static_cast<double>(execute[i]) +
          static_cast<double>(fetch[i]) + static_cast<double>(measurement.gap_ns);
    ends.push_back(at);
  }
  const double scale = at > 0 ? static_cast<double>(measurement.wall_ns) / at : 0;
  std::ranges::transform(ends, ends.begin(), [scale](double end) { return end * scale; });
  return ends;
}

std::size_t first_sample_at(const Measurement& measurement, double share) {
  return first_sample_at(measurement, end_times_of(measurement), share);
}

std::size_t first_sample_at(const Measurement& measurement, std::span<const double> ends,
                            double share) {
  const double wanted = share * static_cast<double>(measurement.wall_ns);
  // One that begins there follows the first that has ended by then.
  const auto ended = std::ranges::lower_bound(ends, wanted);
  const auto index = static_cast<std::size_t>(std::distance(ends.begin(), ended)) + 1;
  const auto last = ends.empty() ? 0 : ends.size() - 1;
  return warmup_of(measurement) + std::min(share > 0 ? index : 0, last);
}

}  // namespace assay
