#include "features/exchange/feature.h"

#include <fmt/format.h>
#include <iostream>
#include <string_view>

#include "assay/base/result.h"
#include "assay/report/testing/sample_program.h"
#include "assay/report/writer.h"

namespace {

assay::Status write_sample(std::string_view format, std::string_view name,
                           const assay::ReportStyle& style) {
  const auto run = assay::report::find_sample_run(name);
  if (!run) {
    return assay::fail(assay::ErrorCode::kInvalidArgument, fmt::format("no sample '{}'", name));
  }
  return assay::write_report(format, *run, style, std::cout);
}

}  // namespace

int main(int argc, char** argv) {
  assay::add_report_formats(assay::exchange::kFeature.report_formats);
  return assay::report::run_sample_program(argc, argv, "sample|empty|comparison|wide",
                                           write_sample);
}
