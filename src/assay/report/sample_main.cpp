/// Writes the sample run: `assay_report_sample FORMAT [sample|empty|comparison|conformance]`. The
/// golden tests compare what it prints, tools/approve.py accepts it.

#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/summary.h"
#include "assay/report/conformance.h"
#include "assay/report/sample_conformance.h"
#include "assay/report/sample_summary.h"
#include "assay/report/writer.h"

namespace {

assay::RunSummary summary_of(std::string_view name) {
  if (name == "empty") {
    return assay::report::empty_summary();
  }
  return name == "comparison" ? assay::report::sample_comparison()
                              : assay::report::sample_summary();
}

assay::Status write_sample(std::string_view format, std::string_view name,
                           const assay::ReportStyle& style) {
  return name == "conformance" ? assay::write_conformance(
                                     format, assay::report::sample_conformance(), style, std::cout)
                               : assay::write_report(format, summary_of(name), style, std::cout);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string_view> arguments(argv + 1, argv + argc);
    if (arguments.empty()) {
      fmt::print(stderr,
                 "usage: assay_report_sample FORMAT [sample|empty|comparison|conformance] "
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
