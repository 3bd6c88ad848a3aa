#pragma once

#include <string_view>

#include "assay/base/result.h"
#include "assay/engines/command/printed_values.h"

namespace assay::command {

/// Adds what the lines of an observer tell: in each the identifier ("PyTorchObserver") and, after
/// it, a JSON record {"type", "metric", "unit", "value" | "summary" with "num_runs" |
/// "info_string"}. A number may be in quotes.
///
/// A time of the type NET is one inference, a time of another type one call of the operator of that
/// name. A summary is one value: of an operator its calls, of NET the metric "net_latency". What is
/// no time is the metric "TYPE_METRIC". A record without a type is that of ExecuTorch's runner of
/// language models, whose moments become durations and rates. What tells no number is left out, and
/// so is a line without a record.
/// Errors: kEngine for a record that is no JSON object, or whose number is none.
/// Sources: FAI-PEP's docs on its data format; executorch/extension/llm/runner/stats.h.
Status add_observed(std::string_view identifier, std::string_view printed, PrintedValues& values);

}  // namespace assay::command
