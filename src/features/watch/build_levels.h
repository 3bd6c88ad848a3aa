#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace assay::watch {

struct StoredSeries;
struct WatchView;

/// Neighboring revisions whose builds have the same bytes, and what a series says of them.
struct BuildLevel {
  std::int64_t first = 0;  ///< Positions.
  std::int64_t last = 0;
  std::string first_hash;
  std::string last_hash;
  double offset = 0;  ///< Median of the points of these bytes.
};

/// The levels of a series in the order of revisions. A build that was measured once stands for all
/// revisions of its bytes, also those far away; revisions that failed or are open are left out.
/// Only points of the machine and the reference of the newest point count.
std::vector<BuildLevel> levels_of(const StoredSeries& stored, const WatchView& view);

/// Standard deviation of the noise of the levels' offsets, from the differences of neighbors; 0
/// for fewer than 30: fresh pairs for each of them cost less than a change that is missed.
double noise_of_levels(const std::vector<BuildLevel>& levels);

}  // namespace assay::watch
