// The runner of other people's benchmarks; see command_arguments.h and runner/runner.h for its
// arguments.
#include <cstddef>

#include "assay/allocation/counting_malloc.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/engines/command/command_arguments.h"
#include "assay/engines/command/command_engine.h"
#include "assay/runner/runner.h"

int main(int argc, char** argv) {
  auto arguments = assay::command::arguments_from({argv, static_cast<std::size_t>(argc)});
  if (!arguments) {
    assay::log_line(assay::LogLevel::kError, arguments.error().message);
    constexpr int kUsageError = 2;
    constexpr int kCouldNotRun = 3;
    return arguments.error().code == assay::ErrorCode::kInvalidArgument ? kUsageError
                                                                        : kCouldNotRun;
  }
  assay::command::CommandEngine engine(arguments->identity);
  auto& rest = arguments->rest;
  return assay::run_runner(engine, static_cast<int>(rest.size()), rest.data(),
                           assay::counted_malloc());
}
