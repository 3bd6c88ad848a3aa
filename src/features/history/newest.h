#pragma once

#include "features/history/analysis.h"
#include "features/history/rule.h"

#include <cstddef>
#include <optional>
#include <span>

namespace assay::history {

/// The newest level of a series, by indices of `values`.
struct NewestLevel {
  std::span<const double> values;     ///< Without spikes, of one epoch.
  std::size_t first = 0;              ///< First value of the level.
  std::span<const double> residuals;  ///< The last values less their levels, this level's
                                      ///< included.
};

/// Nominates the first of the newest points, fewer than rule.min_segment, that lies outside of the
/// prediction interval of the level before them; else the beginning of a CUSUM (allowance 0.5,
/// limit 5 standard deviations) that crosses its limit within them. Either only beyond
/// `min_effect`. The half-width of the interval is the larger of Student's, with a robust standard
/// deviation, and the quantile of the earlier residuals' sizes, so that heavy tails do not
/// nominate. Indices of the answer are of `values`. Five points of the level must come before the
/// newest. Source: Page, Continuous Inspection Schemes, Biometrika 41 (1954).
std::optional<Nomination> nominate_newest(const NewestLevel& level, const HistoryRule& rule,
                                          double min_effect);

/// Whether the newest rule.drift_points values less `explained` lie off `baseline` (empty: off 0)
/// by `min_effect` + `uncertainty` at least, with an interval at rule.confidence that excludes no
/// change. `first` is an index of `values`.
std::optional<Drift> find_drift(std::span<const double> values, std::span<const double> baseline,
                                double explained, double uncertainty, const HistoryRule& rule,
                                double min_effect);

}  // namespace assay::history
