#pragma once

#include <string>
#include <vector>

#include "assay/record/attribution.h"
#include "assay/report/text_table.h"

namespace assay::report {

/// The program's own outputs, then the layers that add most of the error or are furthest off alone,
/// worst first: SQNR of each part, followed through and alone, and the share of what is added that
/// the layer adds.
TextTable attribution_table(const Attribution& attribution);

/// Lines below the table: what it leaves out, and what follows from it.
std::vector<std::string> attribution_lines(const Attribution& attribution);

}  // namespace assay::report
