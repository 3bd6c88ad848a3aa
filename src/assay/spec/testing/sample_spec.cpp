#include "assay/spec/testing/sample_spec.h"

#include <functional>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/spec/spec.h"

namespace assay {
namespace {

constexpr std::string_view kWholeSpec = R"json({
  // A comment.
  "schema": "assay/spec/1",
  "name": "whole",
  "models": [{"ref": "torchvision:mobilenet_v2", "seed": 3, "args": {"width_mult": 0.5},
              "weight_init": false, "inputs": [[1,3,224,224], {"shape": [1,3,192,192], "dtype": "float16"}]},
             {"ref": "file:kws.onnx", "url": "https://example.org/kws.onnx",
              "sha256": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
              "inputs": "kws_inputs.npz"},
             {"ref": "zoo/net.py:make", "inputs": [[[1,3],{"shape": [], "dtype": "int64"}], [[2,3],[1,5]]]},
             "torchvision:resnet18"],
  "recipes": ["executorch/xnnpack-fp32", "executorch/xnnpack-int8",
              {"name": "mine", "quantization": "xnnpack-int8-dynamic", "lowering":
               {"flow": "to_edge_transform_and_lower", "partitioner": "xnnpack",
                "options": {"per_op_mode": true}}, "tolerance": {"sqnr_db": 10, "why": "dynamic"}}],
  "engines": ["executorch@1.5.1", "onnxruntime"],
  "options": {"threads": [1, 2], "fast_math": true},
  "scenario": {"gap": ["0ms", "5ms"], "duration": ["burst", "5min"], "streams": [1, 2], "page_cache": "cold", "cores": ["own", "0-1"],
               "background": ["none", "cpu:1"], "cool_below": 45, "beside": "other.pte"},
  "devices": ["local"],
  "measure": {"launches": 6, "interval": "1.5%", "most_launches": 30, "case_budget": "2min", "warmup": 0, "iterations": 20, "min_iterations": 2,
              "time_budget": "20s", "passes": ["timing", "memory", "timing"],
              "leak_check": {"loads": 20, "inferences": 200}, "sensors": "250ms"},
  "evaluate": {"against": ["float32", "qdq"], "samples": 8, "seed": 2,
               "tolerance": {"sqnr_db": 20, "why": "int8 activations"}},
  "calibration": {"batches": 16, "seed": 99},
  "require": {"delegated_ratio": ">=0.99", "steady_ns": "<=12ms", "program_bytes": "<14MB"},
  "exclude": [{"recipe": "mine", "options": {"threads": 2}}],
  "seed": 18446744073709551615,
  "labels": {"branch": "main"},
  "baseline": "executorch/xnnpack-fp32",
  "expand": "pairwise",
  "max_cases": 9,
  "sandbox": "required"
})json";

}  // namespace

SpecContext context_in_folder() { return {.origin = "x.json", .folder = "/specs"}; }

Json minimal_spec() {
  return {{"schema", "assay/spec/1"},
          {"models", {"torchvision:mobilenet_v2"}},
          {"recipes", {"executorch/xnnpack-fp32"}}};
}

Spec whole_spec() {
  const auto document = parse_json(kWholeSpec, "x.json");
  EXPECT_TRUE(document.has_value());
  auto spec = spec_from_json(document.value(), context_in_folder());
  EXPECT_TRUE(spec.has_value()) << spec.error().message;
  return *std::move(spec);
}

std::string message_of(const std::function<void(Json&)>& change) {
  auto document = minimal_spec();
  change(document);
  const auto spec = spec_from_json(document, context_in_folder());
  if (spec) {
    return {};
  }
  EXPECT_EQ(spec.error().code, ErrorCode::kInvalidArgument);
  return spec.error().message;
}

std::string message_with(std::string_view key, std::string_view value) {
  return message_of([&](Json& spec) { spec[std::string(key)] = Json::parse(value); });
}

}  // namespace assay
