#pragma once

#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/record/summary.h"

namespace assay::fai_pep {

/// The cases of a run as FAI-PEP reports its tests: a list of {"meta", "data"}. A case without a
/// number is left out. "NET latency" has the steady times of all launches and their statistics;
/// metrics of a program are "NET NAME", operators of a profile "NAME latency". In a comparison A is
/// the control of B. Times are in us.
/// Source: FAI-PEP at 7c1a57e, benchmarking/driver/benchmark_driver.py.
Json results_from_summary(const RunSummary& summary);

}  // namespace assay::fai_pep
