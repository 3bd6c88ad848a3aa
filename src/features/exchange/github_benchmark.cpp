#include "features/exchange/formats.h"
#include "features/exchange/peer_metric.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/report/json_lines.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

/// Metrics of which every one is a chart there, and may raise an alert; a program's own come along.
constexpr auto kChartedMetrics = std::to_array<std::string_view>(
    {"steady", "first", "load", "steady_p99", "sustained", "energy_per_inference_j",
     "throughput_per_s", "peak_rss_bytes", "program_bytes"});

bool is_charted(const PeerMetric& metric, Better better) {
  const bool is_known =
      find_metric(metric.name) != nullptr || find_metric(metric.name + "_ns") != nullptr;
  return metric.better == better &&
         (!is_known || std::ranges::find(kChartedMetrics, metric.name) != kChartedMetrics.end());
}

std::string title_from_case(const SeriesMarks& marks, const CaseSummary& cell) {
  std::string title = cell.model;
  for (const auto& part : {variant_of(cell), marks.of(cell)}) {
    title += (part.empty() ? "" : " ") + part;
  }
  return printable(title + (cell.device == "local" ? "" : " on " + cell.device));
}

/// The reader takes one number after "±": the farther end of the interval.
std::string half_width(double value, double low, double high) {
  return fmt::format("± {:.6g}", std::max(value - low, high - value));
}

std::string details_of(const PeerMetric& metric, const CaseSummary& cell) {
  auto text = "engine " + printable(cell.engine);
  if (metric.low && metric.high) {
    text += fmt::format("\n{:.3g} % interval [{:.6g}, {:.6g}] {}", metric.confidence * 100,
                        *metric.low, *metric.high, metric.unit);
  }
  if (metric.count > 0) {
    text += fmt::format("\nlaunches: {}", metric.count);
  }
  return text + "\ncase " + cell.case_key;
}

OrderedJson entry_of(const PeerMetric& metric, const std::string& title, const CaseSummary& cell) {
  OrderedJson entry;
  entry["name"] = fmt::format("{} / {}", title, metric.name);
  entry["value"] = metric.value;
  entry["unit"] = metric.unit;
  if (metric.low && metric.high) {
    entry["range"] = half_width(metric.value, *metric.low, *metric.high);
  }
  entry["extra"] = details_of(metric, cell);
  return entry;
}

/// A file of the reader has one direction.
void write_entries(const RunSummary& summary, Better better, std::ostream& out) {
  std::string_view separator = "\n";
  out << "[";
  const SeriesMarks marks(summary);
  for (const auto& cell : summary.cases) {
    const auto title = title_from_case(marks, cell);
    for (const auto& metric : peer_metrics_of(cell)) {
      if (is_charted(metric, better)) {
        out << std::exchange(separator, ",\n") << dumped(entry_of(metric, title, cell));
      }
    }
  }
  out << "\n]\n";
}

}  // namespace

/// Input of the tool `customSmallerIsBetter`: metrics of which less is better. Source:
/// github-action-benchmark at c38cce9, src/extract.ts and src/extractRangeInfo.ts.
Status write_github_benchmark(const RunSummary& summary, const ReportStyle& /*style*/,
                              std::ostream& out) {
  write_entries(summary, Better::kLower, out);
  return {};
}

/// Input of the tool `customBiggerIsBetter`: the same of metrics of which more is better.
Status write_github_benchmark_bigger(const RunSummary& summary, const ReportStyle& /*style*/,
                                     std::ostream& out) {
  write_entries(summary, Better::kHigher, out);
  return {};
}

}  // namespace assay::report
