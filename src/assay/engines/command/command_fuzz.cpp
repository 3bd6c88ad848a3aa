// Whatever a command's document and its output are, numbers are found in it or it is refused.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/base/fuzz_input.h"
#include "assay/base/result.h"
#include "assay/engines/command/build_folder.h"
#include "assay/engines/command/command_line.h"
#include "assay/engines/command/command_program.h"
#include "assay/engines/command/operator_events.h"
#include "assay/engines/command/printed_values.h"
#include "assay/record/metric.h"

namespace {

void check_values(const assay::command::PrintedValues& values) {
  for (const auto ns : values.times_ns) {
    ASSAY_CHECK(ns >= 0);
  }
  ASSAY_CHECK(values.clock_resolution_ns >= 0);
  for (const auto& metric : values.metrics) {
    ASSAY_CHECK(assay::is_program_metric_name(metric.name) && std::isfinite(metric.value));
  }
  const auto report = assay::command::profile_from_printed(values, 2);
  ASSAY_CHECK(report.events.size() <= values.operators.size());
  for (const auto& event : report.events) {
    ASSAY_CHECK(event.count >= 1 && event.total_ns >= 0 && event.min_ns >= 0);
  }
}

}  // namespace

// The document, a zero byte, and what the command prints.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto [document, printed] =
      assay::split_at_first({reinterpret_cast<const char*>(data), size}, '\0');
  const assay::FuzzedFile file(document);
  const auto program = assay::command::read_command_program(file.path());
  if (!program) {
    return 0;
  }
  ASSAY_CHECK(!program->steps.empty() && program->timeout_ns > 0);
  const assay::command::BuildFolder build{.folder = "/b", .outputs = {{"bench", "/b/bench"}}};
  const assay::command::Values values{.inputs = {"in0"},
                                      .outputs = {"out0"},
                                      .iterations = 2,
                                      .warmup = 1,
                                      .threads = 1,
                                      .build = &build,
                                      .places = {{"graph", "/g"}},
                                      .scratch = "/s"};
  if (const auto lines = assay::command::command_lines_from(*program, values)) {
    ASSAY_CHECK(lines->size() == program->steps.size());
  }
  if (const auto found = assay::command::values_from_printed(
          *program, std::string_view(printed).substr(0, 4096))) {
    check_values(*found);
  }
  return 0;
}
