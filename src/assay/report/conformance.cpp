#include "assay/report/conformance.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <ostream>
#include <string_view>
#include <utility>

#include "assay/base/result.h"
#include "assay/record/conformance.h"
#include "assay/report/conformance_formats.h"
#include "assay/report/writer.h"

namespace assay {
namespace {

using Write = Status (*)(const ConformReport&, const ReportStyle&, std::ostream&);

constexpr auto kWriters = std::to_array<std::pair<std::string_view, Write>>({
    {"console", report::conformance_to_console},
    {"json", report::conformance_to_json},
    {"jsonl", report::conformance_to_jsonl},
    {"csv", report::conformance_to_csv},
    {"md", report::conformance_to_markdown},
    {"junit", report::conformance_to_junit},
    {"html", report::conformance_to_html},
});

}  // namespace

Status write_conformance(std::string_view format, const ConformReport& report,
                         const ReportStyle& style, std::ostream& out) {
  ASSAY_RETURN_IF_ERROR(get_report_format(format));
  const auto* const found =
      std::ranges::find(kWriters, format, &std::pair<std::string_view, Write>::first);
  if (found == kWriters.end()) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("conformance has no report in the format '{}'; --format json has all "
                            "results",
                            format));
  }
  return write_guarded(format, [&] { return found->second(report, style, out); }, out);
}

}  // namespace assay
