#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"

namespace assay {

/// The metric behind the name of a gate: "steady_ns", or "qdq.sqnr_db" for the accuracy against one
/// kind of reference. Errors: kInvalidArgument with did-you-mean.
Result<const MetricDefinition*> metric_of_gate(std::string_view name);

/// Holds one bound (assay/spec/bound.h: ">=0.99", "<=12ms", "<=20MB") against the metrics of a
/// case. A metric that the case does not have, or that is NaN, does not meet its bound.
///
/// A metric measured over launches is judged with its interval: the gate is met where the whole
/// interval is within the bound, broken where all of it is beyond, else undecided. A value within
/// the bound is undecided, too, where it has no interval (one launch), or where `timing` is
/// unsteady and the metric is one of the steady state.
/// A program's own metric ("program:p99") is judged so, too; its unit is known once it is measured,
/// and a bound in another one is not met.
/// Errors: kInvalidArgument for an unknown metric or a bound that cannot be read.
Result<GateResult> check_gate(std::string_view metric, std::string_view bound,
                              const std::map<std::string, Estimate>& metrics, Timing timing);

/// True if the case has the metric behind the name of a gate.
bool has_metric_of_gate(std::string_view metric, const std::map<std::string, Estimate>& metrics);

/// All gates of a case: `require` is an object of metric name to bound.
Result<std::vector<GateResult>> check_gates(const Json& require,
                                            const std::map<std::string, Estimate>& metrics,
                                            Timing timing);

/// "12.3 ms", "14.1 MB", "31.2 dB", "0.97": a value in its metric's unit.
std::string text_of_value(const MetricDefinition& definition, double value);

}  // namespace assay
