#include "assay/summary/energy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/units.h"
#include "assay/record/device_trace.h"
#include "assay/record/launch.h"
#include "assay/summary/sample_times.h"

namespace assay {
namespace {

constexpr std::size_t kFewestReadings = 5;
constexpr double kWidestGap = 0.25;  ///< A share of the part.
constexpr double kNsPerSecond = 1e9;

/// The steady part on the clock of the readings.
struct Span {
  double begin_ns = 0;
  double end_ns = 0;
  double inferences = 0;

  [[nodiscard]] double seconds() const { return (end_ns - begin_ns) / kNsPerSecond; }
};

Span steady_span(const Measurement& measurement, std::size_t first) {
  const auto ends = end_times_of(measurement);
  const auto warmup = static_cast<std::size_t>(std::max(0, measurement.warmup_iterations));
  const auto before = first > warmup ? std::min(first - warmup, ends.size()) : 0;
  const double part_ns =
      static_cast<double>(measurement.wall_ns) - (before == 0 ? 0 : ends[before - 1]);
  const auto end_ns = static_cast<double>(measurement.end_ns);
  const auto own =
      static_cast<double>(ends.size() - before) * static_cast<double>(measurement.stride);
  // Other streams are counted over the whole series only: they slow down as the first one does.
  const auto all =
      static_cast<double>(ends.size() + warmup) * static_cast<double>(measurement.stride);
  const double all_streams =
      measurement.streams > 1 && all > 0 ? static_cast<double>(measurement.inferences) / all : 1;
  return {.begin_ns = end_ns - part_ns, .end_ns = end_ns, .inferences = own * all_streams};
}

bool is_called(const DeviceTrace& trace, std::string_view begin) {
  return trace.channel.starts_with(begin);
}

/// RAPL counts packages, parts of them after a "/", and the whole platform as "psys".
bool is_package(const DeviceTrace& trace) {
  return is_called(trace, "energy:package-") && trace.channel.find('/') == std::string::npos;
}

/// One that charges tells nothing about what is used.
bool is_discharging(const DeviceTrace& trace) {
  return is_called(trace, "power:") && trace.channel.find('/') == std::string::npos &&
         std::ranges::all_of(trace.micros, [](auto micros) { return micros > 0; });
}

template <class Predicate>
std::vector<const DeviceTrace*> channels_that(const LaunchTraces& traces, Predicate is_wanted) {
  std::vector<const DeviceTrace*> found;
  for (const auto& trace : traces.channels) {
    if (is_wanted(trace)) {
      found.push_back(&trace);
    }
  }
  return found;
}

/// Channels whose energies add up to that of the device.
std::vector<const DeviceTrace*> choose_meter(const LaunchTraces& traces) {
  auto meter = channels_that(traces, [](const auto& one) { return one.channel == kMeterChannel; });
  if (!meter.empty()) {
    return meter;
  }
  if (auto packages = channels_that(traces, is_package); !packages.empty()) {
    return packages;
  }
  const auto is_rail = [](std::string_view kind) {
    return [kind](const DeviceTrace& one) {
      return is_called(one, kind) && one.channel.find('/') != std::string::npos &&
             !is_called(one, "energy:package-");
    };
  };
  if (auto counters = channels_that(traces, is_rail("energy:")); counters.size() == 1) {
    return counters;
  }
  if (auto batteries = channels_that(traces, is_discharging); batteries.size() == 1) {
    return batteries;
  }
  auto powers = channels_that(traces, is_rail("power:"));
  return powers.size() == 1 ? powers : std::vector<const DeviceTrace*>();
}

double value_at(const DeviceTrace& trace, double at_ns) {
  const auto next = std::ranges::lower_bound(
      trace.times_ns, at_ns, {}, [](std::int64_t ns) { return static_cast<double>(ns); });
  if (next == trace.times_ns.begin()) {
    return static_cast<double>(trace.micros.front()) * 1e-6;
  }
  if (next == trace.times_ns.end()) {
    return static_cast<double>(trace.micros.back()) * 1e-6;
  }
  const auto i = static_cast<std::size_t>(std::distance(trace.times_ns.begin(), next));
  const auto before_ns = static_cast<double>(trace.times_ns[i - 1]);
  const auto share = (at_ns - before_ns) / (static_cast<double>(trace.times_ns[i]) - before_ns);
  const auto before = static_cast<double>(trace.micros[i - 1]);
  return (before + share * (static_cast<double>(trace.micros[i]) - before)) * 1e-6;
}

/// Joules that a counter has counted. Before its first reading and behind its last one it goes on
/// as it does next to them: one that is read seldom counts on until the end of the part.
double counted_at(const DeviceTrace& trace, double at_ns) {
  const auto& times = trace.times_ns;
  const bool is_before = at_ns < static_cast<double>(times.front());
  if (times.size() < 2 || (!is_before && at_ns <= static_cast<double>(times.back()))) {
    return value_at(trace, at_ns);
  }
  const auto from = is_before ? std::size_t{0} : times.size() - 2;
  const auto from_ns = static_cast<double>(times[from]);
  const auto step_ns = static_cast<double>(times[from + 1]) - from_ns;
  if (step_ns <= 0) {
    return value_at(trace, at_ns);
  }
  const auto begin = static_cast<double>(trace.micros[from]);
  const auto rise = static_cast<double>(trace.micros[from + 1]) - begin;
  return (begin + rise * (at_ns - from_ns) / step_ns) * 1e-6;
}

/// Times of the readings inside of the part, with its begin and its end around them.
std::vector<double> knots_of(const DeviceTrace& trace, const Span& span) {
  std::vector<double> knots = {span.begin_ns};
  for (const auto ns : trace.times_ns) {
    const auto at = static_cast<double>(ns);
    if (at > span.begin_ns && at < span.end_ns) {
      knots.push_back(at);
    }
  }
  knots.push_back(span.end_ns);
  return knots;
}

double joules_of(const DeviceTrace& trace, const Span& span) {
  if (trace.unit == "joules") {
    return counted_at(trace, span.end_ns) - counted_at(trace, span.begin_ns);
  }
  const auto knots = knots_of(trace, span);
  double joules = 0;
  for (std::size_t i = 1; i < knots.size(); ++i) {
    joules += (value_at(trace, knots[i - 1]) + value_at(trace, knots[i])) / 2 *
              (knots[i] - knots[i - 1]) / kNsPerSecond;
  }
  return joules;
}

/// Empty: there are enough of them.
std::string lack_of_readings(const DeviceTrace& trace, const Span& span) {
  const auto knots = knots_of(trace, span);
  if (knots.size() < kFewestReadings + 2) {
    const double steady_ns = span.end_ns - span.begin_ns;
    const auto how =
        trace.channel == kMeterChannel
            ? std::string("let the meter's command tell more often")
            : fmt::format("read more often (--sensors {}ms)",
                          std::max(1, static_cast<int>(steady_ns / 1e6 / (kFewestReadings + 1))));
    return fmt::format(
        "{} gave {} of the {} readings that the steady part of {} needs; {}, or infer longer "
        "(--scenario duration=1min)",
        trace.channel, knots.size() - 2, kFewestReadings, text_from_duration_ns(steady_ns), how);
  }
  double widest = 0;
  for (std::size_t i = 1; i < knots.size(); ++i) {
    widest = std::max(widest, knots[i] - knots[i - 1]);
  }
  return widest <= kWidestGap * (span.end_ns - span.begin_ns)
             ? ""
             : fmt::format("{} gave no reading for {} of the {} of the steady part", trace.channel,
                           text_from_duration_ns(widest),
                           text_from_duration_ns(span.end_ns - span.begin_ns));
}

EnergyFinding missing(std::string why) { return {.unavailable = std::move(why)}; }

EnergyFinding energy_from(const std::vector<const DeviceTrace*>& channels, const Span& span) {
  double joules = 0;
  std::string names;
  for (const auto* trace : channels) {
    if (auto lack = lack_of_readings(*trace, span); !lack.empty()) {
      return missing(std::move(lack));
    }
    joules += joules_of(*trace, span);
    names += (names.empty() ? "" : " + ") + trace->channel;
  }
  return {.joules_per_inference = joules / span.inferences,
          .watts = joules / span.seconds(),
          .meter = std::move(names)};
}

/// Empty: it has not failed.
std::string failure_of_meter(const LaunchTraces& traces) {
  const auto failed =
      std::ranges::find(traces.unavailable, kMeterChannel, &MissingChannel::channel);
  return failed == traces.unavailable.end() ? "" : "the meter " + failed->reason;
}

EnergyFinding energy_of(const LaunchTraces& traces, const Measurement& measurement,
                        std::size_t first) {
  if (auto failure = failure_of_meter(traces); !failure.empty()) {
    return missing(std::move(failure));
  }
  const auto channels = choose_meter(traces);
  if (channels.empty()) {
    return {};
  }
  if (measurement.end_ns == 0) {
    return missing("the runner does not tell when its steady part began");
  }
  const auto span = steady_span(measurement, first);
  return span.inferences > 0 && span.seconds() > 0 ? energy_from(channels, span)
                                                   : missing("the steady part is empty");
}

}  // namespace

EnergyFinding find_energy(const Launch& launch, std::size_t first) {
  if (!launch.traces || !launch.measurement) {
    return {};
  }
  const auto& channels = launch.traces->channels;
  auto energy = energy_of(*launch.traces, *launch.measurement, first);
  energy.is_asked =
      launch.measurement->duration_ns > 0 || !failure_of_meter(*launch.traces).empty() ||
      std::ranges::find(channels, kMeterChannel, &DeviceTrace::channel) != channels.end();
  return energy;
}

}  // namespace assay
