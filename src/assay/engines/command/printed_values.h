#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/metric.h"

namespace assay::command {

struct CommandProgram;

inline constexpr std::size_t kMostMetricsOfLaunch = 100;  ///< The limit of the wire.

/// The time of one operator, as the command printed it.
struct PrintedOperator {
  std::string name;
  std::int64_t calls = 1;
  double total_ns = 0;  ///< Sum over all calls.
  double min_ns = 0;
  double median_ns = 0;
};

/// All numbers in what a command printed.
struct PrintedValues {
  std::vector<std::int64_t> times_ns;    ///< Times of inferences, in order.
  std::int64_t clock_resolution_ns = 0;  ///< The step of the last digit of the finest one.
  std::vector<ProgramMetric> metrics;
  std::vector<PrintedOperator> operators;
  bool has_long_lines = false;  ///< Patterns looked at the beginning of these alone.
};

/// Finds the numbers by the program's patterns and its observer. Errors: kEngine for what is no
/// number where one must be, for a metric that was not printed, or several times where one is
/// wanted.
Result<PrintedValues> values_from_printed(const CommandProgram& program, std::string_view printed);

}  // namespace assay::command
