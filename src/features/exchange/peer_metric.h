#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "assay/record/metric.h"
#include "assay/record/summary.h"

/// Metrics of cases as the formats of other tools take them: a name, a number, its unit.
namespace assay::report {

/// A finite number of a case. Times are in milliseconds, because some readers bound or round what
/// they take.
struct PeerMetric {
  std::string name;  ///< "steady", "peak_rss_bytes"; a program's own as it calls it.
  std::string unit;  ///< "ms", "bytes", "ratio", "1/s", …; may be empty.
  Better better = Better::kLower;
  double value = 0;
  std::optional<double> low;
  std::optional<double> high;
  double confidence = 0;  ///< Coverage of [low, high], 0..1; 0 without an interval.
  int count = 0;          ///< Launches (or samples) behind the value.
};

/// Whether the metric is a time that an emulator took, or how well such a time is known: the
/// readers of these formats have no mark for one, so they get none.
bool is_emulated_time(const CaseSummary& cell, const MetricDefinition& definition);

/// The metrics of a case in the order of their definitions, then those of its program by name. NaN
/// and infinities are left out, as are metrics that were not measured.
std::vector<PeerMetric> peer_metrics_of(const CaseSummary& cell);

/// Errors of the worst outputs against each reference, "float32_sqnr_db"; finite ones only.
std::vector<PeerMetric> peer_errors_of(const CaseSummary& cell);

/// The median of each timed launch in milliseconds, in order.
std::vector<double> launch_medians_ms(const CaseSummary& cell);

/// Recipe, shapes and options: what tells the cases of one model apart; empty parts are left out.
std::string variant_of(const CaseSummary& cell);

/// Marks that tell apart those cases of a run which would be one series.
class SeriesMarks {
 public:
  explicit SeriesMarks(const RunSummary& summary);

  /// The engine with its build where another case of the run differs in the build alone; else
  /// empty, so that a series goes on over the versions of its engine. Also the begin of its key
  /// where another one differs by what no name shows: a file of inputs.
  [[nodiscard]] std::string of(const CaseSummary& cell) const;

 private:
  using Series = std::tuple<std::string, std::string, std::string>;  ///< Device, model, variant.
  static Series series_of(const CaseSummary& cell);

  std::map<Series, std::map<std::string, std::set<std::string>>> keys_;  ///< By engine.
};

}  // namespace assay::report
