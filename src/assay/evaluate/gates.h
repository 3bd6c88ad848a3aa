#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"

namespace assay {

/// The metric behind the name of a gate: "steady_ns", or "qdq.sqnr_db" for the accuracy against one
/// kind of reference. Errors: kInvalidArgument with did-you-mean.
Result<const MetricDefinition*> metric_of_gate(std::string_view name);

/// Holds one bound (assay/spec/bound.h: ">=0.99", "<=12ms", "<=20MB") against the metrics of a
/// case. A metric that the case does not have, or that is NaN, does not meet its bound. Errors:
/// kInvalidArgument for an unknown metric or a bound that cannot be read.
Result<GateResult> check_gate(std::string_view metric, std::string_view bound,
                              const std::map<std::string, Estimate>& metrics);

/// All gates of a case: `require` is an object of metric name to bound.
Result<std::vector<GateResult>> check_gates(const Json& require,
                                            const std::map<std::string, Estimate>& metrics);

/// "12.3 ms", "14.1 MB", "31.2 dB", "0.97": a value in its metric's unit.
std::string text_of_value(const MetricDefinition& definition, double value);

}  // namespace assay
