#include "assay/stats/steady_state.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "assay/stats/quantile.h"

namespace assay::stats {
namespace {

bool is_at_level(std::span<const double> block, double level, const SteadyRule& rule) {
  const double noise = rule.mad_factor * median_absolute_deviation(block) /
                       std::sqrt(static_cast<double>(block.size()));
  const double allowed = std::max(rule.tolerance_ratio * std::abs(level), noise);
  return std::abs(median(block) - level) <= allowed;
}

}  // namespace

SteadyState find_steady_state(std::span<const double> values, const SteadyRule& rule) {
  const auto n = values.size();
  SteadyState state{.first_iteration = n};
  state.block =
      std::max({rule.min_block, n / std::max<std::size_t>(rule.most_blocks, 1), std::size_t{1}});
  if (n == 0) {
    return state;
  }
  state.level = median(values.subspan(n / 2));
  if (n / state.block < rule.min_steady_blocks) {
    return state;
  }
  auto first = n;
  while (first >= state.block &&
         is_at_level(values.subspan(first - state.block, state.block), state.level, rule)) {
    first -= state.block;
  }
  const auto steady = n - first;
  const bool is_long_enough =
      steady >= rule.min_steady_blocks * state.block &&
      static_cast<double>(steady) >= rule.min_steady_share * static_cast<double>(n);
  state.verdict = is_long_enough ? SteadyVerdict::kSteady : SteadyVerdict::kUnsteady;
  state.first_iteration = is_long_enough ? first : n;
  return state;
}

}  // namespace assay::stats
