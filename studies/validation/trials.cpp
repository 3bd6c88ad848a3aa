#include "trials.h"

#include "pool.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "assay/stats/looks.h"
#include "assay/stats/pair_test.h"
#include "assay/stats/quantile.h"

namespace assay::validation {
namespace {

constexpr int kRejectedWithin = 40;  ///< Pairs.
constexpr double kFixedAlpha = 0.05;
constexpr int kDraws =
    999;  ///< A tenth of what assay compare draws: exact too, and ten times faster.

stats::PairSwapPlan swaps_of(std::mt19937_64& random) {
  return {.seed = random(), .draws = kDraws, .exact_up_to = 10};
}

struct Sides {
  std::vector<double> a;
  std::vector<double> b;
};

Sides draw(const Cell& cell, int pairs, std::mt19937_64& random) {
  Sides sides;
  while (static_cast<int>(sides.a.size()) < pairs) {
    const auto& block = cell.blocks[random() % cell.blocks.size()];
    const bool is_swapped = cell.effect == 0 && (random() & 1U) != 0;
    for (std::size_t i = 0; i < 2; ++i) {
      sides.a.push_back(is_swapped ? block.b.at(i) : block.a.at(i));
      sides.b.push_back(is_swapped ? block.a.at(i) : block.b.at(i));
    }
  }
  return sides;
}

std::vector<double> pairs_of(const Cell& cell) {
  std::vector<double> ratios;
  for (const auto& block : cell.blocks) {
    for (std::size_t i = 0; i < 2; ++i) {
      ratios.push_back(block.b.at(i) - block.a.at(i));
    }
  }
  return ratios;
}

double truth_of(const Cell& cell) { return cell.effect == 0 ? 0 : stats::median(pairs_of(cell)); }

double clarity_of(const Cell& cell, double truth) {
  const double spread = stats::robust_sigma(pairs_of(cell));
  return spread > 0 ? std::abs(truth) * std::sqrt(kRejectedWithin) / spread : 0;
}

bool is_found_again(const Cell& cell, double found, double gate, std::mt19937_64& random) {
  const stats::ConfirmationPlan plan{.gate = gate};
  const auto fresh = draw(cell, plan.pairs, random);
  return stats::judge_confirmation(fresh.a, fresh.b, found, plan, swaps_of(random)).is_confirmed;
}

bool is_right(const stats::Shift& shift, double truth) { return shift.estimate * truth > 0; }

void compare_once(const Cell& cell, double truth, std::mt19937_64& random, Sequential& tally) {
  const stats::LookPlan plan{.gate = std::log1p(tally.gate_ratio)};
  const auto sides = draw(cell, plan.pairs.back(), random);
  const auto swaps = swaps_of(random);
  stats::LookResult result;
  for (std::size_t look = 0; look < plan.pairs.size() && !result.is_final; ++look) {
    result = stats::judge_look(sides.a, sides.b, look, plan, swaps);
  }
  tally.pairs += result.pairs;
  ++tally.verdicts[result.verdict];
  if (result.p_value <= result.alpha && result.pairs <= kRejectedWithin) {
    ++tally.rejected;
    tally.rejected_right += is_right(result.shift, truth) ? 1 : 0;
  }
  if (result.verdict == stats::PairVerdict::kSlower ||
      result.verdict == stats::PairVerdict::kFaster) {
    const bool is_again = is_found_again(cell, result.shift.estimate, plan.gate, random);
    tally.confirmed += is_again ? 1 : 0;
  }
}

void test_once(const Cell& cell, double truth, std::mt19937_64& random, Fixed& tally) {
  const auto sides = draw(cell, tally.pairs, random);
  const auto swaps = swaps_of(random);
  const auto shift = stats::pair_shift(sides.a, sides.b, kFixedAlpha, swaps);
  if (stats::pair_swap_p_value(sides.a, sides.b, swaps) <= kFixedAlpha) {
    ++tally.rejected;
    tally.rejected_right += is_right(shift, truth) ? 1 : 0;
  }
  tally.covered += shift.low <= truth && truth <= shift.high ? 1 : 0;
}

}  // namespace

CellResult run_trials(const Cell& cell, int trials, std::uint64_t seed) {
  CellResult result{.cell = &cell, .trials = trials};
  const double truth = truth_of(cell);
  result.truth = std::expm1(truth);
  result.clarity = clarity_of(cell, truth);
  result.sequential = {{.gate_ratio = 0.02}, {.gate_ratio = 0.005}};
  result.fixed = {{.pairs = 10}, {.pairs = 20}, {.pairs = 40}};
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < trials; ++trial) {
    for (auto& tally : result.sequential) {
      compare_once(cell, truth, random, tally);
    }
    for (auto& tally : result.fixed) {
      test_once(cell, truth, random, tally);
    }
  }
  for (auto& tally : result.sequential) {
    tally.pairs /= trials;
  }
  return result;
}

Answer judge_as_recorded(const Cell& cell, double gate_ratio, std::uint64_t seed) {
  Sides sides;
  for (const auto& block : cell.blocks) {
    sides.a.insert(sides.a.end(), block.a.begin(), block.a.end());
    sides.b.insert(sides.b.end(), block.b.begin(), block.b.end());
  }
  const stats::LookPlan plan{.gate = std::log1p(gate_ratio)};
  stats::LookResult result;
  for (std::size_t look = 0; look < plan.pairs.size() && !result.is_final &&
                             std::cmp_less_equal(plan.pairs[look], sides.a.size());
       ++look) {
    result = stats::judge_look(sides.a, sides.b, look, plan, {.seed = seed});
  }
  return {.verdict = result.verdict,
          .pairs = result.pairs,
          .ratio = std::expm1(result.shift.estimate),
          .low = std::expm1(result.shift.low),
          .high = std::expm1(result.shift.high)};
}

}  // namespace assay::validation
