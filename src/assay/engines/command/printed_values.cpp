#include "assay/engines/command/printed_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/engines/command/command_program.h"
#include "assay/engines/command/line_pattern.h"
#include "assay/engines/command/observer.h"
#include "assay/engines/command/quantity.h"
#include "assay/record/metric.h"

namespace assay::command {
namespace {

constexpr std::size_t kMostShownOutput = 200;

/// Names the pattern that took the text out.
Result<double> named(Result<double> number, std::string_view pattern) {
  if (number) {
    return number;
  }
  return fail_with_context(std::move(number).error(),
                           fmt::format("what '{}' takes out of the command's output", pattern));
}

/// The step of a number's last digit: 0.01 for "12.50", 1 for "3", 1e-7 for "5.23e-05".
double step_from_text(std::string_view number) {
  const auto mark = std::min(number.find_first_of("eE"), number.size());
  const auto point = std::min(number.find('.'), mark);
  const auto digits = point == mark ? 0 : static_cast<int>(mark - point - 1);
  int exponent = 0;
  if (mark < number.size()) {
    auto text = number.substr(mark + 1);
    text.remove_prefix(text.starts_with('+') ? 1 : 0);
    std::from_chars(text.data(), text.data() + text.size(), exponent);
  }
  return std::pow(10.0, static_cast<double>(exponent) - digits);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// True if a text ends inside of a number: "12", "12.", "1,", "5e", "5e-".
bool ends_inside_number(std::string_view text) {
  const auto drop = [&text](std::string_view marks) {
    const bool has_one = !text.empty() && marks.find(text.back()) != std::string_view::npos;
    text.remove_suffix(has_one ? 1 : 0);
    return has_one;
  };
  if (drop("+-")) {
    return drop("eE") && !text.empty() && is_digit(text.back());
  }
  drop(".,eE");
  return !text.empty() && is_digit(text.back());
}

/// True if the text goes on with a number that came before it: "5", ".5", "e-05". A comma is none:
/// it parts the columns of a file.
bool begins_inside_number(std::string_view text) {
  if (text.starts_with('.')) {
    text.remove_prefix(1);
  } else if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    text.remove_prefix(text.starts_with('+') || text.starts_with('-') ? 1 : 0);
  }
  return !text.empty() && is_digit(text.front());
}

/// Refuses a part of a longer number, such as 5 of "12.5" or of "1.234,5", where the pattern does
/// not say itself what is next to the number.
Status check_whole(const LinePattern::Groups& groups, const LinePattern::Beside& beside,
                   std::size_t group, std::string_view pattern) {
  const auto match = groups(0);
  const auto number = groups(group);
  if (number.empty()) {
    return {};
  }
  const bool is_begun = number.data() == match.data() && ends_inside_number(beside.before);
  const bool goes_on = number.data() + number.size() == match.data() + match.size() &&
                       is_digit(number.back()) && begins_inside_number(beside.after);
  if (!is_begun && !goes_on) {
    return {};
  }
  return fail(
      ErrorCode::kEngine,
      fmt::format("'{}' takes {} out of a longer number, '{}{}{}': let it take the whole "
                  "number, or name what stands beside it",
                  pattern, number, beside.before.substr(beside.before.find_last_of(' ') + 1),
                  number, beside.after.substr(0, beside.after.find(' '))));
}

Status add_time(const CommandProgram& program, std::string_view text, PrintedValues& values) {
  const auto& unit = program.time_unit;
  ASSAY_ASSIGN_OR_RETURN(const double ns,
                         named(time_ns_from_printed(text, unit), program.time_pattern.text()));
  values.times_ns.push_back(std::llround(ns));
  // A number that ends in zeros may be printed without them: the finest one tells the step.
  constexpr double kMostStepNs = 1e9;
  const auto step_ns =
      std::llround(std::clamp(step_from_text(text) * unit.factor, 1.0, kMostStepNs));
  auto& least_ns = values.clock_resolution_ns;
  least_ns = least_ns == 0 ? step_ns : std::min<std::int64_t>(least_ns, step_ns);
  return {};
}

Status add_times(const CommandProgram& program, std::string_view printed, PrintedValues& values) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto search,
      program.time_pattern.visit_matches(
          printed, [&](const auto& groups, const auto& beside) -> Status {
            ASSAY_RETURN_IF_ERROR(check_whole(groups, beside, 1, program.time_pattern.text()));
            return add_time(program, groups(1), values);
          }));
  values.has_long_lines = search.has_long_lines;
  return {};
}

