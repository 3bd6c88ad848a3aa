#include "features/history/report/history_report.h"
#include "features/history/testing/sample_history.h"

#include <fmt/format.h>
#include <iostream>
#include <string_view>

#include "assay/base/result.h"
#include "assay/report/testing/sample_program.h"
#include "assay/report/writer.h"

namespace {

/// The commit that the sample of an explanation explains.
constexpr int kPosition = 70;

assay::Status write_sample(std::string_view format, std::string_view name,
                           const assay::ReportStyle& style) {
  if (name != "history") {
    return assay::fail(assay::ErrorCode::kInvalidArgument, fmt::format("no sample '{}'", name));
  }
  const auto history = assay::report::sample_history();
  if (format == "html") {
    return assay::report::history_to_html(history, style, std::cout);
  }
  std::cout << (format == "json"  ? assay::report::json_from_history(history)
                : format == "csv" ? assay::report::csv_from_history(history)
                : format == "explanation"
                    ? assay::report::explanation_of_commit(history, kPosition, style)
                    : assay::report::console_from_history(history, style));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  return assay::report::run_sample_program(argc, argv, "history", write_sample);
}
