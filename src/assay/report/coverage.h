#pragma once

#include <ostream>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/conformance.h"
#include "assay/report/writer.h"

namespace assay {

/// Writes how many cases each operator has, and why some have none: those without first, else by
/// name. Formats: console, md, csv, json (schema assay/conformance_coverage/1).
/// Errors: kInvalidArgument for another format; kUnavailable when the stream refuses.
Status write_coverage(std::string_view format, const std::vector<OperatorCoverage>& coverage,
                      const ReportStyle& style, std::ostream& out);

}  // namespace assay
