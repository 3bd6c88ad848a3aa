#include "assay/report/testing/sample_program.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/summary.h"
#include "assay/report/testing/sample_summary.h"
#include "assay/report/testing/sample_wide.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

struct RunSample {
  std::string_view name;
  RunSummary (*make)();
};

constexpr auto kRuns = std::to_array<RunSample>({{"sample", sample_summary},
                                                 {"empty", empty_summary},
                                                 {"comparison", sample_comparison},
                                                 {"wide", wide_summary}});

}  // namespace

std::optional<RunSummary> find_sample_run(std::string_view name) {
  const auto* const run = std::ranges::find(kRuns, name, &RunSample::name);
  return run == kRuns.end() ? std::nullopt : std::optional(run->make());
}

int run_sample_program(int argc, char** argv, std::string_view names, WriteSample write) {
  try {
    const std::vector<std::string_view> arguments(argv + 1, argv + argc);
    if (arguments.empty()) {
      fmt::print(stderr, "usage: {} FORMAT [{}] [WIDTH]\n", argv[0], names);
      return 2;
    }
    const auto name = arguments.size() > 1 ? arguments[1] : names.substr(0, names.find('|'));
    ReportStyle style{.has_accuracy_tables = true};
    if (arguments.size() > 2) {
      style.width_columns = std::stoi(std::string(arguments[2]));
    }
    if (const auto status = write(arguments[0], name, style); !status) {
      fmt::print(stderr, "{}\n", status.error().message);
      return 2;
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 4;
  }
}

}  // namespace assay::report
