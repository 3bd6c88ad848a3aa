#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/comparison.h"
#include "assay/record/launch.h"
#include "assay/stats/looks.h"
#include "assay/stats/pair_test.h"

namespace assay {

/// The launches of a comparison, each reduced to its metrics, joined to pairs.
class Pairs {
 public:
  /// A launch that was completed, with its place.
  void add(const Launch& launch);

  /// Pairs that have both A and B and were not replaced.
  [[nodiscard]] int count() const;

  /// Takes a pair out because another one is launched in its place.
  void replace(int pair) { replaced_.insert(pair); }
  [[nodiscard]] const std::set<int>& replaced() const { return replaced_; }

  /// Whether a launch of the pair was disturbed.
  [[nodiscard]] bool is_disturbed(int pair) const { return disturbed_.contains(pair); }
  /// Pairs of which at least one launch was disturbed (assay/summary/disturbance.h), replaced ones
  /// included.
  [[nodiscard]] int count_disturbed() const { return static_cast<int>(disturbed_.size()); }

  /// Natural logarithms of a metric of the pairs that have both sides, in order of their number,
  /// without those that were replaced.
  struct Sides {
    std::vector<double> a;
    std::vector<double> b;
  };
  [[nodiscard]] Sides logs(std::string_view metric, Side other = Side::kB) const;

  /// A look's result as a record.
  [[nodiscard]] PairEstimate estimate_of(std::string_view metric,
                                         const stats::LookResult& look) const;

  /// Every metric over all pairs, the primary one first, with 95 % intervals. What counts as a
  /// change is decided over all of them together (Benjamini-Hochberg, q = 5 %).
  [[nodiscard]] std::vector<PairEstimate> estimate_all(std::string_view primary, double gate_ratio,
                                                       const stats::PairSwapPlan& swaps) const;

  /// A's copy against A; absent without canaries.
  [[nodiscard]] std::optional<PairEstimate> estimate_canary(std::string_view metric,
                                                            const stats::PairSwapPlan& swaps) const;

 private:
  using Values = std::map<std::string, double, std::less<>>;  ///< By metric.
  std::map<int, std::map<Side, Values>> pairs_;
  std::set<int> disturbed_;
  std::set<int> replaced_;
};

}  // namespace assay
