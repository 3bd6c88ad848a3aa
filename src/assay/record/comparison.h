#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/record/metric.h"

namespace assay {

/// Verdict of a comparison of B with A by one metric.
enum class ComparisonVerdict : std::uint8_t {
  kFaster,
  kSlower,
  kChangedLess,   ///< A change that is there, but smaller than what matters.
  kEquivalent,    ///< No difference as large as twice what matters.
  kInconclusive,  ///< Cannot tell.
  kIdentical,     ///< Both sides are the same files: there is nothing to measure.
  kChanged,       ///< A change that matters, of a metric without a better direction.
};

template <>
inline constexpr auto kEnumNames<ComparisonVerdict> = std::to_array<EnumName<ComparisonVerdict>>({
    {ComparisonVerdict::kFaster, "faster"},
    {ComparisonVerdict::kSlower, "slower"},
    {ComparisonVerdict::kChangedLess, "changed_less"},
    {ComparisonVerdict::kEquivalent, "equivalent"},
    {ComparisonVerdict::kInconclusive, "inconclusive"},
    {ComparisonVerdict::kIdentical, "identical"},
    {ComparisonVerdict::kChanged, "changed"},
});

/// Which launch of a comparison this is.
enum class Side : std::uint8_t {
  kA,
  kB,
  kCanary,  ///< A again, from a copy of its files.
};

template <>
inline constexpr auto kEnumNames<Side> = std::to_array<EnumName<Side>>({
    {Side::kA, "a"},
    {Side::kB, "b"},
    {Side::kCanary, "canary"},
});

/// The way in which the two launches of a pair share the machine.
enum class Pairing : std::uint8_t {
  kInterleaved,  ///< One after the other, on the same cores.
  kDuet,         ///< Both at once, on separate cores, which the next pair swaps.
};

template <>
inline constexpr auto kEnumNames<Pairing> = std::to_array<EnumName<Pairing>>({
    {Pairing::kInterleaved, "interleaved"},
    {Pairing::kDuet, "duet"},
});

/// Purpose of a pair.
enum class PairPhase : std::uint8_t {
  kPilot,         ///< Chooses between pairings; part of no answer.
  kSearch,        ///< Judged at the looks.
  kConfirmation,  ///< Fresh pairs, to find a change again.
};

template <>
inline constexpr auto kEnumNames<PairPhase> = std::to_array<EnumName<PairPhase>>({
    {PairPhase::kPilot, "pilot"},
    {PairPhase::kSearch, "search"},
    {PairPhase::kConfirmation, "confirmation"},
});

/// Where a launch stands in a comparison.
struct PairPlace {
  std::string comparison;
  int block = 0;  ///< Two pairs, in the order ABBA or BAAB.
  int pair = 0;   ///< Number of the pair, from 0, over all phases.
  Side side = Side::kA;
  std::vector<int> cpus;  ///< Where it ran; empty: anywhere.
  PairPhase phase = PairPhase::kSearch;
  Pairing pairing = Pairing::kInterleaved;
};

/// How two sides are compared; the reasons for the numbers are in docs/reference/measuring.md. With
/// the launches it is all that an answer is recomputed from.
struct ComparisonPlan {
  std::string metric = "steady_floor_ns";  ///< The primary one, which alone decides.
  double gate_ratio = 0.02;                ///< The least change that matters.
  std::vector<int> looks = {10, 20, 40, 80};
  std::vector<double> alpha = {0.002, 0.008, 0.015, 0.025};  ///< Spent at each look.
  int confirmation_pairs = 20;
  double confirmation_alpha = 0.01;  ///< One-sided: the sign is known.
  std::int64_t budget_ns = 0;  ///< The pairs under way when it ends are the last look; 0: none.
  bool has_canary = true;
  bool is_pinned = true;  ///< Both launches of a pair on the same cores, where threads < cores.
  bool adapts_iterations = false;  ///< Iterations follow the spread of the first pairs.
  bool tries_duet = false;         ///< A pilot decides between the pairings.
};

/// Result of the pilot that chooses between the two pairings.
struct PairingPilot {
  int pairs = 0;                 ///< Pairs of each pairing.
  double interleaved_sigma = 0;  ///< Robust standard deviation of the pairs' log ratios.
  double duet_sigma = 0;
  std::int64_t interleaved_pair_ns = 0;  ///< Wall time of a pair.
  std::int64_t duet_pair_ns = 0;
};

/// Estimate of one metric from some pairs. Ratios are B / A - 1: 0.02 is 2 % more time. Of a metric
/// that is better when it is higher, kFaster stands for more and kSlower for less.
struct PairEstimate {
  std::string metric;
  int pairs = 0;
  /// exp(median of the pairs' log ratios) - 1; of differences their median by `base`, or as it is
  /// where `base` is 0.
  double ratio = 0;
  std::optional<double> low;  ///< Absent: too few pairs to bound it.
  std::optional<double> high;
  double confidence = 0;  ///< Coverage of the interval.
  double p_value = 1;
  double alpha = 0;  ///< Threshold of p_value.
  ComparisonVerdict verdict = ComparisonVerdict::kInconclusive;
  /// True if a change was there again on fresh pairs; absent where that was not asked.
  std::optional<bool> is_confirmed;
  double a_median = 0;  ///< In the metric's unit, over the launches.
  double b_median = 0;
  std::string unit;                ///< Set for a program's own metric; empty for all others.
  Better better = Better::kLower;  ///< Set for a program's own metric.
  /// How the sides were compared: by ratios only where the metric has them and every value is above
  /// 0, else by differences.
  MetricScale scale = MetricScale::kRatio;
  /// The size of A's median, which differences (`ratio`, `low`, `high`) are shares of; 0: that is
  /// 0, and the three are in the metric's unit.
  double base = 0;
};

/// True if `ratio`, `low` and `high` are shares of A's value.
bool is_relative(const PairEstimate& estimate);

/// `ratio`, `low` or `high` of an estimate as an offset of a scale (assay/record/metric_scale.h):
/// ln(B / A), or B - A in the metric's unit. Absent where it has none: B / A of an A that is 0.
std::optional<double> offset_of(const PairEstimate& estimate, double ratio, MetricScale scale);

/// A against B: the design, what each look said, and the answer.
struct Comparison {
  std::string id;  ///< UUIDv7
  std::string run;
  std::string worker = "local";  ///< Who makes it: JobExecution::id in a fleet.
  std::string design = "pairs";  ///< "pairs": fresh launches, ABBA; "stored": two runs of the past.
  std::string a_case;            ///< Case keys.
  std::string b_case;
  std::string a_label;
  std::string b_label;
  std::uint64_t seed = 0;
  ComparisonPlan plan;
  Pairing pairing = Pairing::kInterleaved;
  std::optional<PairingPilot> pilot;
  int iterations = 0;  ///< Iterations of a launch after adaptation; 0: those of the run's spec.
  ComparisonVerdict verdict = ComparisonVerdict::kInconclusive;
  std::string text;                 ///< The answer as a sentence.
  bool is_confirmed = false;        ///< A change was found again on fresh pairs.
  int pairs_needed = 0;             ///< About how many would decide; 0: it is decided.
  int pairs_disturbed = 0;          ///< Disturbed pairs among all that were launched.
  std::vector<int> replaced_pairs;  ///< Disturbed ones that others stand for; stored as all are.
  int pairs_without = 0;            ///< Pairs of which a launch has no value of the primary metric.
  int launches = 0;                 ///< Launches of A and B in all pairs.
  int launches_unsteady = 0;        ///< That never became steady.
  std::vector<PairEstimate> looks;  ///< Looks at the primary metric, in order.
  std::vector<PairEstimate> metrics;  ///< All metrics, over all pairs; the first is the primary.
  std::optional<PairEstimate> confirmation;
  std::optional<PairEstimate> canary;  ///< A against itself.
  std::int64_t wall_ns = 0;
};

ASSAY_DECLARE_JSON(PairPlace);
ASSAY_DECLARE_JSON(ComparisonPlan);
ASSAY_DECLARE_JSON(PairingPilot);
ASSAY_DECLARE_JSON(PairEstimate);
ASSAY_DECLARE_JSON(Comparison);

}  // namespace assay
