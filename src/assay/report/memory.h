#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/record/summary.h"
#include "assay/report/text_table.h"

namespace assay::report {

/// The resident set of the runner by part and stage, KiB, with the sum below; empty without parts.
TextTable memory_table(const MemoryReport& memory);

/// Lines below the table: totals, malloc, what the reading itself costs, why a part is
/// negative, leaks.
std::vector<std::string> memory_lines(const CaseSummary& cell);

/// "the engine's declared planned_arenas" and the like: a part's name for people.
std::string title_of_part(std::string_view name);

}  // namespace assay::report
