#include "assay/report/testing/sample_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/record/profile.h"
#include "assay/record/summary.h"

namespace assay::report {
namespace {

constexpr std::int64_t kProcess = 12'300'000;

constexpr auto kNames = std::to_array<std::string_view>(
    {"Convolution (NHWC, F32) IGEMM", "Convolution (NHWC, F32) DWConv",
     "Fully Connected (NC, F32) GEMM", "Global Average Pooling (NWC, F32)", "Add (ND, F32)",
     "Clamp (NC, F32)", "Copy (NC, X32)"});

/// Whole nanoseconds, so that a fused multiply and add makes no difference.
Estimate nanoseconds(double value) { return plain(std::round(value)); }

Estimate with_interval(double value, double low, double high) {
  return {.value = std::round(value),
          .low = std::round(low),
          .high = std::round(high),
          .confidence = 0.75,
          .count = 3};
}

/// A fixed little generator: the page must be the same on every machine.
class Noise {
 public:
  explicit Noise(std::uint32_t seed) : state_(seed) {}
  double next() {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<double>(state_ >> 8U) / static_cast<double>(1U << 24U);
  }

 private:
  std::uint32_t state_;
};

LaunchSeries launch(int index, double steady_ns, int warmup, int iterations,
                    std::string_view stop) {
  Noise noise(static_cast<std::uint32_t>(index * 977 + iterations));
  const double level = steady_ns * (1 + 0.012 * (index - 1));
  LaunchSeries series{.launch = "0198f1c2-0000-7000-8000-00000000000" + std::to_string(index),
                      .index = index,
                      .warmup_iterations = warmup,
                      .median_ns = std::round(level * 1.01),
                      .stopped_by = std::string(stop)};
  series.first.execute_ns = std::llround(level * 2.6);
  for (int i = 0; i < warmup + iterations; ++i) {
    const double warm = i < warmup ? 0.25 / (i + 1) : 0;
    const double spike = noise.next() > 0.97 ? 0.35 : 0;
    series.execute_ns.push_back(
        std::llround(level * (1 + warm + spike + 0.02 * noise.next() * noise.next())));
  }
  series.before = {.unix_ns = kSampleStart + index * 5'000'000'000LL,
                   .load_average_1min = 0.21 + 0.1 * index,
                   .cpu_pressure_avg10 = 0.4,
                   .steal_ticks = 12,
                   .total_ticks = 481'200,
                   .memory_available_bytes = 21'400'000'000};
  series.after = series.before;
  series.after.load_average_1min = 0.98;
  series.after.steal_ticks = 14 + index;
  return series;
}

constexpr std::int64_t kUnattributed = 100'000;

MemoryStage stage(std::string name, std::int64_t rss_bytes, std::int64_t faults) {
  return {.name = std::move(name),
          .rss_bytes = rss_bytes,
          .pss_bytes = rss_bytes - 3'100'000,
          .private_dirty_bytes = rss_bytes - 9'800'000,
          .peak_rss_bytes = rss_bytes + 240'000,
          .minor_faults = faults,
          .parts = {{"libraries", 9'000'000},
                    {"malloc", rss_bytes - 8'900'000},
                    {"never_touched", -200'000},
                    {"unattributed", kUnattributed}}};
}

/// Rounded, so that it is the same with every mathematical library.
double error_at(double db) { return std::round(std::pow(10, -db / 20) * 1e9) / 1e9; }

/// Operators of one delegate and what they leave of the method, longest first.
ProfileBreakdown breakdown_from_operators(const ProfileReport& profile) {
  ProfileBreakdown breakdown{.label = "sample",
                             .method_ns = static_cast<double>(profile.method_median_ns),
                             .iterations = profile.iterations};
  const auto add = [&breakdown](ProfilePart part) {
    part.share_ratio = part.time_ns / breakdown.method_ns;
    breakdown.parts.push_back(std::move(part));
  };
  double rest_ns = breakdown.method_ns;
  for (const auto& event : profile.events) {
    if (event.kind != "method") {
      add({.name = event.name,
           .kind = event.kind,
           .delegate = "XnnpackBackend",
           .calls = 1,
           .time_ns = static_cast<double>(event.median_ns)});
      rest_ns -= static_cast<double>(event.median_ns);
    }
  }
  add({.name = "outside any operator", .kind = "rest", .time_ns = rest_ns});
  std::ranges::sort(breakdown.parts, std::greater{}, &ProfilePart::time_ns);
  return breakdown;
}

}  // namespace

Estimate plain(double value) { return {.value = value, .count = 1}; }

void add_timing(CaseSummary& cell, double steady_ns, double spread, int warmup, int iterations) {
  const std::string_view stop = iterations < 50 ? "time_budget" : "count";
  for (int index = 0; index < 3; ++index) {
    cell.launches.push_back(launch(index, steady_ns, warmup, iterations, stop));
  }
  cell.timing = Timing::kSteady;
  cell.metrics["first_ns"] =
      with_interval(steady_ns * 2.6, steady_ns * 2.51, steady_ns * (2.63 + spread));
  cell.metrics["steady_ns"] =
      with_interval(steady_ns, steady_ns * (1 - spread), steady_ns * (1 + spread * 1.3));
  cell.metrics["steady_uncertainty_ratio"] = {.value = spread * 1.3, .count = 3};
  cell.metrics["steady_mean_ns"] = nanoseconds(steady_ns * 1.013);
  cell.metrics["steady_p90_ns"] = nanoseconds(steady_ns * 1.06);
  cell.metrics["load_ns"] = nanoseconds(2.1e6 + steady_ns / 4);
}

void add_memory(CaseSummary& cell, std::int64_t program_bytes) {
  const std::int64_t loaded = kProcess + program_bytes * 2;
  cell.memory =
      MemoryReport{.stages = {stage("start", kProcess, 1'204), stage("loaded", loaded, 5'310),
                              stage("first", loaded + 5'600'000, 7'020),
                              stage("steady", loaded + 5'700'000, 7'055),
                              stage("unloaded", kProcess + 900'000, 7'055)},
                   .declared = {{"method allocator", 1'048'576}, {"planned arena 0", 4'816'896}},
                   .unattributed_bytes = kUnattributed,
                   .probe_ns = 410'000,
                   .probe_bytes = 736};
  cell.leaks = {{.cycle = "load",
                 .source = "malloc",
                 .cycles = 16,
                 .bytes_per_cycle = {.value = 0, .low = 0, .high = 0, .confidence = 0.96},
                 .verdict = LeakVerdict::kNone,
                 .text = "no leak larger than 0 bytes a load (malloc, 16 cycles)"}};
  cell.metrics["peak_rss_bytes"] = plain(static_cast<double>(loaded + 5'940'000));
  cell.metrics["program_bytes"] = plain(static_cast<double>(program_bytes));
  cell.metrics["unattributed_bytes"] = plain(static_cast<double>(cell.memory->unattributed_bytes));
}

void add_delegation(CaseSummary& cell, int taken, const Json& left) {
  int left_count = 0;
  for (const auto& entry : left) {
    left_count += entry.at("count").get<int>();
  }
  cell.delegation = taken == 0        ? Delegation::kNone
                    : left_count == 0 ? Delegation::kFull
                                      : Delegation::kPartial;
  cell.metrics["delegated_ratio"] = plain(static_cast<double>(taken) / (taken + left_count));
  Json delegates = Json::array();
  if (taken > 0) {
    delegates.push_back({{"backend", "XnnpackBackend"},
                         {"count", left_count == 0 ? 1 : 3},
                         {"processed_bytes", 61'008},
                         {"named_data_bytes", 13'900'000}});
  }
  cell.manifest = {
      {"schema", "assay/manifest/1"},
      {"delegation", cell.delegation},
      {"stages",
       {{{"name", "export"}, {"wall_ns", 4'100'000'000}, {"peak_rss_bytes", 810'000'000}},
        {{"name", "lower"}, {"wall_ns", 6'350'000'000}, {"peak_rss_bytes", 1'120'000'000}}}},
      {"program",
       {{"delegates", delegates},
        {"nodes_delegated", taken},
        {"nodes_not_delegated", left_count},
        {"operators_left", left}}}};
}

void add_profile(CaseSummary& cell, double steady_ns) {
  cell.profile = ProfileReport{.iterations = 20,
                               .events = {},
                               .method_median_ns = std::llround(steady_ns * 1.04),
                               .notes = {"profiling adds 4 % to this method"}};
  auto& events = cell.profile->events;
  events.push_back({"forward", "method", -1, 20, std::llround(steady_ns * 20.8),
                    std::llround(steady_ns), std::llround(steady_ns * 1.04)});
  double share = 0.22;
  for (int i = 0; i < 26; ++i, share *= 0.82) {
    const auto median = std::llround(steady_ns * share);
    events.push_back({std::string(kNames.at(static_cast<std::size_t>(i) % kNames.size())) + " #" +
                          std::to_string(i + 1),
                      "delegate_operator", 0, 20, median * 20, median * 9 / 10, median});
  }
  cell.breakdown = breakdown_from_operators(*cell.profile);
}

OutputError output_error(std::string name, double sqnr_db, double max_abs) {
  OutputError error{
      .output = std::move(name), .metrics = {}, .bounds = {{"sqnr_db", 8}, {"max_abs_error", 40}}};
  for (const auto& [metric, value] : {std::pair{"sqnr_db", sqnr_db},
                                      {"max_abs_error", max_abs},
                                      {"cosine_similarity", 1 - max_abs / 40},
                                      {"relative_l2_error", max_abs / 9},
                                      {"top1_agreement", max_abs > 0.05 ? 0.75 : 1.0}}) {
    error.metrics[metric] = make_metric(metric, value, "output:0");
  }
  return error;
}

void add_accuracy(CaseSummary& cell, double float_db, double qdq_db) {
  cell.accuracy = Accuracy::kPass;
  const std::vector<std::string> controls = {"all_zeros: rejected, as it must be",
                                             "other_input: rejected, as it must be"};
  cell.accuracy_tables.push_back({.against = "float32",
                                  .accuracy = Accuracy::kPass,
                                  .outputs = {output_error("logits", float_db, error_at(float_db))},
                                  .controls = controls});
  cell.accuracy_tables.push_back({.against = "qdq",
                                  .accuracy = Accuracy::kPass,
                                  .outputs = {output_error("logits", qdq_db, error_at(qdq_db))},
                                  .controls = controls});
}

void add_attribution(CaseSummary& cell) {
  auto& found = cell.attribution.emplace();
  found.whole = {.quantization = 0.0123, .backend = 0.5, .total = 0.51};
  found.layers = {{.origin = {.name = "conv2d",
                              .module = "features.0.0",
                              .operator_name = "aten.conv2d.default",
                              .inputs = {}},
                   .noise = {.quantization = 0.0004, .backend = 0, .total = 0.0004},
                   .added = {.quantization = 0.0004, .backend = 0, .total = 0.0004}},
                  {.origin = {.name = "hardswish",
                              .module = "features.0.2",
                              .operator_name = "aten.hardswish.default",
                              .inputs = {"conv2d"}},
                   .noise = {.quantization = 0.0102, .backend = 0.0001, .total = 0.0104},
                   .added = {.quantization = 0.0098, .backend = 0.0001, .total = 0.01},
                   .alone = {.quantization = 0.0097, .backend = 0.00002, .total = 0.0098}},
                  {.origin = {.name = "linear",
                              .module = "",
                              .operator_name = "aten.linear.default",
                              .inputs = {"hardswish"}},
                   .noise = {.quantization = 0.0123, .backend = 0.5, .total = 0.51},
                   .added = {.quantization = 0.0021, .backend = 0.4999, .total = 0.4996},
                   .alone = {.quantization = 0.002, .backend = 0.25, .total = 0.251}}};
  found.notes = {
      "the larger part of the error is the backend's: 3.0 dB, quantization's is 19.1 dB"};
}

CaseSummary new_case(std::string model, std::string recipe) {
  CaseSummary cell{.case_key = digest_of_json({model, recipe}),
                   .label = model + " " + recipe,
                   .model = std::move(model),
                   .recipe = std::move(recipe),
                   .engine = "executorch@1.5.1",
                   .options = "threads=1",
                   .shapes = "1x3x224x224",
                   .subject = "c3ab8ff1"};
  cell.outcome = Outcome::kCompleted;
  cell.stage = Stage::kDone;
  cell.verdict = Verdict::kPass;
  cell.effective_options = {{"threads", 1}, {"flush_to_zero", false}};
  cell.reproduce = "assay run specs/mobilenet.json --case " + cell.case_key.substr(0, 12);
  return cell;
}

}  // namespace assay::report
