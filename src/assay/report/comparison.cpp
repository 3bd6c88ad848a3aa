#include "assay/report/comparison.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/base/units.h"
#include "assay/record/comparison.h"
#include "assay/record/metric.h"
#include "assay/report/format.h"
#include "assay/report/shift_text.h"
#include "assay/report/text_table.h"

namespace assay::report {
namespace {

std::string verdict_colour(ComparisonVerdict verdict) {
  switch (verdict) {
    case ComparisonVerdict::kFaster:
      return "32";
    case ComparisonVerdict::kSlower:
      return "1;31";
    case ComparisonVerdict::kInconclusive:
      return "33";
    default:
      return "";
  }
}

std::string verdict_text(ComparisonVerdict verdict) {
  switch (verdict) {
    case ComparisonVerdict::kChangedLess:
      return "changed, less than matters";
    case ComparisonVerdict::kEquivalent:
      return "no difference that matters";
    case ComparisonVerdict::kInconclusive:
      return "cannot tell";
    default:
      return std::string(name_of(verdict));
  }
}

std::string title_of_estimate(const PairEstimate& estimate) {
  return std::string(definition_of(estimate.metric, {.unit = estimate.unit}).title);
}

std::string p_text(double p_value) {
  return p_value < 0.0005 ? "<0.001" : fmt::format("{:.3f}", p_value);
}

/// Leaves the interval out: the table has the one over all pairs.
std::string estimate_line(const std::string& what, const PairEstimate& estimate) {
  return fmt::format("{} {} pairs: {}, p {}: {} shows at the limit of {:.3g}", what, estimate.pairs,
                     full_text_of_shift(shift_of(estimate)), p_text(estimate.p_value),
                     estimate.p_value <= estimate.alpha ? "a change" : "no change", estimate.alpha);
}

/// "; 7 disturbed by other work, 2 of them replaced"
std::string text_of_disturbed(const Comparison& comparison) {
  if (comparison.pairs_disturbed == 0) {
    return "";
  }
  const auto replaced = comparison.replaced_pairs.size();
  return fmt::format("; {} disturbed by other work{}", comparison.pairs_disturbed,
                     replaced == 0 ? "" : fmt::format(", {} of them replaced", replaced));
}

/// Result of a pilot, and the choice that followed.
std::string text_of_pilot(const PairingPilot& pilot, Pairing pairing) {
  const auto seconds = [](std::int64_t ns) {
    return text_from_duration_ns(static_cast<double>(ns));
  };
  return fmt::format(
      "pilot of {} pairs each: interleaved {:.2g} % apart at {} a pair, at once {:.2g} % at {}; {}",
      pilot.pairs, pilot.interleaved_sigma * 100, seconds(pilot.interleaved_pair_ns),
      pilot.duet_sigma * 100, seconds(pilot.duet_pair_ns),
      pairing == Pairing::kDuet ? "both sides ran at once" : "pairs were interleaved");
}

}  // namespace

TextTable comparison_table(const Comparison& comparison) {
  if (comparison.metrics.empty()) {
    return {};
  }
  TextColumn name{.title = "metric", .is_left = true, .importance = 100};
  TextColumn a{.title = "A", .importance = 70};
  TextColumn b{.title = "B", .importance = 70};
  std::vector<Shift> shifts;
  std::ranges::transform(comparison.metrics, std::back_inserter(shifts),
                         [](const PairEstimate& estimate) { return shift_of(estimate); });
  TextColumn ratio{.title = "B vs A", .unit = unit_of_shifts(shifts), .importance = 95};
  TextColumn interval{.title = "interval", .unit = "95 %", .importance = 90};
  TextColumn p{.title = "p", .importance = 40};
  TextColumn answer{.title = "answer", .is_left = true, .importance = 80};
  for (const auto& estimate : comparison.metrics) {
    const Estimate a_side{.value = estimate.a_median, .count = 1, .unit = estimate.unit};
    const Estimate b_side{.value = estimate.b_median, .count = 1, .unit = estimate.unit};
    name.cells.push_back({title_of_estimate(estimate)});
    a.cells.push_back({text_from_metric(estimate.metric, a_side)});
    b.cells.push_back({text_from_metric(estimate.metric, b_side)});
    ratio.cells.push_back({text_of_shift(shift_of(estimate))});
    interval.cells.push_back({text_of_bounds(shift_of(estimate))});
    p.cells.push_back({p_text(estimate.p_value)});
    const auto words = verdict_text(estimate.verdict) +
                       (estimate.is_confirmed == false ? ", not found again" : "");
    answer.cells.push_back({words, verdict_colour(estimate.verdict)});
  }
  TextTable table{.indent = 2};
  table.columns = {std::move(name),     std::move(a), std::move(b),     std::move(ratio),
                   std::move(interval), std::move(p), std::move(answer)};
  return table;
}

std::vector<std::string> comparison_lines(const Comparison& comparison) {
  const auto pairs = comparison.metrics.empty() ? 0 : comparison.metrics.front().pairs;
  std::vector<std::string> lines = {fmt::format(
      "{} of fresh launches in {}, seed {}; {}a change of {:.3g} % matters{}",
      counted(static_cast<std::size_t>(pairs), "pair"),
      text_from_duration_ns(static_cast<double>(comparison.wall_ns)), comparison.seed,
      comparison.metrics.size() < 2
          ? ""
          : fmt::format("{} alone decides, ", title_of_estimate(comparison.metrics.front())),
      comparison.plan.gate_ratio * 100, text_of_disturbed(comparison))};
  if (comparison.pairs_without > 0) {
    lines.push_back(fmt::format("{} without {} on a side, left out",
                                counted(static_cast<std::size_t>(comparison.pairs_without), "pair"),
                                comparison.plan.metric));
  }
  if (comparison.launches_unsteady > 0) {
    lines.push_back(fmt::format("{} of {} launches never became steady",
                                comparison.launches_unsteady, comparison.launches));
  }
  if (comparison.iterations > 0) {
    lines.push_back(fmt::format("{} iterations a launch, by the spread of the first ones",
                                comparison.iterations));
  }
  if (comparison.pilot) {
    lines.push_back(text_of_pilot(*comparison.pilot, comparison.pairing));
  }
  for (const auto& look : comparison.looks) {
    lines.push_back(estimate_line("look at", look));
  }
  if (comparison.confirmation) {
    lines.push_back(estimate_line("confirmation on", *comparison.confirmation));
  }
  if (comparison.canary) {
    lines.push_back(estimate_line("canary, a copy of A, on", *comparison.canary));
  }
  return lines;
}

std::string console_from_comparison(const Comparison& comparison, std::size_t width,
                                    bool has_colour) {
  std::string out =
      fmt::format("A  {}\nB  {}\n\n", printable(comparison.a_label), printable(comparison.b_label));
  out += coloured(wrapped(printable(comparison.text), width, 0), verdict_colour(comparison.verdict),
                  has_colour) +
         "\n";
  if (comparison.verdict == ComparisonVerdict::kIdentical) {
    return out;
  }
  const auto lines = comparison_lines(comparison);
  out += lines.front() + "\n\n";
  if (const auto table = comparison_table(comparison); !table.columns.empty()) {
    out += table.lay_out(width, has_colour).text + "\n";
  }
  for (std::size_t i = 1; i < lines.size(); ++i) {
    out += "  " + wrapped(lines[i], width - 2, 2) + "\n";
  }
  return out;
}

Json document_from_comparison(const Comparison& comparison) {
  Json document = {{"schema", "assay/comparison/1"}};
  document.update(Json(comparison));
  return document;
}

}  // namespace assay::report
