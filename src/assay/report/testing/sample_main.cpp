/// Writes a sample run: `assay_report_sample FORMAT [NAME]`. The golden tests compare what it
/// prints, tools/approve.py accepts it.

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/conformance.h"
#include "assay/record/summary.h"
#include "assay/report/conformance.h"
#include "assay/report/history.h"
#include "assay/report/testing/sample_conformance.h"
#include "assay/report/testing/sample_history.h"
#include "assay/report/testing/sample_summary.h"
#include "assay/report/testing/sample_wide.h"
#include "assay/report/writer.h"

namespace {

struct RunSample {
  std::string_view name;
  assay::RunSummary (*make)();
};

constexpr auto kRuns = std::to_array<RunSample>({{"sample", assay::report::sample_summary},
                                                 {"empty", assay::report::empty_summary},
                                                 {"comparison", assay::report::sample_comparison},
                                                 {"wide", assay::report::wide_summary}});

struct ConformanceSample {
  std::string_view name;
  assay::ConformReport (*make)();
};

constexpr auto kConformances =
    std::to_array<ConformanceSample>({{"conformance", assay::report::sample_conformance},
                                      {"conformance_wide", assay::report::wide_conformance}});

assay::Status write_history(std::string_view format, const assay::ReportStyle& style) {
  const auto history = assay::report::sample_history();
  if (format == "html") {
    return assay::report::history_to_html(history, style, std::cout);
  }
  std::cout << (format == "json"          ? assay::report::json_from_history(history)
                : format == "csv"         ? assay::report::csv_from_history(history)
                : format == "explanation" ? assay::report::explanation_of_commit(history, 70, style)
                                          : assay::report::console_from_history(history, style));
  return {};
}

assay::Status write_sample(std::string_view format, std::string_view name,
                           const assay::ReportStyle& style) {
  if (const auto* run = std::ranges::find(kRuns, name, &RunSample::name); run != kRuns.end()) {
    return assay::write_report(format, run->make(), style, std::cout);
  }
  const auto* conformance = std::ranges::find(kConformances, name, &ConformanceSample::name);
  if (conformance != kConformances.end()) {
    return assay::write_conformance(format, conformance->make(), style, std::cout);
  }
  if (name == "history") {
    return write_history(format, style);
  }
  return assay::fail(assay::ErrorCode::kInvalidArgument, fmt::format("no sample '{}'", name));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string_view> arguments(argv + 1, argv + argc);
    if (arguments.empty()) {
      fmt::print(stderr,
                 "usage: assay_report_sample FORMAT "
                 "[sample|empty|comparison|wide|conformance|conformance_wide|history] "
                 "[WIDTH]\n");
      return 2;
    }
    const std::string_view name = arguments.size() > 1 ? arguments[1] : "sample";
    assay::ReportStyle style{.has_accuracy_tables = true};
    if (arguments.size() > 2) {
      style.width_columns = std::stoi(std::string(arguments[2]));
    }
    if (const auto status = write_sample(arguments[0], name, style); !status) {
      fmt::print(stderr, "{}\n", status.error().message);
      return 2;
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 4;
  }
}
