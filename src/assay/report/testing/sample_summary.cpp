#include "assay/report/testing/sample_summary.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/axes.h"
#include "assay/record/metric.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/record/trade_off.h"
#include "assay/report/testing/sample_parts.h"

namespace assay::report {
namespace {

CaseSummary portable() {
  auto cell = new_case("mobilenet_v2", "executorch/portable-fp32");
  add_timing(cell, 3.187e9, 0.012, 1, 4);
  add_memory(cell, 14'212'345);
  add_delegation(
      cell, 0,
      {{{"name", "aten.convolution.default"},
        {"count", 52},
        {"reason", "the recipe has no partitioner"}},
       {{"name", "aten.hardtanh.default"},
        {"count", 35},
        {"reason", "the recipe has no partitioner"}},
       {{"name", "aten.add.Tensor"}, {"count", 10}, {"reason", "the recipe has no partitioner"}}});
  add_accuracy(cell, 128.4, 128.4);
  cell.metrics["speedup_ratio"] = plain(1);
  cell.notes = {"stopped by its time budget after 4 of 50 iterations",
                "the profiler of XNNPACK cannot be switched off"};
  return cell;
}

CaseSummary xnnpack_fp32() {
  auto cell = new_case("mobilenet_v2", "executorch/xnnpack-fp32");
  add_timing(cell, 11.62e6, 0.018, 10, 50);
  add_memory(cell, 14'012'960);
  add_delegation(cell, 100, Json::array());
  add_profile(cell, 11.62e6);
  add_accuracy(cell, 121.7, 121.7);
  cell.metrics["speedup_ratio"] = plain(274.3);
  cell.gates = {{"delegated_ratio", ">=0.99", true, false, "delegated_ratio 1, required >=0.99"},
                {"steady_ns", "<=12ms", true, false, "steady_ns 11.6 ms, required <=12ms"}};
  cell.notes = {"the profiler of XNNPACK cannot be switched off"};
  return cell;
}

CaseSummary partly_delegated() {
  auto cell = new_case("mobilenet_v2", "executorch/xnnpack-int8-dynamic");
  add_timing(cell, 9.04e6, 0.03, 10, 50);
  add_memory(cell, 3'710'208);
  add_delegation(
      cell, 61,
      {{{"name", "aten.mean.dim"},
        {"count", 1},
        {"reason", "dim must be [-2, -1] and keepdim true"}},
       {{"name", "dim_order_ops._to_dim_order_copy.default"}, {"count", 2}, {"reason", nullptr}},
       {{"name", "quantized_decomposed.quantize_per_token.default"},
        {"count", 11},
        {"reason", "the xnnpack partitioner has no rule for this operator"}}});
  add_accuracy(cell, 34.2, 61.8);
  cell.metrics["speedup_ratio"] = plain(352.6);
  cell.warnings = {
      "random inputs hide what real ones show, against float32: pass (31 dB) on random inputs, "
      "fail "
      "numeric (6.1 dB) on real ones"};
  return cell;
}

CaseSummary unsure() {
  auto cell = new_case("mobilenet_v2", "executorch/xnnpack-int8");
  add_timing(cell, 4.91e6, 0.21, 10, 50);
  add_memory(cell, 3'655'104);
  add_delegation(cell, 99,
                 {{{"name", "aten.view_copy.default"}, {"count", 1}, {"reason", nullptr}}});
  add_accuracy(cell, 27.9, 48.3);
  cell.timing = Timing::kInconclusive;
  cell.launches[1].disturbances = {
      {"steal", 0.12, "the machine lost 12 % of its time to its host (steal)"}};
  cell.notes = {"4 more launches would decide steady_ns"};
  return cell;
}

CaseSummary crashed() {
  auto cell = new_case("mobilenet_v3_large", "executorch/xnnpack-int8");
  add_delegation(cell, 120, Json::array());
  cell.metrics["program_bytes"] = plain(5'480'112);
  cell.outcome = Outcome::kCrashed;
  cell.stage = Stage::kFirst;
  cell.reason_code = "SIGSEGV";
  cell.text = "the runner was ended by SIGSEGV in its first inference";
  cell.last_words =
      "I 00:00:00.004 executorch:XNNPACKBackend.cpp:47] Creating XNN workspace\n"
      "\x1b[31mF 00:00:00.812 executorch:XNNExecutor.cpp:88] Check failed: \"ptr\" != NULL "
      "\xff\x1b[0m\n\n";
  cell.verdict = Verdict::kFail;
  return cell;
}

CaseSummary aot_error() {
  auto cell = new_case("mobilenet_v3_large", "executorch/vulkan-fp16");
  cell.outcome = Outcome::kAotError;
  cell.stage = Stage::kLower;
  cell.reason_code = "lower_failed";
  cell.text =
      "RuntimeError: expected hardswish to have 1 user, has 2\n  at vulkan_partitioner.py:211";
  cell.verdict = Verdict::kFail;
  return cell;
}

CaseSummary unsupported() {
  auto cell = new_case("mobilenet_v3_large", "executorch/coreml-fp16");
  cell.outcome = Outcome::kUnsupported;
  cell.stage = Stage::kLoad;
  cell.reason_code = "unsupported";
  cell.text = "Core ML runs on Apple's systems only; the program was made, not executed";
  cell.verdict = Verdict::kSkipped;
  return cell;
}

CaseSummary wrong_numbers() {
  auto cell = new_case("mobilenet_v3_large", "executorch/mydelegate-int8");
  add_timing(cell, 18.3e6, 0.01, 10, 50);
  add_memory(cell, 5'601'280);
  add_delegation(cell, 9'999, {{{"name", "aten.cat.default"}, {"count", 1}, {"reason", nullptr}}});
  add_accuracy(cell, 3.1, 8.2);
  add_attribution(cell);
  cell.accuracy = Accuracy::kFailNumeric;
  auto& against_float = cell.accuracy_tables[0];
  against_float.accuracy = Accuracy::kFailNumeric;
  against_float.reason = "nan_count 3, required <=0";
  auto broken = output_error("features", std::nan(""), HUGE_VAL);
  broken.metrics["nan_count"] = make_metric("nan_count", 3);
  broken.metrics["cosine_similarity"] = make_metric("cosine_similarity", -HUGE_VAL);
  against_float.outputs.push_back(std::move(broken));
  cell.accuracy_tables[1].accuracy = Accuracy::kFailNumeric;
  cell.accuracy_tables[1].reason = "sqnr_db 8.2, required >=20";
  cell.gates = {
      {"sqnr_db", ">=20", false, false, "sqnr_db NaN, required >=20"},
      {"delegated_ratio", ">=0.99", true, false, "delegated_ratio 0.9999, required >=0.99"}};
  cell.verdict = Verdict::kFail;
  return cell;
}

CaseSummary vacuous() {
  auto cell = new_case("constant_net", "executorch/xnnpack-fp32");
  cell.shapes = "8";
  add_timing(cell, 850.0, 0.02, 10, 50);
  add_memory(cell, 2'048);
  add_accuracy(cell, HUGE_VAL, HUGE_VAL);
  cell.accuracy = Accuracy::kVacuous;
  cell.accuracy_tables.pop_back();
  auto& table = cell.accuracy_tables.front();
  table.accuracy = Accuracy::kVacuous;
  table.reason = "the outputs do not depend on the input, so any input passes";
  table.controls = {"all_zeros: rejected, as it must be",
                    "other_input: accepted, though it must be rejected"};
  cell.verdict = Verdict::kInconclusive;
  return cell;
}

CaseSummary hostile() {
  auto cell = new_case(
      "</script><script>alert(1)</script>",
      "executorch/"
      "a-recipe-with-a-name-that-is-much-longer-than-any-table-could-hold-per-channel-w4a8");
  cell.options = "threads=2,schedule=\"<b>&amp;|*_`\"";
  cell.label = cell.model + " <!-- <img src=x onerror=alert(2)> | 日本語モデル";
  cell.outcome = Outcome::kTimedOut;
  cell.stage = Stage::kSteady;
  cell.reason_code = "deadline";
  cell.text = "no answer within 60 s; =HYPERLINK(\"http://example.org\"), \"quoted\"";
  cell.last_words = "]]> --> </textarea> ${x} {{y}}\r\n@everyone";
  cell.notes = {"<script>alert(3)</script>"};
  cell.verdict = Verdict::kFail;
  return cell;
}

/// The first four cases as points; the fastest one's interval reaches that of no other.
TradeOff sample_trade_off(const std::vector<CaseSummary>& cases) {
  TradeOff trade_off{
      .model = "mobilenet_v2",
      .shapes = "1x3x224x224",
      .metric = "sqnr_db",
      .against = "float32",
      .text =
          "fastest that keeps accuracy: executorch/xnnpack-int8, 4.91 ms, SQNR 27.9 dB (>= 8); "
          "its timing is inconclusive"};
  for (const int index : {3, 2, 1, 0}) {
    const auto& cell = cases[static_cast<std::size_t>(index)];
    const auto& sqnr = cell.accuracy_tables[0].outputs[0].metrics.at("sqnr_db");
    trade_off.points.push_back({.case_index = index,
                                .title = cell.recipe,
                                .latency_ns = cell.metrics.at("steady_ns"),
                                .accuracy = plain(sqnr.value),
                                .bound = 8,
                                .keeps_accuracy = true,
                                .is_on_front = true});
  }
  return trade_off;
}

}  // namespace

RunSummary empty_summary() {
  RunSummary summary;
  summary.run = {.id = "0198f1c2-7c51-7000-8000-2f1d54a0b3c4",
                 .purpose = "measure",
                 .seed = 42,
                 .argv = {"assay", "run", "specs/nothing.json"},
                 .started_unix_ns = kSampleStart,
                 .finished_unix_ns = kSampleStart + 1'400'000'000};
  summary.environment = {.id = "e1f3",
                         .device_class = "linux-x86_64:amd-epyc-7b13:2cpu",
                         .cpu_model = "AMD EPYC 7B13",
                         .cpus = 2,
                         .memory_bytes = 25'300'000'000,
                         .kernel = "6.1.0-18-amd64",
                         .os = "Debian GNU/Linux 12",
                         .hypervisor = "kvm",
                         .cpu_flags = {"avx2", "fma"}};
  return summary;
}

RunSummary sample_summary() {
  auto summary = empty_summary();
  summary.run.name = "MobileNets on ExecuTorch";
  summary.run.labels = {{"branch", "main"}, {"commit", "4f6f3d1"}};
  summary.run.argv = {"assay", "run", "specs/mobilenet.json", "--seed", "42"};
  summary.run.finished_unix_ns = kSampleStart + 252'000'000'000;
  summary.baseline = "executorch/portable-fp32";
  summary.cases = {portable(),  xnnpack_fp32(), partly_delegated(), unsure(),  crashed(),
                   aot_error(), unsupported(),  wrong_numbers(),    vacuous(), hostile()};
  for (auto& cell : summary.cases) {
    cell.device = "local";
  }
  summary.trade_offs = {sample_trade_off(summary.cases)};
  return summary;
}

RunSummary summary_with_output_errors(double first, double second) {
  auto summary = sample_summary();
  summary.cases.resize(1);
  AccuracyTable table{.against = "float32", .accuracy = Accuracy::kFailNumeric};
  for (const double error : {first, second}) {
    OutputError output{.output = std::to_string(table.outputs.size())};
    output.metrics["relative_l2_error"] = make_metric("relative_l2_error", error);
    output.metrics["sqnr_db"] = make_metric("sqnr_db", 1 / error);
    output.bounds = {{"relative_l2_error", 0.5}, {"sqnr_db", 2}};
    table.outputs.push_back(output);
  }
  summary.cases.front().accuracy_tables = {table};
  return summary;
}

}  // namespace assay::report
