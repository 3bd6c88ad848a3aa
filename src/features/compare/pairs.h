#pragma once

#include <cstddef>
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

  /// True if a launch of the pair was disturbed.
  [[nodiscard]] bool is_disturbed(int pair) const { return disturbed_.contains(pair); }
  /// Pairs of which at least one launch was disturbed (assay/summary/disturbance.h), replaced ones
  /// included.
  [[nodiscard]] int count_disturbed() const { return static_cast<int>(disturbed_.size()); }

  /// The names of all metrics that the programs define, with the prefix.
  [[nodiscard]] std::vector<std::string_view> program_metrics() const;

  /// Numbers of launches of A and B, and of those that never became steady.
  [[nodiscard]] int launches() const { return launches_; }
  [[nodiscard]] int launches_unsteady() const { return unsteady_; }

  /// A metric of the pairs that have it on both sides, in order of their number, without those that
  /// were replaced.
  struct Sides {
    /// ln value, or value by `size`; times -1 where more is better, so that a rate has the sides of
    /// the time that is its reciprocal, and what is larger is worse.
    std::vector<double> a;
    std::vector<double> b;
    double sign = 1;  ///< -1: more is better.
    MetricScale scale = MetricScale::kRatio;
    double size = 1;          ///< Where they are differences: a value that the gate is a share of.
    bool is_relative = true;  ///< `size` is A's median, or the sides are logarithms.
    int without = 0;          ///< Counted pairs of which a launch does not have the metric.

    /// b - a, by pair.
    [[nodiscard]] std::vector<double> differences() const;
    /// A number of `a` or `b` that the program printed.
    [[nodiscard]] double value_of(double number) const;
    /// The least change that matters, as a difference of `b` and `a`.
    [[nodiscard]] double gate(double gate_ratio) const;
    /// A difference as PairEstimate has it; absent if it is not finite.
    [[nodiscard]] std::optional<double> ratio_of(double difference) const;
    /// The first `count` pairs.
    [[nodiscard]] Sides first(std::size_t count) const;
    /// Puts the program's numbers of a metric on its scale, with its direction. What is
    /// known of the metric beyond these, `all`, decides: one value of 0 leaves differences.
    void put_scale(const MetricDefinition& definition, const Sides& all);
  };
  /// Logarithms where the metric is of a ratio scale and all its values, in all phases, are above
  /// 0; else values by A's median, or where that is 0 by the mean of all sizes.
  [[nodiscard]] Sides sides(std::string_view metric, PairPhase phase, Side other = Side::kB) const;
  /// Those of the search, then those of the confirmation.
  [[nodiscard]] Sides all_sides(std::string_view metric, Side other = Side::kB) const;

  /// The definition of a metric: Assay's, or the program's own.
  [[nodiscard]] MetricDefinition definition(std::string_view metric) const;

 private:
  struct Pair {
    PairPhase phase = PairPhase::kSearch;
    std::map<Side, ReducedLaunch> sides;
  };

  [[nodiscard]] bool is_counted(int number, const Pair& pair, PairPhase phase, Side other) const;
  [[nodiscard]] Sides values(std::string_view metric, PairPhase phase, Side other) const;
  /// Brings values to a scale, which those of all phases decide.
  void put_scale_of_all(std::string_view metric, Side other, Sides& sides) const;

  std::map<int, Pair> pairs_;
  std::map<std::string, ProgramMetric, std::less<>> definitions_;
  std::set<int> disturbed_;
  std::set<int> replaced_;
  int launches_ = 0;
  int unsteady_ = 0;
};

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
