#include "assay/report/writer.h"

#include <algorithm>
#include <array>
#include <exception>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <iterator>
#include <ostream>
#include <span>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/summary.h"
#include "assay/report/formats.h"

namespace assay {
namespace {

constexpr auto kOwnFormats = std::to_array<ReportFormat>({
    {"console", ".txt", "a table for terminals", report::write_console},
    {"json", ".json", "the whole summary as one document", report::write_json},
    {"jsonl", ".jsonl", "one case a line", report::write_jsonl},
    {"csv", ".csv", "one row a case, raw numbers, units in the head", report::write_csv},
    {"md", ".md", "a table for GitHub", report::write_markdown},
    {"junit", ".xml", "test results for CI", report::write_junit},
    {"html", ".html", "one page with tables and charts, no network", report::write_html},
});

std::vector<ReportFormat>& known_formats() {
  static std::vector<ReportFormat> formats(kOwnFormats.begin(), kOwnFormats.end());
  return formats;
}

}  // namespace

std::span<const ReportFormat> report_formats() { return known_formats(); }

void add_report_formats(std::span<const ReportFormat> formats) {
  auto& known = known_formats();
  for (const auto& format : formats) {
    ASSAY_CHECK(std::ranges::find(known, format.name, &ReportFormat::name) == known.end());
    known.push_back(format);
  }
}

Result<ReportFormat> get_report_format(std::string_view name) {
  const auto formats = report_formats();
  const auto found = std::ranges::find(formats, name, &ReportFormat::name);
  if (found != formats.end()) {
    return *found;
  }
  std::vector<std::string_view> names;
  std::ranges::transform(formats, std::back_inserter(names), &ReportFormat::name);
  return fail(ErrorCode::kNotFound,
              fmt::format("no report format '{}'; there are: {}", name, fmt::join(names, ", ")));
}

Status write_guarded(std::string_view format, const std::function<Status()>& write,
                     std::ostream& out) {
  try {
    ASSAY_RETURN_IF_ERROR(write());
    out.flush();
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInternal,
                fmt::format("the {} report failed: {}", format, error.what()));
  }
  if (!out) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("could not write the {} report: is the disk full, or the pipe closed?",
                            format));
  }
  return {};
}

Status write_report(std::string_view format, const RunSummary& summary, const ReportStyle& style,
                    std::ostream& out) {
  ASSAY_ASSIGN_OR_RETURN(const auto found, get_report_format(format));
  return write_guarded(format, [&] { return found.write(summary, style, out); }, out);
}

}  // namespace assay
