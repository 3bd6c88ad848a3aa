#pragma once

#include <string>
#include <vector>

#include "assay/record/summary.h"

/// How sure times are, in marks and in a sentence.
namespace assay::report {

/// "±2.8": by how many percent the steady time may be off; empty if nothing tells.
std::string mark_of_time(const CaseSummary& cell);

/// Says in one sentence what the times of the cases are good for; empty if none has a steady
/// time. A time of an emulator is none of them.
std::string sentence_on_times(const std::vector<CaseSummary>& cases);

}  // namespace assay::report
