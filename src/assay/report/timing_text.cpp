#include "assay/report/timing_text.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "assay/record/axes.h"
#include "assay/record/summary.h"
#include "assay/report/case_text.h"
#include "assay/report/format.h"

namespace assay::report {
namespace {

/// Common to the steady times of a run.
struct Certainty {
  std::size_t timed = 0;
  std::size_t unsteady = 0;
  std::vector<double> ratios;       ///< Uncertainties of times, as far as they are known.
  std::vector<double> confidences;  ///< Those of the same times.
};

Certainty certainty_of(const std::vector<CaseSummary>& cases) {
  Certainty found;
  for (const auto& cell : cases) {
    const auto* steady = find_estimate(cell, "steady_ns");
    // A clock with coarse steps may tell of no time at all.
    if (steady == nullptr || steady->value <= 0 || cell.timing == Timing::kEmulated) {
      continue;
    }
    ++found.timed;
    found.unsteady += cell.timing == Timing::kUnsteady ? 1 : 0;
    if (const auto* ratio = find_estimate(cell, "steady_uncertainty_ratio"); ratio != nullptr) {
      found.ratios.push_back(ratio->value);
      found.confidences.push_back(steady->confidence);
    }
  }
  return found;
}

/// No less than 0.1: what is smaller than that says more of the fewness of launches than of times.
std::string text_of_percent(double ratio) {
  return text_from_number(std::max(ratio * 100, 0.1), 2);
}

/// "±0.6 to ±2.8 % (75 % confidence)".
std::string range_of_marks(const Certainty& certainty) {
  const auto [least, most] = std::ranges::minmax(certainty.ratios);
  const auto [lowest, highest] = std::ranges::minmax(certainty.confidences);
  const auto low = text_of_percent(least);
  const auto high = text_of_percent(most);
  return fmt::format("{}±{} % ({:.3g} % confidence{})",
                     low == high ? "" : fmt::format("±{} to ", low), high, lowest * 100,
                     lowest == highest ? "" : " or more");
}

}  // namespace

std::string mark_of_time(const CaseSummary& cell) {
  const auto* ratio = find_estimate(cell, "steady_uncertainty_ratio");
  return ratio == nullptr || cell.timing == Timing::kEmulated ? ""
                                                              : "±" + text_of_percent(ratio->value);
}

std::string sentence_on_times(const std::vector<CaseSummary>& cases) {
  const auto certainty = certainty_of(cases);
  if (certainty.timed == 0) {
    return {};
  }
  if (certainty.ratios.empty()) {
    return "one launch does not say how sure its time is; three or more do (--launches 3)";
  }
  auto text = fmt::format(
      "{} sure to {}: {}; assay compare tells smaller differences",
      certainty.timed == 1 ? "this time is" : "these times are", range_of_marks(certainty),
      certainty.timed == 1 ? "a run that differs by less shows no change"
                           : "cases whose intervals overlap are not told apart");
  if (certainty.unsteady > 0) {
    text += fmt::format(
        "; {} of {} unsteady: it still moved when launches ended, and more "
        "--iterations or a quieter machine may settle it",
        certainty.unsteady, counted(certainty.timed, "time"));
  }
  return text;
}

}  // namespace assay::report
