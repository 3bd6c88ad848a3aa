#include "assay/summary/disturbance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "assay/record/launch.h"
#include "assay/record/summary.h"

namespace assay {
namespace {

using Value = std::optional<double>;

/// Fewer counts than this say more about the counter's step than about the machine.
constexpr std::int64_t kFewestCounts = 2;

Value steal_ratio(const Launch& launch) {
  const auto& [before, after] = std::tie(launch.before, launch.after);
  if (!before.steal_ticks || !after.steal_ticks || !before.total_ticks || !after.total_ticks) {
    return std::nullopt;
  }
  const auto stolen = *after.steal_ticks - *before.steal_ticks;
  const auto total = *after.total_ticks - *before.total_ticks;
  if (stolen < kFewestCounts || total <= 0) {
    return std::nullopt;
  }
  return static_cast<double>(stolen) / static_cast<double>(total);
}

Value throttle_steps(const Launch& launch) {
  const auto& [before, after] = std::tie(launch.before.throttle_count, launch.after.throttle_count);
  return before && after ? Value(static_cast<double>(*after - *before)) : std::nullopt;
}

Value frequency_change_ratio(const Launch& launch) {
  const auto& [before, after] = std::tie(launch.before.frequency_hz, launch.after.frequency_hz);
  return before && after && *before > 0 ? Value(std::abs(*after / *before - 1)) : std::nullopt;
}

/// How far the frequency was from the one that was set, the worse of both readings.
Value frequency_miss_ratio(const Launch& launch) {
  Value worst;
  for (const auto* conditions : {&launch.before, &launch.after}) {
    const auto& [read, set] = std::tie(conditions->frequency_hz, conditions->set_frequency_hz);
    if (read && set && *set > 0) {
      worst = std::max(worst.value_or(0), std::abs(*read / *set - 1));
    }
  }
  return worst;
}

Value cpu_pressure_ratio(const Launch& launch) {
  const auto& percent = launch.before.cpu_pressure_avg10;
  return percent ? Value(*percent / 100) : std::nullopt;
}

Value memory_pressure_ratio(const Launch& launch) {
  const auto& percent = launch.before.memory_pressure_avg10;
  return percent ? Value(*percent / 100) : std::nullopt;
}

Value io_pressure_ratio(const Launch& launch) {
  const auto& percent = launch.before.io_pressure_avg10;
  return percent ? Value(*percent / 100) : std::nullopt;
}

/// `count` over the wall time of the timed part; absent without one.
Value per_wall(const Launch& launch, double count) {
  return launch.measurement && launch.measurement->wall_ns > 0
             ? Value(count / static_cast<double>(launch.measurement->wall_ns))
             : std::nullopt;
}

Value run_queue_wait_ratio(const Launch& launch) {
  if (!launch.measurement || !launch.measurement->run_queue_wait_ns) {
    return std::nullopt;
  }
  return per_wall(launch, static_cast<double>(*launch.measurement->run_queue_wait_ns));
}

/// Only where one thread computes all the time: pools sleep between operators, and gaps are pauses.
Value idle_ratio(const Launch& launch) {
  // Stored JSON was written by others, and may be something else than an object.
  const bool is_single = launch.load && launch.load->effective_options.is_object() &&
                         launch.load->effective_options.value("threads", Json()) == 1;
  if (!is_single || !launch.measurement || launch.measurement->gap_ns > 0 ||
      launch.measurement->cpu_ns <= 0) {
    return std::nullopt;
  }
  const auto busy = per_wall(launch, static_cast<double>(launch.measurement->cpu_ns));
  return busy ? Value(1 - *busy) : std::nullopt;
}

Value interruptions_per_second(const Launch& launch) {
  if (!launch.measurement || launch.measurement->involuntary_switches < kFewestCounts) {
    return std::nullopt;
  }
  return per_wall(launch, 1e9 * static_cast<double>(launch.measurement->involuntary_switches));
}

Value major_faults(const Launch& launch) {
  return launch.measurement ? Value(static_cast<double>(launch.measurement->major_faults))
                            : std::nullopt;
}

std::string show_percent(double ratio) {
  return ratio < 0.1 ? fmt::format("{:.1f} %", ratio * 100) : fmt::format("{:.0f} %", ratio * 100);
}

std::string show_count(double value) { return fmt::format("{:.0f}", value); }

/// One flag: raised when `value` is above `threshold`. `sentence` has one {} for the value.
struct Rule {
  std::string_view flag;
  double threshold;
  Value (*value)(const Launch&);
  std::string (*show)(double);
  std::string_view sentence;
  std::string_view remedy;
};

constexpr std::string_view kQuieter = "a quieter machine would help";

/// Causes before consequences. Thresholds and their source: docs/reference/metrics.md,
/// Disturbances.
constexpr auto kRules = std::to_array<Rule>({
    {"steal", 0.01, steal_ratio, show_percent,
     "the machine lost {} of its time to its host (steal)", kQuieter},
    {"throttling", 0, throttle_steps, show_count,
     "the processor throttled itself against heat, steps: {}",
     "cooling or a longer gap would help"},
    {"frequency_change", 0.03, frequency_change_ratio, show_percent,
     "the processor's frequency changed by {}", "a fixed frequency would help"},
    {"frequency_missed", 0.03, frequency_miss_ratio, show_percent,
     "the processor's frequency was {} off the one that was set", "cooling or a pause would help"},
    {"run_queue_wait", 0.02, run_queue_wait_ratio, show_percent,
     "threads that were ready waited for a processor for {} of the time, summed over all threads",
     kQuieter},
    {"idle", 0.05, idle_ratio, show_percent, "{} of the time was not spent computing", kQuieter},
    {"cpu_pressure", 0.05, cpu_pressure_ratio, show_percent,
     "other work waited for a processor in {} of the time just before", kQuieter},
    {"involuntary_switches", 20, interruptions_per_second, show_count,
     "other work took the processor away {} times a second", kQuieter},
    {"major_faults", 0, major_faults, show_count, "pages read from disk while timing: {}",
     "more free memory would help"},
    {"memory_pressure", 0.05, memory_pressure_ratio, show_percent,
     "something waited for memory in {} of the time just before", "more free memory would help"},
    {"io_pressure", 0.05, io_pressure_ratio, show_percent,
     "something waited for a disk in {} of the time just before", kQuieter},
});

std::string sentence_of(const Rule& rule, std::string_view value) {
  return fmt::format(fmt::runtime(rule.sentence), value);
}

/// How many launches raised a rule's flag, and the values they had.
struct Raised {
  const Rule* rule = nullptr;
  int launches = 0;
  double largest = 0;
};

Raised count_raised(const Rule& rule, std::span<const std::vector<Disturbance>> launches) {
  Raised raised{.rule = &rule};
  for (const auto& flags : launches) {
    const auto found = std::ranges::find(flags, rule.flag, &Disturbance::flag);
    if (found != flags.end()) {
      ++raised.launches;
      raised.largest = std::max(raised.largest, found->value);
    }
  }
  return raised;
}

}  // namespace

std::vector<Disturbance> find_disturbances(const Launch& launch) {
  std::vector<Disturbance> found;
  for (const auto& rule : kRules) {
    const auto value = rule.value(launch);
    if (value && *value > rule.threshold) {
      found.push_back({.flag = std::string(rule.flag),
                       .value = *value,
                       .text = sentence_of(rule, rule.show(*value))});
    }
  }
  return found;
}

DisturbedLaunches gather_disturbances(std::span<const std::vector<Disturbance>> launches) {
  Raised dominant;
  for (const auto& rule : kRules) {
    const auto raised = count_raised(rule, launches);
    dominant = raised.launches > dominant.launches ? raised : dominant;
  }
  DisturbedLaunches gathered{.launches = static_cast<int>(launches.size()),
                             .disturbed = static_cast<int>(std::ranges::count_if(
                                 launches, [](const auto& flags) { return !flags.empty(); }))};
  if (dominant.launches > 0) {
    const auto& rule = *dominant.rule;
    const auto value = rule.show(dominant.largest);
    gathered.dominant = rule.flag;
    gathered.dominant_launches = dominant.launches;
    gathered.reason = sentence_of(rule, dominant.launches > 1 ? "up to " + value : value);
    gathered.remedy = rule.remedy;
  }
  return gathered;
}

std::string note_of(const DisturbedLaunches& found) {
  if (found.disturbed == 0) {
    return {};
  }
  return fmt::format("{} of {} launches {} disturbed{}: {}; {}", found.disturbed, found.launches,
                     found.disturbed == 1 ? "was" : "were",
                     found.dominant_launches < found.disturbed ? ", most often" : "", found.reason,
                     found.remedy);
}

}  // namespace assay