Status add_operator(const OperatorPattern& wanted, const LinePattern::Groups& groups,
                    PrintedValues& values) {
  ASSAY_ASSIGN_OR_RETURN(
      const double ns,
      named(time_ns_from_printed(groups(wanted.time_group), wanted.unit), wanted.pattern.text()));
  values.operators.push_back({.name = printable(groups(wanted.name_group)),
                              .calls = 1,
                              .total_ns = ns,
                              .min_ns = ns,
                              .median_ns = ns});
  return {};
}

Status add_operators(const CommandProgram& program, std::string_view printed,
                     PrintedValues& values) {
  const auto& wanted = program.operators;
  const auto search =
      wanted.pattern.visit_matches(printed, [&](const auto& groups, const auto& beside) -> Status {
        ASSAY_RETURN_IF_ERROR(
            check_whole(groups, beside, wanted.time_group, wanted.pattern.text()));
        return add_operator(wanted, groups, values);
      });
  return search ? Status() : std::unexpected(search.error());
}

Result<double> taken_value(const MetricPattern& metric, const std::vector<double>& found,
                           std::string_view printed) {
  if (found.empty()) {
    return fail(
        ErrorCode::kEngine,
        fmt::format("the command printed no \"{}\" that matches '{}'; it printed: {}", metric.name,
                    metric.pattern.text(), printed.substr(0, kMostShownOutput)));
  }
  if (metric.take == MetricPattern::Take::kOnly && found.size() > 1) {
    return fail(ErrorCode::kEngine,
                fmt::format("the command printed \"{}\" {} times; \"take\" says which of them "
                            "counts: first, last, min or max",
                            metric.name, found.size()));
  }
  switch (metric.take) {
    case MetricPattern::Take::kOnly:
    case MetricPattern::Take::kFirst:
      return found.front();
    case MetricPattern::Take::kLast:
      return found.back();
    case MetricPattern::Take::kMin:
      return *std::ranges::min_element(found);
    case MetricPattern::Take::kMax:
      break;
  }
  return *std::ranges::max_element(found);
}

Status add_metric(const MetricPattern& metric, std::string_view printed, PrintedValues& values) {
  std::vector<double> found;
  const auto search =
      metric.pattern.visit_matches(printed, [&](const auto& groups, const auto& beside) -> Status {
        ASSAY_RETURN_IF_ERROR(check_whole(groups, beside, 1, metric.pattern.text()));
        ASSAY_ASSIGN_OR_RETURN(found.emplace_back(),
                               named(number_from_printed(groups(1)), metric.pattern.text()));
        return {};
      });
  if (!search) {
    return std::unexpected(search.error());
  }
  if (found.empty() && metric.is_optional) {
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(const double value, taken_value(metric, found, printed));
  if (!std::isfinite(value * metric.unit.factor)) {
    return fail(ErrorCode::kEngine, fmt::format("\"{}\" is {}, too large", metric.name, value));
  }
  values.metrics.push_back({.name = metric.name,
                            .unit = std::string(metric.unit.kept),
                            .better = metric.better,
                            .value = value * metric.unit.factor});
  return {};
}

}  // namespace

Result<PrintedValues> values_from_printed(const CommandProgram& program, std::string_view printed) {
  PrintedValues values;
  ASSAY_RETURN_IF_ERROR(add_times(program, printed, values));
  if (!program.observer.empty()) {
    ASSAY_RETURN_IF_ERROR(add_observed(program.observer, printed, values));
  }
  ASSAY_RETURN_IF_ERROR(add_operators(program, printed, values));
  for (const auto& metric : program.metrics) {
    std::erase_if(values.metrics,
                  [&metric](const ProgramMetric& known) { return known.name == metric.name; });
    ASSAY_RETURN_IF_ERROR(add_metric(metric, printed, values));
  }
  if (values.metrics.size() > kMostMetricsOfLaunch) {
    return fail(ErrorCode::kEngine, fmt::format("the command printed {} metrics; at most {}",
                                                values.metrics.size(), kMostMetricsOfLaunch));
  }
  return values;
}

}  // namespace assay::command
