#pragma once

#include "features/history/series.h"

#include <cstddef>
#include <span>
#include <vector>

namespace assay::history {

/// Normal values with a standard deviation of 0.01; always the same for a seed.
std::vector<double> sample_offsets(std::size_t count, unsigned seed);

/// A series of these offsets over commits "c0", "c1", …, an hour after each other.
Series sample_series(std::span<const double> offsets);

/// Adds `change` from `first` on.
void add_step(std::vector<double>& offsets, std::size_t first, double change);

}  // namespace assay::history
