#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <ostream>
#include <string>
#include <string_view>

#include "assay/base/clock.h"
#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/record/conformance.h"
#include "assay/report/case_text.h"
#include "assay/report/conformance_formats.h"
#include "assay/report/conformance_text.h"
#include "assay/report/writer.h"
#include "assay/report/xml.h"

namespace assay::report {
namespace {

/// A test fails where the run speaks against the lists: a new failure, or a listed one that passes.
/// Known failures and cases that were not run are skipped with their reason.
std::string_view conformance_element(const ConformResult& result) {
  switch (result.known) {
    case KnownGap::kNewFailure:
      return is_fault_of_backend(result.verdict) ? "failure" : "error";
    case KnownGap::kUnexpectedPass:
      return "failure";
    case KnownGap::kUnsupported:
    case KnownGap::kKnownFailure:
      return "skipped";
    case KnownGap::kNone:
      break;
  }
  return result.verdict == ConformVerdict::kNotRun ? "skipped" : "";
}

std::string message_of(const ConformResult& result) {
  const bool is_known =
      result.known == KnownGap::kKnownFailure || result.known == KnownGap::kUnsupported;
  return is_known ? fmt::format("{}, known: {}", name_of(result.verdict), result.known_reason)
                  : text_of_finding(result);
}

std::size_t count_conformance_elements(const ConformReport& report, std::string_view element) {
  return static_cast<std::size_t>(std::ranges::count(report.results, element, conformance_element));
}

void write_result(const SettingNames& names, const ConformResult& result, std::ostream& out) {
  out << "    "
      << xml_opening("testcase",
                     {{"classname", result.operator_name}, {"name", names.title_of(result)}})
      << ">\n";
  write_junit_properties({{"case_key", result.case_key},
                          {"verdict", std::string(name_of(result.verdict))},
                          {"known", std::string(name_of(result.known))},
                          {"delegation", std::string(name_of(result.delegation))}},
                         "      ", out);
  if (const auto element = conformance_element(result); !element.empty()) {
    out << "      "
        << xml_opening(element, {{"message", message_of(result)},
                                 {"type", std::string(name_of(result.verdict))}})
        << ">" << xml_escaped(fmt::format("{}\n{}", result.text, result.command)) << "</" << element
        << ">\n";
  }
  if (!result.last_words.empty()) {
    out << "      <system-err>" << xml_escaped(result.last_words) << "</system-err>\n";
  }
  out << "    </testcase>\n";
}

}  // namespace

Status conformance_to_junit(const ConformReport& report, const ReportStyle& /*style*/,
                            std::ostream& out) {
  const bool is_empty = report.results.empty();
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  "
      << xml_opening("testsuite",
                     {{"name", "conform " + report.suite},
                      {"tests", fmt::to_string(is_empty ? 1 : report.results.size())},
                      {"failures", fmt::to_string(count_conformance_elements(report, "failure"))},
                      {"errors",
                       fmt::to_string(is_empty ? 1 : count_conformance_elements(report, "error"))},
                      {"skipped", fmt::to_string(count_conformance_elements(report, "skipped"))},
                      {"time", seconds_from_ns(report.seconds * 1e9)},
                      {"timestamp", iso8601_from_unix_ns(report.run.started_unix_ns)}})
      << ">\n";
  write_junit_properties({{"run", report.run.id},
                          {"tier", report.tier},
                          {"device_class", report.environment.device_class},
                          {"machine", machine_of(report.run, report.environment)}},
                         "    ", out);
  if (is_empty) {
    out << "    <testcase classname=\"assay\" name=\"conform\">\n"
           "      <error message=\"no case was judged\" type=\"no cases\"/>\n"
           "    </testcase>\n";
  }
  const SettingNames names(report);
  for (const auto& result : report.results) {
    write_result(names, result, out);
  }
  out << "  </testsuite>\n</testsuites>\n";
  return {};
}

}  // namespace assay::report
