#include "assay/summary/timing.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/stats/order_statistics.h"
#include "assay/stats/quantile.h"
#include "assay/summary/disturbance.h"
#include "assay/summary/energy.h"
#include "assay/summary/steady_part.h"
#include "assay/summary/sustained.h"
#include "assay/summary/timing_verdict.h"

namespace assay {
namespace {

/// A launch with its steady part, which every reduction needs.
struct MeasuredLaunch {
  const Launch* launch;
  const Measurement* measurement;
  SteadyPart steady;
};

using Reduction = std::function<double(const MeasuredLaunch&)>;

std::vector<double> steady_execute(const MeasuredLaunch& launch) {
  return steady_values(launch.steady, launch.measurement->samples.execute_ns);
}

Reduction quantile_of_execute(double q) {
  return [q](const MeasuredLaunch& launch) { return stats::quantile(steady_execute(launch), q); };
}

Reduction median_of(std::vector<std::int64_t> PhaseSamples::* column) {
  return [column](const MeasuredLaunch& launch) {
    return stats::median(steady_values(launch.steady, launch.measurement->samples.*column));
  };
}

struct NamedReduction {
  const char* metric;
  Reduction reduce;
};

/// Every time metric and how one launch becomes one number.
const std::vector<NamedReduction>& reductions() {
  static const std::vector<NamedReduction> table = {
      {"first_ns",
       [](const MeasuredLaunch& launch) {
         return static_cast<double>(launch.measurement->first.execute_ns);
       }},
      {"steady_ns", quantile_of_execute(0.5)},
      {"steady_mean_ns",
       [](const MeasuredLaunch& launch) { return stats::mean(steady_execute(launch)); }},
      {"steady_floor_ns", quantile_of_execute(0)},
      {"steady_p90_ns", quantile_of_execute(0.9)},
      {"steady_p99_ns", quantile_of_execute(0.99)},
      {"bind_ns", median_of(&PhaseSamples::bind_ns)},
      {"fetch_ns", median_of(&PhaseSamples::fetch_ns)},
  };
  return table;
}

/// One number of each launch.
std::vector<double> reduced(const std::vector<MeasuredLaunch>& launches, const Reduction& reduce) {
  std::vector<double> values;
  std::ranges::transform(launches, std::back_inserter(values), reduce);
  return values;
}

double load_ns_of(const LoadReport& load) {
  double total = 0;
  for (const auto& stage : load.stages) {
    total += static_cast<double>(stage.ns);
  }
  return total;
}

void add_load_metrics(const std::vector<MeasuredLaunch>& launches,
                      std::map<std::string, Estimate>& metrics) {
  std::map<std::string, std::vector<double>> columns;
  for (const auto& measured : launches) {
    const auto& launch = *measured.launch;
    columns["launch_overhead_ns"].push_back(static_cast<double>(launch.overhead_ns));
    if (!launch.load) {
      continue;
    }
    columns["load_ns"].push_back(load_ns_of(*launch.load));
    for (const auto& stage : launch.load->stages) {
      columns["load_" + stage.name + "_ns"].push_back(static_cast<double>(stage.ns));
    }
  }
  for (auto& [name, values] : columns) {
    metrics[name] = estimate_over_launches(std::move(values));
  }
}

/// Conditions that the device tells of each launch; what it does not tell is left out.
void add_condition_metrics(const std::vector<MeasuredLaunch>& launches,
                           std::map<std::string, Estimate>& metrics) {
  std::map<std::string, std::vector<double>> columns;
  for (const auto& measured : launches) {
    const auto& measurement = *measured.measurement;
    if (measurement.inferences_ns > 0) {
      columns["throughput_per_s"].push_back(1e9 * static_cast<double>(measurement.inferences) /
                                            static_cast<double>(measurement.inferences_ns));
    }
    if (const auto busy = measurement.busy_threads) {
      columns["busy_threads"].push_back(*busy);
    }
    if (const auto cached = measured.launch->before.cached_ratio) {
      columns["cached_ratio"].push_back(*cached);
    }
  }
  for (auto& [name, values] : columns) {
    metrics[name] = estimate_over_launches(std::move(values));
  }
}

/// Energy and power where each launch has them; else why it has not, where they were asked for.
void add_energy_metrics(const std::vector<MeasuredLaunch>& launches, TimingSummary& summary) {
  std::vector<double> energies;
  std::vector<double> powers;
  std::string meter;
  for (const auto& measured : launches) {
    auto energy = find_energy(*measured.launch, measured.steady.first);
    if (energy.meter.empty()) {
      if (energy.is_asked && !energy.unavailable.empty()) {
        summary.notes.push_back("no energy per inference: " + energy.unavailable);
      }
      return;
    }
    energies.push_back(energy.joules_per_inference);
    powers.push_back(energy.watts);
    meter = std::move(energy.meter);
  }
  summary.metrics["energy_per_inference_j"] = estimate_over_launches(std::move(energies));
  summary.metrics["mean_power_w"] = estimate_over_launches(std::move(powers));
  summary.notes.push_back("energy and power are those of " + meter);
}

/// The change within the last third in words: a rate where its interval leaves 0 out.
std::string trend_of(const Estimate& slope) {
  if (!slope.low || !slope.high) {
    return {};
  }
  const bool is_trend = *slope.low > 0 || *slope.high < 0;
  return is_trend ? fmt::format(", where it changed by {:+.2f} % a minute [{:+.2f}, {:+.2f}]",
                                slope.value, *slope.low, *slope.high)
                  : fmt::format(", where no trend shows: {:+.2f} to {:+.2f} % a minute", *slope.low,
                                *slope.high);
}

void add_sustained_metrics(const std::vector<MeasuredLaunch>& launches, TimingSummary& summary) {
  std::vector<const Measurement*> measurements(launches.size());
  std::ranges::transform(launches, measurements.begin(), &MeasuredLaunch::measurement);
  auto metrics = summarize_sustained(measurements);
  if (const auto ratio = metrics.find("sustained_ratio"); ratio != metrics.end()) {
    const auto slope = metrics.find("sustained_slope_percent_per_min");
    summary.notes.push_back(fmt::format(
        "an inference of the last third took {:.3f} times as long as one of the first third{}",
        ratio->second.value, slope == metrics.end() ? "" : trend_of(slope->second)));
  }
  summary.metrics.merge(metrics);
}

/// The numbers that programs tell of their launches, as metrics "program:NAME".
void add_program_metrics(const std::vector<Launch>& launches,
                         std::map<std::string, Estimate>& metrics) {
  std::map<std::string, std::vector<double>> columns;
  std::map<std::string, const ProgramMetric*> definitions;
  for (const auto& launch : launches) {
    if (launch.outcome != Outcome::kCompleted || !launch.measurement) {
      continue;
    }
    for (const auto& metric : launch.measurement->metrics) {
      const auto name = std::string(kProgramPrefix) + metric.name;
      columns[name].push_back(metric.value);
      definitions[name] = &metric;
    }
  }
  for (auto& [name, values] : columns) {
    auto& estimate = metrics[name] = estimate_over_launches(std::move(values));
    estimate.unit = definitions[name]->unit;
    estimate.better = definitions[name]->better;
  }
}

/// True if a launch tells any time of the phase: a program that times itself tells whole inferences
/// alone, and has zeros there.
bool tells_phase(const MeasuredLaunch& launch, std::int64_t PhaseTimes::* first,
                 std::vector<std::int64_t> PhaseSamples::* column) {
  const auto& measurement = *launch.measurement;
  return measurement.first.*first != 0 ||
         std::ranges::any_of(measurement.samples.*column, [](std::int64_t ns) { return ns != 0; });
}

/// Takes out what a program that warms up or times itself does not tell.
void drop_untold(const std::vector<MeasuredLaunch>& launches,
                 std::map<std::string, Estimate>& metrics) {
  if (std::ranges::none_of(launches, [](const MeasuredLaunch& launch) {
        return tells_phase(launch, &PhaseTimes::bind_ns, &PhaseSamples::bind_ns);
      })) {
    metrics.erase("bind_ns");
  }
  if (std::ranges::none_of(launches, [](const MeasuredLaunch& launch) {
        return tells_phase(launch, &PhaseTimes::fetch_ns, &PhaseSamples::fetch_ns);
      })) {
    metrics.erase("fetch_ns");
  }
  const bool is_told = std::ranges::all_of(launches, [](const MeasuredLaunch& launch) {
    return launch.measurement->times == TimesTold::kAll;
  });
  if (!is_told) {
    metrics.erase("first_ns");
  }
}

void note_time_budget(const std::vector<MeasuredLaunch>& launches,
                      std::vector<std::string>& notes) {
  int stopped = 0;
  std::size_t fewest = 0;
  for (const auto& launch : launches) {
    if (launch.measurement->stopped_by == "time_budget") {
      const auto steady = launch.measurement->samples.execute_ns.size() - launch.steady.first;
      fewest = stopped++ == 0 ? steady : std::min(fewest, steady);
    }
  }
  if (stopped > 0) {
    notes.push_back(fmt::format(
        "{} of {} launches ended at their time budget, the shortest after {} steady iteration{}",
        stopped, launches.size(), fewest, fewest == 1 ? "" : "s"));
  }
}

/// The launches that completed, and how many of them have nothing to show for it.
struct MeasuredLaunches {
  std::vector<MeasuredLaunch> launches;
  int without_samples = 0;
  int without_times = 0;  ///< Their program tells numbers of the launch alone.
};

MeasuredLaunches measured_of(const std::vector<Launch>& launches) {
  MeasuredLaunches measured;
  for (const auto& launch : launches) {
    if (launch.outcome != Outcome::kCompleted) {
      continue;
    }
    if (launch.measurement && launch.measurement->times == TimesTold::kNone) {
      ++measured.without_times;
      continue;
    }
    if (!launch.measurement || !has_its_samples(*launch.measurement)) {
      ++measured.without_samples;
      continue;
    }
    const auto& measurement = *launch.measurement;
    measured.launches.push_back(
        {.launch = &launch, .measurement = &measurement, .steady = find_steady_part(measurement)});
  }
  return measured;
}

/// How far a launch lies from the median over launches, 0.5 for half as long again.
void add_outliers(const std::vector<double>& medians, TimingEvidence& evidence) {
  const double median = stats::median(medians);
  for (const double value : medians) {
    const double ratio = median > 0 ? value / median - 1 : 0;
    evidence.outliers += std::abs(ratio) > kOutlierRatio ? 1 : 0;
    if (std::abs(ratio) > std::abs(evidence.farthest_ratio)) {
      evidence.farthest_ratio = ratio;
    }
  }
}

/// `medians`: of the launches' steady parts.
TimingEvidence evidence_of(const std::vector<MeasuredLaunch>& launches,
                           const std::vector<double>& medians) {
  TimingEvidence evidence{.launches = static_cast<int>(launches.size()),
                          .interval_ratio = open_ratio_of(medians),
                          .is_below_clock = stats::median(medians) <= 0};
  add_outliers(medians, evidence);
  std::vector<std::vector<Disturbance>> disturbances;
  std::vector<double> drifts;
  for (const auto& launch : launches) {
    const bool is_unsteady = launch.steady.finding == WarmupFinding::kUnsteady;
    evidence.unsteady += is_unsteady ? 1 : 0;
    drifts.push_back(is_unsteady ? drift_ratio_of(steady_execute(launch)) : 0);
    evidence.too_few += launch.steady.finding == WarmupFinding::kTooFew ? 1 : 0;
    disturbances.push_back(find_disturbances(*launch.launch));
  }
  evidence.drift_ratio = stats::median(drifts);
  evidence.disturbed = gather_disturbances(disturbances);
  return evidence;
}

}  // namespace

bool has_its_samples(const Measurement& measurement) {
  const auto count = static_cast<std::size_t>(std::max(0, measurement.warmup_iterations)) +
                     static_cast<std::size_t>(std::max(0, measurement.iterations));
  const auto& [bind, execute, fetch] = measurement.samples;
  return measurement.iterations > 0 && bind.size() == count && execute.size() == count &&
         fetch.size() == count;
}

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
  const auto [measured, without_samples, without_times] = measured_of(launches);
  add_program_metrics(launches, summary.metrics);
  if (without_times > 0) {
    summary.notes.emplace_back(
        "the program tells no time of an inference, but numbers of the whole launch");
  }
  if (without_samples > 0) {
    summary.timing = Timing::kInconclusive;
    summary.notes.push_back(
        fmt::format("the samples of {} of {} launches are not in the store, or not all of them",
                    without_samples, static_cast<int>(measured.size()) + without_samples));
  }
  if (measured.empty()) {
    return summary;
  }
  for (const auto& [metric, reduce] : reductions()) {
    summary.metrics[metric] = estimate_over_launches(reduced(measured, reduce));
  }
  const auto evidence = evidence_of(measured, reduced(measured, quantile_of_execute(0.5)));
  summary.metrics["steady_interval_ratio"] = {.value = evidence.interval_ratio,
                                              .count = evidence.launches};
  if (const auto ratio = uncertainty_ratio_of(summary.metrics.at("steady_ns"), evidence)) {
    summary.metrics["steady_uncertainty_ratio"] = {.value = *ratio, .count = evidence.launches};
  }
  drop_untold(measured, summary.metrics);
  add_load_metrics(measured, summary.metrics);
  add_condition_metrics(measured, summary.metrics);
  add_sustained_metrics(measured, summary);
  add_energy_metrics(measured, summary);
  note_time_budget(measured, summary.notes);
  auto verdict = judge_timing(evidence);
  if (without_samples == 0 || verdict.timing == Timing::kUnsteady) {
    summary.timing = verdict.timing;
  }
  std::ranges::move(verdict.notes, std::back_inserter(summary.notes));
  return summary;
}

}  // namespace assay
