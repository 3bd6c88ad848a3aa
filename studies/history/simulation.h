#pragma once

#include "features/history/series.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::simulation {

/// How the values of a simulated series scatter.
enum class Family : std::uint8_t { kGauss, kSpikes, kStudent3, kAutoregressive };

std::string_view name_of(Family family);
inline constexpr Family kFamilies[] = {Family::kGauss, Family::kSpikes, Family::kStudent3,
                                       Family::kAutoregressive};

struct SeriesPlan {
  Family family = Family::kGauss;
  std::size_t commits = 100;
  double noise = 0.01;  ///< Standard deviation of the values' logarithms; of t3, its scale.
  double step = 0;      ///< ln ratio that is added from `step_at` on.
  std::size_t step_at = 0;
};

/// Logarithms of values: Gauss; Gauss of which 3 % lie 5 to 20 noises higher; Student's t with
/// three degrees of freedom; AR(1) with 0.3 and a standard deviation of `noise`.
std::vector<double> simulate(const SeriesPlan& plan, std::uint64_t seed);

history::Series series_from(const std::vector<double>& offsets);

}  // namespace assay::simulation
