#pragma once

#include <ostream>

#include "assay/base/result.h"
#include "assay/record/summary.h"
#include "assay/report/writer.h"

/// One writer per format, each in a file of its own; the registry in writer.cpp lists them.
namespace assay::report {

Status write_console(const RunSummary& summary, const ReportStyle& style, std::ostream& out);
Status write_json(const RunSummary& summary, const ReportStyle& style, std::ostream& out);
Status write_jsonl(const RunSummary& summary, const ReportStyle& style, std::ostream& out);
Status write_csv(const RunSummary& summary, const ReportStyle& style, std::ostream& out);
Status write_markdown(const RunSummary& summary, const ReportStyle& style, std::ostream& out);
Status write_junit(const RunSummary& summary, const ReportStyle& style, std::ostream& out);
Status write_html(const RunSummary& summary, const ReportStyle& style, std::ostream& out);

}  // namespace assay::report
