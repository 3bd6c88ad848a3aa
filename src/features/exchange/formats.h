#pragma once

#include <ostream>

#include "assay/base/result.h"
#include "assay/record/summary.h"
#include "assay/report/writer.h"

/// Writers of formats that other tools read, each in a file of its own.
namespace assay::report {

Status write_fai_pep(const RunSummary& summary, const ReportStyle& style, std::ostream& out);
Status write_pytorch_hud(const RunSummary& summary, const ReportStyle& style, std::ostream& out);
Status write_executorch_suite(const RunSummary& summary, const ReportStyle& style,
                              std::ostream& out);
Status write_perfherder(const RunSummary& summary, const ReportStyle& style, std::ostream& out);
Status write_github_benchmark(const RunSummary& summary, const ReportStyle& style,
                              std::ostream& out);
Status write_github_benchmark_bigger(const RunSummary& summary, const ReportStyle& style,
                                     std::ostream& out);

}  // namespace assay::report
