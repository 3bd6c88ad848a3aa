#include "features/compare/pair_order.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "assay/record/comparison.h"

namespace assay {
namespace {

/// A launch of A beside which the canary keeps both pairs together: in ABBA before the first or
/// after the last, in BAAB between the two.
void insert_canary(bool is_abba, bool is_first, std::vector<PairStep>& order) {
  const auto a = std::ranges::find_if(order, [&](const PairStep& step) {
    return step.side == Side::kA && step.pair == order[is_first ? 0 : 3].pair;
  });
  const auto pair = a->pair;
  const bool goes_before = is_abba == is_first;
  order.insert(goes_before ? a : a + 1, {.pair = pair, .side = Side::kCanary});
}

}  // namespace

std::vector<PairStep> block_order(std::uint64_t seed, int block, bool has_canary) {
  std::seed_seq mixed{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                      static_cast<std::uint32_t>(block)};
  std::mt19937 coin(mixed);
  const bool is_abba = (coin() & 1U) != 0;
  const auto outer = is_abba ? Side::kA : Side::kB;
  const auto inner = is_abba ? Side::kB : Side::kA;
  const int first = 2 * block;
  std::vector<PairStep> order = {
      {first, outer}, {first, inner}, {first + 1, inner}, {first + 1, outer}};
  if (has_canary) {
    insert_canary(is_abba, (coin() & 1U) != 0, order);
  }
  return order;
}

}  // namespace assay
