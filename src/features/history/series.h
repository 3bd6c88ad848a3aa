#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/record/metric.h"

namespace assay::history {

/// One measurement of a series.
struct Point {
  std::int64_t position = 0;  ///< Place of the commit on its branch; ascending within a series.
  std::string commit;
  std::int64_t unix_ns = 0;
  double value = 0;   ///< The measured value, in the unit of the series.
  double offset = 0;  ///< ln(value / reference), or value - reference where a ratio means nothing.
  double low = 0;     ///< Lower end of the offset's interval.
  double high = 0;
  bool has_interval = false;      ///< An interval without width: the value has no noise.
  std::uint32_t environment = 0;  ///< Index in Series::environments.
  std::uint32_t reference = 0;    ///< Index in Series::references.
  int metric_version = 1;
};

/// One metric of one case on one device over commits.
struct Series {
  std::string name;     ///< As people read it: case, device.
  std::string machine;  ///< Set where several machines were used side by side, a series for each.
  std::string metric;   ///< "steady_ns"
  std::string unit;     ///< As of metrics: "ns", "bytes", …; may be empty.
  Better better = Better::kLower;
  bool is_ratio = true;  ///< Offsets are ln ratios, else differences in the unit of the metric.
  /// Offsets are to a reference that was measured together with each point, so that 0 is its level;
  /// else only their differences mean something.
  bool has_reference = false;
  double min_effect = 0;  ///< Least change of an offset that matters; 0: that of the rule.
  std::vector<std::string> environments;  ///< Machines, as the points name them.
  std::vector<std::string> references;    ///< Commits that offsets are to.
  std::vector<Point> points;              ///< Ordered by position.

  /// True if no value has noise: each point has an interval, and of no width. Every change is then
  /// a real one.
  [[nodiscard]] bool is_exact() const;

  /// "net", "net (desk)": the name with the machine.
  [[nodiscard]] std::string full_name() const;
};

}  // namespace assay::history
