#include "features/exchange/peer_metric.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/axes.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/report/case_text.h"

namespace assay::report {
namespace {

constexpr double kNsPerMs = 1e6;

/// "steady_ns" is "steady": the unit next to it is another one.
std::string name_without_ns(std::string_view name) {
  constexpr std::string_view kEnd = "_ns";
  return std::string(name.ends_with(kEnd) ? name.substr(0, name.size() - kEnd.size()) : name);
}

/// "tokens_per_s"; with the prefix where a metric of Assay has that name: "program:steady".
std::string own_name(std::string_view name, std::string_view title) {
  const std::string text(title);
  const bool is_taken = find_metric(text) != nullptr || find_metric(text + "_ns") != nullptr;
  return std::string(is_taken ? name : title);
}

PeerMetric peer_metric(std::string_view name, const Estimate& estimate) {
  const auto definition = definition_of(name, estimate);
  const bool is_time = definition.unit == "ns";
  const double scale = is_time ? kNsPerMs : 1;
  const auto scaled = [scale](const std::optional<double>& value) {
    return value ? std::optional(*value / scale) : std::nullopt;
  };
  const bool is_own = name.starts_with(kProgramPrefix);
  return {.name = is_own ? own_name(name, definition.title) : name_without_ns(name),
          .unit = is_time ? "ms" : std::string(definition.unit),
          .better = definition.better,
          .value = estimate.value / scale,
          .low = scaled(estimate.low),
          .high = scaled(estimate.high),
          .confidence = estimate.confidence,
          .count = estimate.count};
}

bool is_finite(const Estimate& estimate) {
  return estimate.special.empty() && std::isfinite(estimate.value);
}

constexpr auto kErrorMetrics = std::to_array<std::string_view>(
    {"sqnr_db", "cosine_similarity", "max_abs_error", "relative_l2_error", "top1_agreement"});

}  // namespace

bool is_emulated_time(const CaseSummary& cell, const MetricDefinition& definition) {
  return cell.timing == Timing::kEmulated && is_time_of_launches(definition);
}

std::vector<PeerMetric> peer_metrics_of(const CaseSummary& cell) {
  std::vector<PeerMetric> metrics;
  for (const auto& definition : metric_definitions()) {
    const auto* estimate = find_estimate(cell, definition.name);
    if (definition.level == "case" && estimate != nullptr && is_finite(*estimate) &&
        !is_emulated_time(cell, definition)) {
      metrics.push_back(peer_metric(definition.name, *estimate));
    }
  }
  for (const auto& [name, estimate] : cell.metrics) {
    if (name.starts_with(kProgramPrefix) && is_finite(estimate) &&
        !is_emulated_time(cell, definition_of(name, estimate))) {
      metrics.push_back(peer_metric(name, estimate));
    }
  }
  return metrics;
}

std::vector<PeerMetric> peer_errors_of(const CaseSummary& cell) {
  std::vector<PeerMetric> metrics;
  for (const auto& table : cell.accuracy_tables) {
    for (const auto name : kErrorMetrics) {
      const auto* worst = find_worst(cell, table.against, name);
      if (worst == nullptr || !worst->special.empty()) {
        continue;
      }
      const auto* definition = find_metric(name);
      metrics.push_back({.name = fmt::format("{}_{}", table.against, name),
                         .unit = std::string(definition->unit),
                         .better = definition->better,
                         .value = worst->value,
                         .low = {},
                         .high = {},
                         .count = 1});
    }
  }
  return metrics;
}

std::vector<double> launch_medians_ms(const CaseSummary& cell) {
  std::vector<double> medians;
  std::ranges::transform(cell.launches, std::back_inserter(medians),
                         [](const auto& launch) { return launch.median_ns / kNsPerMs; });
  return medians;
}

std::string variant_of(const CaseSummary& cell) {
  std::string text;
  for (const auto& part : {cell.recipe, cell.shapes, cell.options}) {
    text += (text.empty() || part.empty() ? "" : " ") + part;
  }
  return text;
}

SeriesMarks::SeriesMarks(const RunSummary& summary) {
  for (const auto& cell : summary.cases) {
    keys_[series_of(cell)][cell.engine].insert(cell.case_key);
  }
}

SeriesMarks::Series SeriesMarks::series_of(const CaseSummary& cell) {
  return {cell.device, cell.model, variant_of(cell)};
}

std::string SeriesMarks::of(const CaseSummary& cell) const {
  constexpr std::size_t kKeyDigits = 12;
  const auto& engines = keys_.at(series_of(cell));
  const auto build = engines.size() > 1 ? cell.engine : std::string();
  const bool has_twins = engines.at(cell.engine).size() > 1;
  const auto key = has_twins ? cell.case_key.substr(0, kKeyDigits) : std::string();
  return build + (build.empty() || key.empty() ? "" : " ") + key;
}

}  // namespace assay::report
