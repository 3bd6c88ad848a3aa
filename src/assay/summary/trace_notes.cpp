#include "assay/summary/trace_notes.h"

#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/record/device_trace.h"
#include "assay/record/launch.h"
#include "assay/stats/quantile.h"

namespace assay {
namespace {

constexpr double kLeastFall = 0.1;
constexpr double kLeastRiseCelsius = 3;
constexpr std::size_t kFewestInCourse = 6;

/// A channel at the beginning and at the end of a process, in its unit.
struct Course {
  const DeviceTrace* trace = nullptr;
  double first = 0;
  double last = 0;
};

/// Readings before the process and after its end are of an idle device.
std::vector<double> values_between(const DeviceTrace& trace, std::int64_t begin_ns,
                                   std::int64_t end_ns) {
  std::vector<double> values;
  for (std::size_t i = 0; i < trace.times_ns.size(); ++i) {
    if (trace.times_ns[i] >= begin_ns && trace.times_ns[i] <= end_ns) {
      values.push_back(static_cast<double>(trace.micros[i]) * 1e-6);
    }
  }
  return values;
}

std::optional<Course> course_of(const DeviceTrace& trace, std::int64_t begin_ns,
                                std::int64_t end_ns) {
  const auto values = values_between(trace, begin_ns, end_ns);
  if (values.size() < kFewestInCourse) {
    return std::nullopt;
  }
  const auto third = values.size() / 3;
  const std::span<const double> all(values);
  return Course{.trace = &trace,
                .first = stats::median(all.first(third)),
                .last = stats::median(all.last(third))};
}

/// The frequency that fell most, and the temperature that rose most.
struct Courses {
  std::optional<Course> frequency;
  std::optional<Course> temperature;
};

Courses steepest_courses(const LaunchTraces& traces, std::int64_t wall_ns) {
  Courses steepest;
  for (const auto& trace : traces.channels) {
    const auto course = course_of(trace, traces.start_ns, traces.start_ns + wall_ns);
    if (course && trace.unit == "hz" &&
        (!steepest.frequency ||
         course->last * steepest.frequency->first < steepest.frequency->last * course->first)) {
      steepest.frequency = course;
    }
    if (course && trace.unit == "celsius" &&
        (!steepest.temperature ||
         course->last - course->first > steepest.temperature->last - steepest.temperature->first)) {
      steepest.temperature = course;
    }
  }
  return steepest;
}

/// Empty: it was not throttled.
std::string throttling_of(const LaunchTraces& traces, std::int64_t wall_ns) {
  const auto [frequency, temperature] = steepest_courses(traces, wall_ns);
  if (!frequency || !temperature || frequency->last > (1 - kLeastFall) * frequency->first ||
      temperature->last - temperature->first < kLeastRiseCelsius) {
    return {};
  }
  return fmt::format("{} fell from {:.2f} to {:.2f} GHz while {} rose from {:.0f} to {:.0f} °C",
                     frequency->trace->channel, frequency->first * 1e-9, frequency->last * 1e-9,
                     temperature->trace->channel, temperature->first, temperature->last);
}

}  // namespace

std::vector<std::string> notes_of_traces(std::span<const Launch> launches) {
  std::size_t throttled = 0;
  std::string example;
  for (const auto& launch : launches) {
    if (const auto text = launch.traces ? throttling_of(*launch.traces, launch.end.wall_ns) : "";
        !text.empty()) {
      example = throttled++ == 0 ? text : example;
    }
  }
  if (throttled == 0) {
    return {};
  }
  return {fmt::format("{} of {} launches {} throttled: {}", throttled, launches.size(),
                      throttled == 1 ? "was" : "were", example)};
}

}  // namespace assay
