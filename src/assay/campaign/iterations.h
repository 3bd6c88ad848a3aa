#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "assay/record/launch.h"

namespace assay {

/// Learns from the first launches how many iterations further ones take to tell the most for their
/// time: many where launches agree and start slowly, few where launches differ from each other
/// anyway (stats::optimal_iterations; between 20 and 200).
class IterationPilot {
 public:
  /// `needed`: launches that it learns from, at least two.
  explicit IterationPilot(std::size_t needed);

  /// Takes a launch that was timed; others, and all after the first `needed`, are ignored.
  void add(const Launch& launch);

  /// The number of iterations to ask for. Absent before there are `needed` launches, or if one of
  /// them made fewer than three iterations: its time budget was too small for more. All launches
  /// count alike, so a swap of the two sides of a comparison changes nothing.
  [[nodiscard]] std::optional<int> iterations() const;

 private:
  [[nodiscard]] bool is_full() const { return logs_.size() >= needed_; }

  std::size_t needed_;
  std::vector<std::vector<double>> logs_;  ///< Log times of the second half of each launch.
  std::vector<double> launch_costs_ns_;    ///< Outside that half.
  std::vector<double> iteration_costs_ns_;
};

/// The plan with so many steady iterations; its least number gives way.
MeasurePlan with_iterations(MeasurePlan plan, int iterations);

}  // namespace assay
