#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/comparison.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/stats/looks.h"
#include "assay/stats/pair_test.h"
#include "assay/summary/reduction.h"

namespace assay {

/// The launches of a comparison, each reduced to its metrics, joined to pairs.
class Pairs {
 public:
  /// A launch that was completed, with its place.
  void add(const Launch& launch);

  /// Pairs of a phase that have both A and B and were not replaced.
  [[nodiscard]] int count(PairPhase phase) const;

  /// Pairs of a phase to be replaced now: those of which a launch was disturbed, by its conditions
  /// and counters alone, never by its times; ascending. At most a fifth of the phase's pairs so far
  /// is ever replaced: on a machine that is always busy the rest stays, as the order and the test
  /// hold under noise that falls on both sides, and a budget of time ends the phase.
  [[nodiscard]] std::vector<int> find_replaceable(PairPhase phase) const;
  /// Takes a pair out because another one is launched in its place.
  void replace(int pair) { replaced_.insert(pair); }
  [[nodiscard]] const std::set<int>& replaced() const { return replaced_; }

  /// Whether a launch of the pair was disturbed.
  [[nodiscard]] bool is_disturbed(int pair) const { return disturbed_.contains(pair); }
  /// Pairs of which at least one launch was disturbed (assay/summary/disturbance.h), replaced ones
  /// included.
  [[nodiscard]] int count_disturbed() const { return static_cast<int>(disturbed_.size()); }

  /// The definition that the program gives its own metric, by "program:NAME"; null for others.
  [[nodiscard]] const ProgramMetric* find_definition(std::string_view metric) const;
  /// The names of all metrics that the programs define, with the prefix.
  [[nodiscard]] std::vector<std::string_view> program_metrics() const;

  /// Launches of A and B, and those of them that never became steady.
  [[nodiscard]] int launches() const { return launches_; }
  [[nodiscard]] int launches_unsteady() const { return unsteady_; }

  /// Natural logarithms of a metric of the pairs that have both sides, in order of their number,
  /// without those that were replaced.
  struct Sides {
    std::vector<double> a;
    std::vector<double> b;

    /// b - a, by pair.
    [[nodiscard]] std::vector<double> differences() const;
  };
  [[nodiscard]] Sides logs(std::string_view metric, PairPhase phase, Side other = Side::kB) const;
  /// Those of the search, then those of the confirmation.
  [[nodiscard]] Sides all_logs(std::string_view metric, Side other = Side::kB) const;

 private:
  struct Pair {
    PairPhase phase = PairPhase::kSearch;
    std::map<Side, ReducedLaunch> sides;  ///< Without what is not above 0.
  };

  [[nodiscard]] bool is_counted(int number, const Pair& pair, PairPhase phase, Side other) const;

  std::map<int, Pair> pairs_;
  std::map<std::string, ProgramMetric, std::less<>> definitions_;
  std::set<int> disturbed_;
  std::set<int> replaced_;
  int launches_ = 0;
  int unsteady_ = 0;
};

/// B / A - 1 from the difference of their natural logarithms; absent where that is not finite.
std::optional<double> ratio_from_log(double log);

/// A look's result as a record, over the first pairs of `sides`, which are those of `pairs`.
PairEstimate estimate_of(std::string_view metric, const Pairs& pairs, const Pairs::Sides& sides,
                         const stats::LookResult& look);

/// Every metric over all pairs, the primary one first, with 95 % intervals. What counts as a change
/// is decided over all of them together on the pairs of the search (Benjamini-Hochberg, q = 5 %),
/// and then on those of the confirmation, if there are any (Holm, 1 %).
std::vector<PairEstimate> estimate_all(const Pairs& pairs, const ComparisonPlan& plan,
                                       const stats::PairSwapPlan& swaps);

/// A's copy against A; absent without canaries.
std::optional<PairEstimate> estimate_canary(const Pairs& pairs, const ComparisonPlan& plan,
                                            const stats::PairSwapPlan& swaps);

/// Why pairs speak against themselves, as a sentence; empty where they do not: the halves of the
/// search each show a change (p < 0.05), in opposite directions; or floor and median both changed,
/// in opposite directions.
std::string find_contradiction(const Pairs& pairs, const std::vector<PairEstimate>& metrics,
                               const ComparisonPlan& plan, const stats::PairSwapPlan& swaps);

}  // namespace assay
