#pragma once

#include <ostream>
#include <string_view>

#include "assay/base/result.h"
#include "assay/record/conformance.h"
#include "assay/report/writer.h"

namespace assay {

/// Writes a report of conformance in one of the formats of report_formats(): the same names and
/// extensions. Formats only: every number comes from the report.
/// Errors: kNotFound, naming the formats; kUnavailable when the stream refuses.
Status write_conformance(std::string_view format, const ConformReport& report,
                         const ReportStyle& style, std::ostream& out);

}  // namespace assay
