#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "assay/base/json.h"
#include "assay/record/metric.h"

namespace assay {

/// One metric of one case over the revisions of a repository.
struct MeasuredSeries {
  std::string repository;   ///< Repository::id()
  std::string environment;  ///< Environment of the engine's build: RevisionBuild::environment.
  std::string case_key;
  std::string label;  ///< Label of the case.
  std::string metric;
  int metric_version = 1;
  std::string unit;
  Better better = Better::kLower;
  /// Digest of all but the label.
  [[nodiscard]] std::string key() const;
};

/// One revision in a series, derived from one run.
struct MeasuredPoint {
  std::string series;  ///< MeasuredSeries::key()
  std::string revision;
  std::int64_t position = 0;  ///< Revision::position
  std::string run;
  std::string machine;    ///< Environment::id
  std::string reference;  ///< Revision that was measured in the same run; empty: none.
  double value = 0;       ///< In the unit of the series.
  /// ln(value / value of the reference), or the difference of the two where a ratio means nothing;
  /// without a reference ln(value), or the value.
  double offset = 0;
  std::optional<double> low;  ///< Interval of the offset.
  std::optional<double> high;
  std::int64_t measured_unix_ns = 0;
};

/// True if offsets of the metric are log ratios (assay/record/metric_scale.h).
bool has_log_offsets(const MeasuredSeries& series);

ASSAY_DECLARE_JSON(MeasuredSeries);

}  // namespace assay
