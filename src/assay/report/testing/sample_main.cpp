#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iostream>
#include <string_view>

#include "assay/base/result.h"
#include "assay/record/conformance.h"
#include "assay/report/conformance.h"
#include "assay/report/testing/sample_conformance.h"
#include "assay/report/testing/sample_program.h"
#include "assay/report/testing/sample_wide.h"
#include "assay/report/writer.h"

namespace {

struct ConformanceSample {
  std::string_view name;
  assay::ConformReport (*make)();
};

constexpr auto kConformances =
    std::to_array<ConformanceSample>({{"conformance", assay::report::sample_conformance},
                                      {"conformance_wide", assay::report::wide_conformance}});

assay::Status write_sample(std::string_view format, std::string_view name,
                           const assay::ReportStyle& style) {
  if (const auto run = assay::report::find_sample_run(name)) {
    return assay::write_report(format, *run, style, std::cout);
  }
  const auto* conformance = std::ranges::find(kConformances, name, &ConformanceSample::name);
  if (conformance != kConformances.end()) {
    return assay::write_conformance(format, conformance->make(), style, std::cout);
  }
  return assay::fail(assay::ErrorCode::kInvalidArgument, fmt::format("no sample '{}'", name));
}

}  // namespace

int main(int argc, char** argv) {
  return assay::report::run_sample_program(
      argc, argv, "sample|empty|comparison|wide|conformance|conformance_wide", write_sample);
}
