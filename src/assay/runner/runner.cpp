#include "assay/runner/runner.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdlib.h>
#include <string>
#include <string_view>

#include <unistd.h>

#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/device/loaded_files.h"
#include "assay/device/malloc_reader.h"
#include "assay/device/memory_parts.h"
#include "assay/device/process_memory.h"
#include "assay/engine/engine.h"
#include "assay/measure/memory_probe.h"
#include "assay/record/launch.h"
#include "assay/runner/service.h"
#include "assay/runner/standard_streams.h"
#include "assay/wire/channel.h"
#include "assay/wire/runner_environment.h"

namespace assay {
namespace {

constexpr int kUsageError = 2;
constexpr int kCouldNotRun = 3;
constexpr int kOurBug = 4;

struct Arguments {
  bool is_describe = false;
  const char* job = nullptr;
  const char* out = nullptr;
};

Result<Arguments> parse_arguments(std::span<char*> arguments) {
  Arguments result;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const bool has_value = i + 1 < arguments.size();
    if (argument == "--describe") {
      result.is_describe = true;
    } else if (argument == "--job" && has_value) {
      result.job = arguments[++i];
    } else if (argument == "--out" && has_value) {
      result.out = arguments[++i];
    } else {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("not understood: '{}'; use --describe, or --job IN --out OUT, or "
                              "nothing to serve frames on stdin and stdout",
                              argument));
    }
  }
  if ((result.job == nullptr) != (result.out == nullptr)) {
    return fail(ErrorCode::kInvalidArgument, "--job and --out go together");
  }
  return result;
}

int report_failure(const Error& error, int exit_code) {
  log_line(LogLevel::kError, error.message);
  return exit_code;
}

int print_description(Engine& engine, int fd) {
  auto description = describe_engine(engine);
  if (!description) {
    return report_failure(description.error(), kCouldNotRun);
  }
  const auto folders = folders_of_loaded_files();
  description->reads.insert(description->reads.end(), folders.begin(), folders.end());
  const std::string text = Json(*description).dump(2) + "\n";
  const auto written = ::write(fd, text.data(), text.size());
  return written == static_cast<ssize_t>(text.size()) ? 0 : kCouldNotRun;
}

/// The parts of the memory are read where malloc is to be counted: in the memory pass. Others take
/// the few figures that cost least, as a host may ask for them all the same.
MemoryProbe memory_probe(const MallocReader& malloc) {
  const char* const wanted = std::getenv(std::string(wire::kCountAllocations).c_str());
  MemoryProbe probe{.read_private_dirty_bytes = read_private_dirty_bytes,
                    .allocations_unavailable = malloc.unavailable};
  probe.read_allocations = [malloc]() -> std::optional<AllocationCounts> {
    return malloc.read_counts ? malloc.read_counts() : std::nullopt;
  };
  if (wanted == nullptr || std::string_view(wanted) != "1") {
    probe.read_stage = [](std::string_view stage, std::span<const std::string> /*files*/) {
      return read_process_memory_totals(stage);
    };
    return probe;
  }
  probe.read_stage = [malloc, count = probe.read_allocations](std::string_view stage,
                                                              std::span<const std::string> files) {
    const auto counts = count();
    if (!counts) {
      return read_process_memory(stage, nullptr, files);
    }
    const MallocState state{.counts = *counts, .large_blocks = malloc.read_large_blocks()};
    return read_process_memory(stage, &state, files);
  };
  return probe;
}

int serve(Engine& engine, const MallocReader& malloc, const WireDescriptors& descriptors) {
  ::setenv("ASSAY_WIRE_FD", std::to_string(descriptors.write_fd).c_str(), 1);
  wire::Channel channel(descriptors.read_fd, descriptors.write_fd);
  RunnerService service(engine, channel, memory_probe(malloc));
  const Status served = service.serve();
  return served ? 0 : report_failure(served.error(), kCouldNotRun);
}

int run(Engine& engine, const MallocReader& malloc, std::span<char*> argv) {
  const auto standard = take_standard_streams();
  if (!standard) {
    return report_failure(standard.error(), kCouldNotRun);
  }
  const auto arguments = parse_arguments(argv);
  if (!arguments) {
    return report_failure(arguments.error(), kUsageError);
  }
  if (arguments->is_describe) {
    return print_description(engine, standard->write_fd);
  }
  if (arguments->job == nullptr) {
    return serve(engine, malloc, *standard);
  }
  const auto files = open_job_files(arguments->job, arguments->out);
  if (!files) {
    return report_failure(files.error(), kCouldNotRun);
  }
  return serve(engine, malloc, *files);
}

}  // namespace

int run_runner(Engine& engine, int argc, char** argv, const MallocReader& malloc) {
  try {
    return run(engine, malloc, {argv, static_cast<std::size_t>(argc)});
  } catch (const std::exception& error) {
    return report_failure({.code = ErrorCode::kInternal, .message = error.what()}, kOurBug);
  }
}

}  // namespace assay
