#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"

namespace assay {

/// What a comparison says of B against A, by one metric.
enum class ComparisonVerdict : std::uint8_t {
  kFaster,
  kSlower,
  kChangedLess,   ///< A change that is there, but smaller than what matters.
  kEquivalent,    ///< No difference as large as twice what matters.
  kInconclusive,  ///< Cannot tell.
};

template <>
inline constexpr auto kEnumNames<ComparisonVerdict> = std::to_array<EnumName<ComparisonVerdict>>({
    {ComparisonVerdict::kFaster, "faster"},
    {ComparisonVerdict::kSlower, "slower"},
    {ComparisonVerdict::kChangedLess, "changed_less"},
    {ComparisonVerdict::kEquivalent, "equivalent"},
    {ComparisonVerdict::kInconclusive, "inconclusive"},
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

/// Where a launch stands in a comparison.
struct PairPlace {
  std::string comparison;
  int block = 0;  ///< Two pairs, in the order ABBA or BAAB.
  int pair = 0;   ///< From 0; those of a confirmation come after the others.
  Side side = Side::kA;
  std::vector<int> cpus;  ///< Where it ran; empty: anywhere.
};

/// What some pairs say of one metric. Ratios are B / A - 1: 0.02 is 2 % more time.
struct PairEstimate {
  std::string metric;
  int pairs = 0;
  double ratio = 0;           ///< exp(median of the pairs' log ratios) - 1
  std::optional<double> low;  ///< Absent: too few pairs to bound it.
  std::optional<double> high;
  double confidence = 0;  ///< Of the interval.
  double p_value = 1;
  double alpha = 0;  ///< What p_value is held against.
  ComparisonVerdict verdict = ComparisonVerdict::kInconclusive;
  double a_median = 0;  ///< In the metric's unit, over the launches.
  double b_median = 0;
};

/// A against B: the design, what each look said, and the answer.
struct Comparison {
  std::string id;  ///< UUIDv7
  std::string run;
  std::string design = "pairs";  ///< "pairs": fresh launches, ABBA; "stored": two runs of the past.
  std::string a_case;            ///< Case keys.
  std::string b_case;
  std::string a_label;
  std::string b_label;
  std::uint64_t seed = 0;
  double gate_ratio = 0;  ///< The least change that matters.
  ComparisonVerdict verdict = ComparisonVerdict::kInconclusive;
  std::string text;                   ///< The answer as a sentence.
  bool is_confirmed = false;          ///< A change was found again on fresh pairs.
  int pairs_needed = 0;               ///< About how many would decide; 0: it is decided.
  int pairs_disturbed = 0;            ///< Of all that were launched.
  std::vector<int> replaced_pairs;    ///< Disturbed ones that others stand for; stored as all are.
  std::vector<PairEstimate> looks;    ///< At the primary metric, in order.
  std::vector<PairEstimate> metrics;  ///< All metrics, over all pairs; the first is the primary.
  std::optional<PairEstimate> confirmation;
  std::optional<PairEstimate> canary;  ///< A against itself.
  std::int64_t wall_ns = 0;
};

ASSAY_DECLARE_JSON(PairPlace);
ASSAY_DECLARE_JSON(PairEstimate);
ASSAY_DECLARE_JSON(Comparison);

}  // namespace assay
