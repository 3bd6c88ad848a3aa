#include "assay/summary/timing.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/stats/order_statistics.h"
#include "assay/stats/quantile.h"
#include "assay/summary/disturbance.h"

namespace assay {
namespace {

using Reduction = std::function<double(const Measurement&)>;

std::vector<double> steady_part(const Measurement& measurement,
                                const std::vector<std::int64_t>& column) {
  const auto warmup =
      std::min<std::size_t>(static_cast<std::size_t>(measurement.warmup_iterations), column.size());
  return {column.begin() + static_cast<std::ptrdiff_t>(warmup), column.end()};
}

std::vector<double> steady_execute(const Measurement& m) {
  return steady_part(m, m.samples.execute_ns);
}

Reduction quantile_of_execute(double q) {
  return [q](const Measurement& m) { return stats::quantile(steady_execute(m), q); };
}

struct NamedReduction {
  const char* metric;
  Reduction reduce;
};

/// Every time metric and how one launch becomes one number.
const std::vector<NamedReduction>& reductions() {
  static const std::vector<NamedReduction> table = {
      {"first_ns", [](const Measurement& m) { return static_cast<double>(m.first.execute_ns); }},
      {"steady_ns", quantile_of_execute(0.5)},
      {"steady_mean_ns", [](const Measurement& m) { return stats::mean(steady_execute(m)); }},
      {"steady_floor_ns", quantile_of_execute(0)},
      {"steady_p90_ns", quantile_of_execute(0.9)},
      {"steady_p99_ns", quantile_of_execute(0.99)},
      {"bind_ns",
       [](const Measurement& m) {
         return stats::quantile(steady_part(m, m.samples.bind_ns), 0.5);
       }},
      {"fetch_ns",
       [](const Measurement& m) {
         return stats::quantile(steady_part(m, m.samples.fetch_ns), 0.5);
       }},
  };
  return table;
}

double load_ns_of(const LoadReport& load) {
  double total = 0;
  for (const auto& stage : load.stages) {
    total += static_cast<double>(stage.ns);
  }
  return total;
}

void add_load_metrics(const std::vector<const Launch*>& launches,
                      std::map<std::string, Estimate>& metrics) {
  std::map<std::string, std::vector<double>> columns;
  for (const auto* launch : launches) {
    columns["launch_overhead_ns"].push_back(static_cast<double>(launch->overhead_ns));
    if (!launch->load) {
      continue;
    }
    columns["load_ns"].push_back(load_ns_of(*launch->load));
    for (const auto& stage : launch->load->stages) {
      columns["load_" + stage.name + "_ns"].push_back(static_cast<double>(stage.ns));
    }
  }
  for (auto& [name, values] : columns) {
    metrics[name] = estimate_over_launches(std::move(values));
  }
}

std::vector<std::vector<Disturbance>> disturbances_of(const std::vector<const Launch*>& launches) {
  std::vector<std::vector<Disturbance>> found;
  std::ranges::transform(launches, std::back_inserter(found),
                         [](const Launch* launch) { return find_disturbances(*launch); });
  return found;
}

void note_time_budget(const std::vector<const Launch*>& launches, std::vector<std::string>& notes) {
  int stopped = 0;
  int fewest = 0;
  for (const auto* launch : launches) {
    const auto& measurement = launch->measurement;
    if (measurement && measurement->stopped_by == "time_budget") {
      fewest = stopped++ == 0 ? measurement->iterations : std::min(fewest, measurement->iterations);
    }
  }
  if (stopped > 0) {
    notes.push_back(fmt::format(
        "{} of {} launches ended at their time budget, the shortest after {} steady iteration{}",
        stopped, launches.size(), fewest, fewest == 1 ? "" : "s"));
  }
}

/// What disturbed the launches: the reason of their spread where there is one, else a note.
Timing judge_spread(const Estimate& steady, double spread, const DisturbedLaunches& disturbed,
                    std::vector<std::string>& notes) {
  const bool is_wide = steady.count >= 3 && spread > kMaxLaunchSpread;
  const bool is_explained =
      is_wide && disturbed.disturbed > kMaxDisturbedShare * disturbed.launches;
  if (disturbed.disturbed > 0 && !is_explained) {
    notes.push_back(note_of(disturbed));
  }
  if (steady.count < 3) {
    notes.push_back(
        fmt::format("{} launch{} cannot show how far launches differ; three or more can",
                    steady.count, steady.count == 1 ? "" : "es"));
    return Timing::kInconclusive;
  }
  if (is_wide) {
    notes.push_back(fmt::format("launch medians lie {:.0f} % apart; {}", spread * 100,
                                is_explained
                                    ? note_of(disturbed)
                                    : "more launches or a quieter machine would narrow that"));
    return Timing::kInconclusive;
  }
  return Timing::kSteady;
}

}  // namespace

Estimate estimate_over_launches(std::vector<double> values) {
  Estimate estimate{.count = static_cast<int>(values.size())};
  if (values.empty()) {
    return estimate;
  }
  estimate.value = stats::median(values);
  if (values.size() > 1) {
    const auto interval = stats::median_interval(values, 0.95);
    estimate.low = interval.low;
    estimate.high = interval.high;
    estimate.confidence = interval.coverage;
  }
  return estimate;
}

TimingSummary summarize_timing(const std::vector<Launch>& launches) {
  TimingSummary summary;
  std::vector<const Launch*> measured;
  for (const auto& launch : launches) {
    if (launch.outcome == Outcome::kCompleted && launch.measurement &&
        launch.measurement->iterations > 0) {
      measured.push_back(&launch);
    }
  }
  if (measured.empty()) {
    return summary;
  }
  for (const auto& [metric, reduce] : reductions()) {
    std::vector<double> values;
    std::ranges::transform(measured, std::back_inserter(values), [&reduce](const Launch* launch) {
      return reduce(*launch->measurement);
    });
    if (std::string_view(metric) == "steady_ns") {
      const auto [low, high] = std::ranges::minmax(values);
      summary.metrics["launch_spread_ratio"] = {.value = (high - low) / stats::median(values),
                                                .count = static_cast<int>(values.size())};
    }
    summary.metrics[metric] = estimate_over_launches(std::move(values));
  }
  add_load_metrics(measured, summary.metrics);
  note_time_budget(measured, summary.notes);
  summary.timing =
      judge_spread(summary.metrics["steady_ns"], summary.metrics["launch_spread_ratio"].value,
                   gather_disturbances(disturbances_of(measured)), summary.notes);
  return summary;
}

}  // namespace assay
