#pragma once

#include <cstdint>
#include <string>

#include "assay/base/json.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"

/// Parts of the cases of the sample run. The numbers are made up and constant.
namespace assay::report {

/// When the sample run started.
inline constexpr std::int64_t kSampleStart = 1'769'850'300'000'000'000;

/// A value without an interval.
Estimate plain(double value);

/// A case of one MobileNet that completed and passed, with nothing measured.
CaseSummary new_case(std::string model, std::string recipe);

/// Three launches with their samples, and the time metrics. `spread`: how far they lie apart, as a
/// ratio. Fewer than 50 `iterations`: the time budget ended them.
void add_timing(CaseSummary& cell, double steady_ns, double spread, int warmup, int iterations);

void add_memory(CaseSummary& cell, std::int64_t program_bytes);

/// A manifest in which a delegate took so many operators. `left`: the others, each with "name",
/// "count" and "reason".
void add_delegation(CaseSummary& cell, int taken, const Json& left);

void add_profile(CaseSummary& cell, double steady_ns);

/// Errors against "float32" and "qdq" that pass.
void add_accuracy(CaseSummary& cell, double float_db, double qdq_db);

/// An error that one layer of a quantized network begins, and a kernel makes worse.
void add_attribution(CaseSummary& cell);

OutputError output_error(std::string name, double sqnr_db, double max_abs);

}  // namespace assay::report
