#include "assay/report/testing/sample_wide.h"

#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/record/attribution.h"
#include "assay/record/axes.h"
#include "assay/record/conformance.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/record/profile.h"
#include "assay/record/summary.h"
#include "assay/record/trade_off.h"
#include "assay/report/testing/sample_conformance.h"
#include "assay/report/testing/sample_parts.h"
#include "assay/report/testing/sample_summary.h"

namespace assay::report {
namespace {

constexpr int kLayers = 40;
constexpr std::string_view kModel =
    "detection/ssdlite320_mobilenet_v3_large_coco_320x320_finetuned";

CaseSummary cell_of(const std::string& recipe, const std::string& engine, double steady_ns,
                    double sqnr_db) {
  auto cell = new_case(std::string(kModel), recipe);
  cell.engine = engine;
  cell.options = "threads=1 cpus=0,1 background=stress-ng";
  add_timing(cell, steady_ns, 0.02, 10, 50);
  add_memory(cell, 13'800'000);
  add_accuracy(cell, sqnr_db, sqnr_db);
  auto& memory = cell.memory.emplace(cell.memory.value_or(MemoryReport{}));
  for (auto& stage : memory.stages) {
    for (const auto* part : {"program_files", "other_files", "shared_memory", "stack",
                             "declared.the arena that the planner of the method allocates"}) {
      stage.parts.push_back({part, 123'456'789});
    }
  }
  return cell;
}

/// A delegate without operators of its own takes most; the operators outside of it have long names.
ProfileBreakdown opaque_breakdown(double method_ns) {
  ProfileBreakdown breakdown{.label = "wide", .method_ns = method_ns, .iterations = 20};
  const auto add = [&](std::string name, std::string kind, double share) {
    breakdown.parts.push_back({.name = std::move(name),
                               .kind = std::move(kind),
                               .calls = 1,
                               .time_ns = std::round(method_ns * share),
                               .share_ratio = share});
  };
  add("OpaqueNpuBackend", "delegate", 0.6);
  add("quantized_decomposed::quantize_per_channel_group.out #12", "operator", 0.2);
  add("dim_order_ops::_to_dim_order_copy.out", "operator", 0.15);
  add("outside any operator", "rest", 0.05);
  return breakdown;
}

void add_many_layers(CaseSummary& cell) {
  add_attribution(cell);
  auto& attribution = cell.attribution.emplace(cell.attribution.value_or(Attribution{}));
  const auto layer = attribution.layers.at(1);
  attribution.layers.clear();
  for (int i = 0; i < kLayers; ++i) {
    auto next = layer;
    next.origin.module = fmt::format(
        "backbone.features.{}.inverted_residual.squeeze_excitation.activation_post_process", i);
    attribution.layers.push_back(std::move(next));
  }
}

TradeOff trade_off_of(const std::vector<CaseSummary>& cases) {
  TradeOff trade_off{.model = cases[0].model,
                     .shapes = cases[0].shapes,
                     .metric = "sqnr_db",
                     .against = "float32",
                     .text =
                         "fastest that keeps accuracy: openvino/int8, 2.1 ms, SQNR 21 dB; not "
                         "told apart from executorch/xnnpack-int8: their intervals overlap"};
  for (const int index : {2, 0, 3, 1}) {
    const auto& cell = cases[static_cast<std::size_t>(index)];
    const auto& sqnr = cell.accuracy_tables[0].outputs[0].metrics.at("sqnr_db");
    Estimate accuracy = plain(sqnr.value);
    accuracy.special = sqnr.special;
    trade_off.points.push_back({.case_index = index,
                                .title = cell.recipe,
                                .latency_ns = cell.metrics.at("steady_ns"),
                                .accuracy = std::move(accuracy),
                                .keeps_accuracy = index != 3,
                                .is_on_front = index != 3});
  }
  return trade_off;
}

ConformResult listed(ConformResult result, KnownGap known, std::string reason) {
  result.known = known;
  result.known_reason = std::move(reason);
  result.text = "output 0: " + std::string(400, 'x') + " differs";
  return result;
}

}  // namespace

RunSummary wide_summary() {
  auto summary = empty_summary();
  summary.run.name = "a run of several engines whose name is longer than most windows are wide";
  summary.baseline = "onnxruntime/fp32";
  summary.cases = {cell_of("executorch/xnnpack-int8", "executorch@1.5.1", 2.13e6, 27.9),
                   cell_of("onnxruntime/fp32", "onnxruntime@1.30.0", 7.4e6, HUGE_VAL),
                   cell_of("openvino/int8", "openvino@2026.4.1", 2.1e6, 21),
                   cell_of("onnxruntime/int8", "onnxruntime@1.30.0", 4.2e6, 4),
                   new_case(std::string(kModel), "executorch/vulkan-fp16")};
  add_delegation(summary.cases[0], 99,
                 {{{"name", "quantized_decomposed.quantize_per_channel_group.default"},
                   {"count", 12},
                   {"reason", "the partitioner has no rule for this operator"}}});
  add_profile(summary.cases[0], 2.13e6);
  summary.cases[0].breakdown = opaque_breakdown(2.2e6);
  add_many_layers(summary.cases[0]);
  auto& failed = summary.cases.back();
  failed.options = summary.cases[0].options;
  failed.outcome = Outcome::kUnsupported;
  failed.verdict = Verdict::kSkipped;
  failed.text = "no runtime for Vulkan on this machine";
  summary.cases[3].verdict = Verdict::kFail;
  summary.cases[3].accuracy = Accuracy::kFailNumeric;
  summary.trade_offs = {trade_off_of(summary.cases)};
  return summary;
}

ConformReport wide_conformance() {
  auto report = sample_conformance();
  const auto results = std::exchange(report.results, {});
  for (const auto* type : {"bfloat16", "bool", "float16", "float32", "float64", "int64", "uint8"}) {
    for (auto result : results) {
      result.dtype = type;
      result.operator_name += "._native_batch_norm_legit_no_training_with_a_longer_name";
      result.name = fmt::format("{}/{}/open-dimension-of-the-batch-at-its-upper-bound",
                                result.operator_name, type);
      result.recipe = "executorch/xnnpack-int8-per-channel-dynamic";
      if (result.verdict != ConformVerdict::kPass) {
        result =
            listed(result, KnownGap::kKnownFailure, "https://example.org/" + std::string(90, 'a'));
      }
      report.results.push_back(std::move(result));
    }
  }
  report.results.push_back(listed(results[1], KnownGap::kNewFailure, ""));
  report.changes.clear();
  report.results_compared = static_cast<int>(report.results.size());
  report.results_only_now = 0;
  report.results_only_earlier = 0;
  return report;
}

}  // namespace assay::report
