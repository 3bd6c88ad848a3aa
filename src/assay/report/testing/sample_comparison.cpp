#include <vector>

#include "assay/record/comparison.h"
#include "assay/record/summary.h"
#include "assay/report/testing/sample_summary.h"

namespace assay::report {
namespace {

constexpr int kSearchPairs = 20;
constexpr int kConfirmationPairs = 20;
constexpr int kReplacedPair = 3;

PairEstimate floor_estimate(int pairs, double ratio, double low, double high) {
  return {.metric = "steady_floor_ns",
          .pairs = pairs,
          .ratio = ratio,
          .low = low,
          .high = high,
          .confidence = 0.95,
          .p_value = 0.0002,
          .alpha = 0.05,
          .verdict = ComparisonVerdict::kSlower,
          .a_median = 1'613'000,
          .b_median = 1'669'000};
}

std::vector<PairEstimate> all_metrics() {
  auto floor = floor_estimate(kSearchPairs + kConfirmationPairs, 0.035, 0.029, 0.058);
  floor.is_confirmed = true;
  auto first = floor;
  first.metric = "first_ns";
  first.ratio = 0.09;
  first.low = -0.01;
  first.high = 0.17;
  first.p_value = 0.03;
  first.is_confirmed = false;
  first.verdict = ComparisonVerdict::kInconclusive;
  first.a_median = 2'310'000;
  first.b_median = 2'480'000;
  return {floor, first};
}

Comparison made_up_comparison() {
  Comparison comparison{.id = "0190b5f2-0000-7000-8000-000000000010",
                        .run = "0190b5f2-0000-7000-8000-000000000011",
                        .a_label = "old.pte threads=1",
                        .b_label = "<b>new</b>.pte threads=1",
                        .seed = 7,
                        .verdict = ComparisonVerdict::kSlower,
                        .text =
                            "B takes 3.5 % more time than A [+2.9 %, +5.8 %], found on 20 pairs "
                            "and again on 20 fresh ones",
                        .is_confirmed = true};
  comparison.plan.tries_duet = true;
  comparison.pilot = {.pairs = 10,
                      .interleaved_sigma = 0.0072,
                      .duet_sigma = 0.031,
                      .interleaved_pair_ns = 290'000'000,
                      .duet_pair_ns = 240'000'000};
  comparison.iterations = 34;
  comparison.pairs_disturbed = 2;
  comparison.replaced_pairs = {kReplacedPair};
  comparison.launches = 2 * (kSearchPairs + kConfirmationPairs + 1);
  comparison.launches_unsteady = 3;
  auto open = floor_estimate(10, 0.031, -0.004, 0.066);
  open.p_value = 0.0039;
  open.alpha = 0.002;
  open.verdict = ComparisonVerdict::kInconclusive;
  auto found = floor_estimate(kSearchPairs, 0.036, 0.021, 0.058);
  found.alpha = 0.008;
  comparison.looks = {open, found};
  comparison.metrics = all_metrics();
  comparison.confirmation = floor_estimate(kConfirmationPairs, 0.034, 0.022, 0.061);
  comparison.canary = floor_estimate(kSearchPairs + kConfirmationPairs, 0.001, -0.004, 0.006);
  comparison.canary->p_value = 0.61;
  comparison.canary->verdict = ComparisonVerdict::kEquivalent;
  comparison.wall_ns = 15'140'000'000;
  return comparison;
}

/// B a few per cent above A, by a pattern that looks like noise.
std::vector<PairPoint> made_up_pairs() {
  std::vector<PairPoint> pairs;
  for (int pair = 0; pair < kSearchPairs + kConfirmationPairs + 1; ++pair) {
    const double a = 1'613'000 + 1000.0 * (pair * 7 % 11);
    const double percent = 3.5 + 0.4 * (pair * 5 % 9 - 4);
    pairs.push_back({.pair = pair,
                     .phase = pair <= kSearchPairs ? PairPhase::kSearch : PairPhase::kConfirmation,
                     .a = a,
                     .b = a * (1 + (pair == kReplacedPair ? 9 : percent) / 100),
                     .is_replaced = pair == kReplacedPair,
                     .is_disturbed = pair == kReplacedPair || pair == kSearchPairs});
  }
  return pairs;
}

}  // namespace

RunSummary sample_comparison() {
  auto summary = sample_summary();
  summary.run.purpose = "compare";
  summary.run.name = "compare";
  summary.cases.resize(2);
  summary.trade_offs.clear();
  summary.comparisons = {{.comparison = made_up_comparison(), .pairs = made_up_pairs()}};
  return summary;
}

}  // namespace assay::report
