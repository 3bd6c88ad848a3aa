#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/summary.h"
#include "assay/record/unfinished.h"
#include "assay/report/case_text.h"
#include "assay/report/formats.h"
#include "assay/report/writer.h"
#include "assay/report/xml.h"

namespace assay::report {
namespace {

/// Element of JUnit for a verdict: a process that died or did not finish is an error, a wrong or
/// refused number a failure. What was asked for and could not be decided has no word of its own and
/// is skipped, with the reason in front.
std::string_view case_element(const CaseSummary& cell) {
  if (cell.verdict == Verdict::kFail) {
    return cell.outcome == Outcome::kCompleted || is_refusal(cell.outcome) ? "failure" : "error";
  }
  if (is_unfinished(cell)) {
    return "error";
  }
  return cell.verdict == Verdict::kPass ? "" : "skipped";
}

std::size_t count_case_elements(const RunSummary& summary, std::string_view element) {
  return static_cast<std::size_t>(std::ranges::count(summary.cases, element, case_element));
}

XmlAttributes properties_of(const RunSummary& summary) {
  XmlAttributes properties = {{"run", summary.run.id},
                              {"seed", fmt::to_string(summary.run.seed)},
                              {"device_class", summary.environment.device_class}};
  for (auto& machine : machines_of(summary)) {
    properties.emplace_back("machine", std::move(machine));
  }
  std::ranges::copy(summary.run.labels, std::back_inserter(properties));
  return properties;
}

XmlAttributes properties_of(const CaseSummary& cell) {
  XmlAttributes properties = {{"case_key", cell.case_key},
                              {"result", result_of(cell)},
                              {"device", cell.device},
                              {"subject", cell.subject},
                              {"outcome", std::string(name_of(cell.outcome))},
                              {"accuracy", std::string(name_of(cell.accuracy))},
                              {"timing", std::string(name_of(cell.timing))},
                              {"delegation", std::string(name_of(cell.delegation))}};
  for (const auto& [name, estimate] : cell.metrics) {
    properties.emplace_back(
        name, estimate.special.empty() ? fmt::format("{}", estimate.value) : estimate.special);
  }
  for (const auto& [name, limit] : decisive_bounds(cell)) {
    properties.emplace_back(name + ".bound", limit);
  }
  return properties;
}

void write_case(const CaseSummary& cell, std::ostream& out) {
  const auto* steady = find_estimate(cell, "steady_ns");
  XmlAttributes attributes = {{"classname", cell.model}, {"name", title_of(cell)}};
  // CI draws it as a trend, and an emulator's time is not that of the hardware.
  const bool is_time = cell.timing != Timing::kEmulated;
  if (is_time && steady != nullptr && steady->special.empty()) {
    attributes.emplace_back("time", seconds_from_ns(steady->value));
  }
  out << "    " << xml_opening("testcase", attributes) << ">\n";
  write_junit_properties(properties_of(cell), "      ", out);
  if (const auto element = case_element(cell); !element.empty()) {
    const auto findings = findings_of(cell);
    out << "      "
        << xml_opening(element, {{"message", result_of(cell)},
                                 {"type", element == "skipped" ? "" : cause_of(cell)}})
        << ">" << xml_escaped(fmt::format("{}", fmt::join(findings, "\n"))) << "</" << element
        << ">\n";
  }
  auto lines = cell.warnings;
  lines.insert(lines.end(), cell.notes.begin(), cell.notes.end());
  if (!lines.empty()) {
    out << "      <system-out>" << xml_escaped(fmt::format("{}", fmt::join(lines, "\n")))
        << "</system-out>\n";
  }
  if (!cell.last_words.empty()) {
    out << "      <system-err>" << xml_escaped(cell.last_words) << "</system-err>\n";
  }
  out << "    </testcase>\n";
}

/// An empty run must not look like success.
void write_nothing(std::ostream& out) {
  out << "    <testcase classname=\"assay\" name=\"run\">\n"
         "      <error message=\"nothing was measured\" type=\"no cases\"/>\n"
         "    </testcase>\n";
}

}  // namespace

Status write_junit(const RunSummary& summary, const ReportStyle& /*style*/, std::ostream& out) {
  const auto& run = summary.run;
  const bool is_empty = summary.cases.empty();
  XmlAttributes attributes = {
      {"name", run.name.empty() ? run.purpose : run.name},
      {"tests", fmt::to_string(is_empty ? 1 : summary.cases.size())},
      {"failures", fmt::to_string(count_case_elements(summary, "failure"))},
      {"errors", fmt::to_string(is_empty ? 1 : count_case_elements(summary, "error"))},
      {"skipped", fmt::to_string(count_case_elements(summary, "skipped"))}};
  if (run.finished_unix_ns > run.started_unix_ns) {
    attributes.emplace_back(
        "time", seconds_from_ns(static_cast<double>(run.finished_unix_ns - run.started_unix_ns)));
  }
  if (run.started_unix_ns > 0) {
    attributes.emplace_back("timestamp", iso8601_from_unix_ns(run.started_unix_ns));
  }
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  "
      << xml_opening("testsuite", attributes) << ">\n";
  write_junit_properties(properties_of(summary), "    ", out);
  if (is_empty) {
    write_nothing(out);
  }
  for (const auto& cell : summary.cases) {
    write_case(cell, out);
  }
  out << "  </testsuite>\n</testsuites>\n";
  return {};
}

}  // namespace assay::report
