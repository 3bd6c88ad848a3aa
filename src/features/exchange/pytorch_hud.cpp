#include "features/exchange/formats.h"
#include "features/exchange/peer_metric.h"

#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/record/metric.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/report/case_text.h"
#include "assay/report/json_lines.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

/// Metrics that ExecuTorch's benchmarks give to the database; the divisor leads to its unit.
struct HudMetric {
  std::string_view name;
  std::string_view source;
  double divisor = 1;
};

constexpr double kNsPerMillisecond = 1e6;
constexpr double kBytesPerMb = 1024 * 1024;
constexpr std::int64_t kBytesPerGb = std::int64_t{1} << 30;

constexpr auto kHudMetrics =
    std::to_array<HudMetric>({{"avg_inference_latency(ms)", "steady_mean_ns", kNsPerMillisecond},
                              {"model_load_time(ms)", "load_ns", kNsPerMillisecond},
                              {"peak_inference_mem_usage(mb)", "peak_rss_bytes", kBytesPerMb}});

/// The precision that a recipe quantizes to; empty if it does not, or where it is a document.
std::string dtype_of(const CaseSummary& cell) {
  if (!cell.manifest.is_object()) {
    return {};
  }
  const auto recipe = cell.manifest.value("recipe", Json());
  const auto quantization = recipe.is_object() ? recipe.value("quantization", Json()) : Json();
  return quantization.is_string() ? printable(quantization.get<std::string>()) : std::string();
}

OrderedJson benchmark_of(const RunSummary& summary, const CaseSummary& cell) {
  OrderedJson extra = {{"run", summary.run.id},
                       {"case_key", cell.case_key},
                       {"engine", cell.engine},
                       {"shapes", cell.shapes},
                       {"options", cell.options},
                       {"outcome", name_of(cell.outcome)},
                       {"verdict", name_of(cell.verdict)},
                       {"delegation", name_of(cell.delegation)}};
  return {{"name", "Assay"},
          {"mode", "inference"},
          {"dtype", dtype_of(cell)},
          {"extra_info", std::move(extra)}};
}

/// The variant is the backend, as ExecuTorch's configurations are there: cases with one model,
/// backend and machine would share one series.
OrderedJson model_of(const SeriesMarks& marks, const CaseSummary& cell) {
  const auto build = marks.of(cell);
  return {{"name", printable(cell.model)},
          {"type", "model"},
          {"backend", printable(variant_of(cell) + (build.empty() ? "" : " " + build))},
          {"origins", OrderedJson::array()}};
}

OrderedJson runner_of(const RunSummary& summary, const CaseSummary& cell) {
  const auto& machine = environment_of(summary, cell);
  return {{"name", printable(cell.device.empty() ? "local" : cell.device)},
          {"type", printable(machine.device_class)},
          {"cpu_info", printable(machine.cpu_model)},
          {"cpu_count", machine.cpus},
          {"avail_mem_in_gb", machine.memory_bytes / kBytesPerGb},
          {"extra_info",
           {{"environment", machine.id},
            {"os", printable(machine.os)},
            {"kernel", printable(machine.kernel)}}}};
}

OrderedJson dependencies_of(const CaseSummary& cell) {
  const auto at = cell.engine.find('@');
  if (at == std::string::npos) {
    return OrderedJson::object();
  }
  return {{cell.engine.substr(0, at), {{"version", cell.engine.substr(at + 1)}}}};
}

/// Every value of `extra_info` is a text there.
OrderedJson metric_of(std::string_view name, double value, const Estimate& estimate,
                      std::string_view unit, double divisor) {
  OrderedJson extra = {{"unit", unit}};
  if (estimate.low && estimate.high) {
    extra["low"] = fmt::format("{}", *estimate.low / divisor);
    extra["high"] = fmt::format("{}", *estimate.high / divisor);
    extra["confidence"] = fmt::format("{}", estimate.confidence);
  }
  extra["launches"] = fmt::format("{}", estimate.count);
  return {{"name", name},
          {"benchmark_values", {value}},
          {"target_value", 0},
          {"extra_info", std::move(extra)}};
}

/// Writes the records of one run, one a line.
class HudRecords {
 public:
  HudRecords(const RunSummary& summary, std::ostream& out)
      : summary_(summary), marks_(summary), out_(out) {}

  void add_case(const CaseSummary& cell) {
    for (const auto& [name, source, divisor] : kHudMetrics) {
      const auto* estimate = find_estimate(cell, source);
      if (estimate != nullptr && estimate->special.empty() &&
          !is_emulated_time(cell, *find_metric(source))) {
        const auto unit = name.substr(name.find('('));
        add(cell, metric_of(name, estimate->value / divisor, *estimate,
                            unit.substr(1, unit.size() - 2), divisor));
      }
    }
    for (const auto& [name, estimate] : cell.metrics) {
      const auto definition = definition_of(name, estimate);
      if (estimate.special.empty() && !is_emulated_time(cell, definition)) {
        add(cell, metric_of(name, estimate.value, estimate, definition.unit, 1));
      }
    }
    for (const auto& error : peer_errors_of(cell)) {
      add(cell, metric_of(error.name, error.value, {.count = 1}, error.unit, 1));
    }
    if (cell.verdict == Verdict::kFail) {
      add_failure(cell);
    }
  }

 private:
  /// ExecuTorch's mark of a benchmark that failed; its value says nothing.
  void add_failure(const CaseSummary& cell) {
    auto metric = metric_of("FAILURE_REPORT", 0, {}, "", 1);
    metric["extra_info"] = {{"cause", cause_of(cell)}, {"text", printable(cell.text)}};
    add(cell, metric);
  }

  void add(const CaseSummary& cell, const OrderedJson& metric) {
    OrderedJson record;
    record["benchmark"] = benchmark_of(summary_, cell);
    record["model"] = model_of(marks_, cell);
    record["metric"] = metric;
    record["runners"] = OrderedJson::array({runner_of(summary_, cell)});
    record["dependencies"] = dependencies_of(cell);
    out_ << std::exchange(separator_, ",\n") << dumped(record);
  }

  const RunSummary& summary_;
  SeriesMarks marks_;
  std::ostream& out_;
  std::string_view separator_ = "\n";
};

}  // namespace

/// The uploading workflow adds repository, commit, job and time; a record's own fields would win
/// there. Source: pytorch/test-infra at 61a7757, clickhouse_db_schema
/// (oss_ci_benchmark_v3) and .github/scripts/upload_benchmark_results.py; pytorch/executorch at
/// cff6f4d, .github/scripts/extract_benchmark_results.py.
Status write_pytorch_hud(const RunSummary& summary, const ReportStyle& /*style*/,
                         std::ostream& out) {
  out << "[";
  HudRecords records(summary, out);
  for (const auto& cell : summary.cases) {
    records.add_case(cell);
  }
  out << "\n]\n";
  return {};
}

}  // namespace assay::report
