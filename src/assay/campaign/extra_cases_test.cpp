#include "assay/campaign/extra_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/engine_reference.h"
#include "assay/campaign/preparation.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/run.h"

namespace assay {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Case onnx_case(const std::string& engine, const Json& options = Json::object()) {
  return {.model = {.ref = "net.onnx", .source_sha256 = "aa"},
          .recipe = {.name = "program", .is_preset = true, .produces = "onnx"},
          .engine = engine,
          .options = options,
          .engine_build = engine + "@1"};
}

CampaignRequest request_of(std::vector<Case> cases, std::vector<std::string> against) {
  CampaignRequest request{.cases = std::move(cases)};
  request.context.builds = {{.name = "onnxruntime", .label = "1"},
                            {.name = "openvino", .label = "1"},
                            {.name = "executorch", .label = "1"}};
  request.context.settings.against = std::move(against);
  return request;
}

TEST(ExtraCases, AreTheSameProgramOnTheChosenEngineWithItsDefaults) {
  const auto found = extra_cases_of(
      request_of({onnx_case("openvino", {{"threads", 1}}), onnx_case("openvino", {{"threads", 2}})},
                 {"float32", "engine:onnxruntime"}));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(case_key(found[0].cell), case_key(onnx_case("onnxruntime")));
  EXPECT_EQ(found[0].cell.engine_build, "onnxruntime@1");
  EXPECT_THAT(found[0].refusal, IsEmpty());
}

TEST(ExtraCases, AreNotNeededWhereACaseIsTheReferenceOrNothingIsEvaluated) {
  auto request = request_of({onnx_case("openvino"), onnx_case("onnxruntime")},
                            {"engine:onnxruntime", "engine:onnxruntime@1"});
  EXPECT_THAT(extra_cases_of(request), IsEmpty());
  request.cases.pop_back();
  EXPECT_THAT(extra_cases_of(request), SizeIs(1));
  request.context.settings.passes = {Pass::kTiming};
  EXPECT_THAT(extra_cases_of(request), IsEmpty());
}

TEST(ExtraCases, ThatCannotRunSayWhy) {
  const auto missing = extra_cases_of(request_of({onnx_case("openvino")}, {"engine:litert"}));
  ASSERT_THAT(missing, SizeIs(1));
  EXPECT_THAT(missing[0].refusal,
              HasSubstr("litert, which provides the reference, is not installed"));
  const auto unfit = extra_cases_of(request_of({onnx_case("openvino")}, {"engine:executorch"}));
  ASSERT_THAT(unfit, SizeIs(1));
  EXPECT_THAT(unfit[0].refusal, HasSubstr("executorch does not load onnx programs"));
}

TEST(ExtraCases, OfParityAreOnRandomInputsWithReferencesOfTheirOwn) {
  auto real = onnx_case("openvino");
  real.inputs = {.generator = "file", .seed = 7, .count = 3, .file = "x.npz", .file_sha256 = "bb"};
  real.expected_file = "y.npz";
  auto request = request_of({real, onnx_case("openvino")}, {"engine:onnxruntime"});
  request.context.settings.has_parity = true;
  std::vector<std::string> labels;
  for (const auto& [cell, refusal] : extra_cases_of(request)) {
    labels.push_back(label_of(cell) + " on " + cell.engine + " " + cell.inputs.generator);
  }
  EXPECT_THAT(labels,
              testing::UnorderedElementsAre("net on onnxruntime file", "net on onnxruntime normal",
                                            "net random inputs on openvino normal",
                                            "net random inputs on onnxruntime normal"));
}

TEST(ExtraCases, ARequestIsRefusedThatComparesNothing) {
  const auto refusal_of = [](const std::vector<Case>& cases,
                             const std::vector<std::string>& kinds) {
    const std::vector<CampaignRequest> requests = {request_of(cases, kinds)};
    const auto checked = check_comparisons(requests);
    return checked ? "" : checked.error().message;
  };
  const auto one = onnx_case("onnxruntime");
  EXPECT_THAT(refusal_of({one}, {"engine:onnxruntime"}), HasSubstr("its own reference"));
  EXPECT_EQ(refusal_of({one}, {"engine:onnxruntime", "qdq"}), "");
  EXPECT_EQ(refusal_of({one}, {"engine:openvino"}), "");
  EXPECT_EQ(refusal_of({one, onnx_case("openvino")}, {"engine:onnxruntime"}), "");
  auto other = one;
  other.options = {{"threads", 2}};
  EXPECT_EQ(refusal_of({other}, {"engine:onnxruntime"}), "") << "held against the defaults";
}

TEST(EngineReferences, KnowWhoGivesToWhom) {
  const auto request =
      request_of({onnx_case("openvino"), onnx_case("onnxruntime")}, {"engine:onnxruntime", "qdq"});
  std::vector<PreparedCase> prepared;
  for (const auto& cell : request.cases) {
    prepared.push_back({.cell = cell});
  }
  EngineReferences given(prepared, request.context.settings.against, request.context.builds);
  EXPECT_EQ(given.find_provider(0, "engine:onnxruntime"), 1U);
  EXPECT_EQ(given.find_provider(1, "engine:onnxruntime"), 1U);
  EXPECT_FALSE(given.find_provider(0, "qdq"));
  EXPECT_FALSE(given.find(0, "engine:onnxruntime"));
  given.put(1, Reference{.key = "k", .kind = "engine:onnxruntime@1"});
  EXPECT_EQ(given.find(0, "engine:onnxruntime")->kind, "engine:onnxruntime");
}

}  // namespace
}  // namespace assay
