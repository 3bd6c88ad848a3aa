#pragma once

#include <optional>
#include <string_view>

#include "assay/base/result.h"
#include "assay/record/summary.h"
#include "assay/report/writer.h"

namespace assay::report {

/// Writes the sample of this name to stdout.
using WriteSample = Status (*)(std::string_view format, std::string_view name,
                               const ReportStyle& style);

/// The main function of a program that writes samples: `PROGRAM FORMAT [NAME] [WIDTH]`. The golden
/// tests compare what it prints, and tools/approve.py accepts it. `names`: for the usage; the first
/// one is the default. Returns the exit code.
int run_sample_program(int argc, char** argv, std::string_view names, WriteSample write);

/// The summary of this name: sample, empty, comparison or wide.
std::optional<RunSummary> find_sample_run(std::string_view name);

}  // namespace assay::report
