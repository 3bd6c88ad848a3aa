#include "assay/evaluate/comparability.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "assay/base/json.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Optional;

Json document() {
  return {
      {"model",
       {{"weights_sha256", "w1"},
        {"health", {{"output_rms", 0.5}, {"output_abs_max", 1.0}, {"difference_rms", nullptr}}}}},
      {"inputs_sha256", "i1"},
      {"calibration", {{"samples_sha256", "c1"}}}};
}

Json changed(const char* path, const Json& value) {
  auto json = document();
  json[Json::json_pointer(path)] = value;
  return json;
}

TEST(Comparability, IsGivenWhereAllDigestsAgree) {
  EXPECT_EQ(why_not_comparable(document(), document(), document()), std::nullopt);
}

TEST(Comparability, IsNotDecidedByWhatADocumentDoesNotSay) {
  EXPECT_EQ(why_not_comparable(Json(), document(), Json()), std::nullopt);
  EXPECT_EQ(why_not_comparable(document(), {{"kind", "file"}}, document()), std::nullopt);
  EXPECT_EQ(why_not_comparable(changed("/calibration", nullptr), document(), document()),
            std::nullopt);
  EXPECT_EQ(why_not_comparable(changed("/model/health/output_rms", "much"), document(), Json()),
            std::nullopt);
}

TEST(Comparability, NamesTheCallableThatGivesOthersAtEachCall) {
  const auto is_told = [](const Json& reference, const char* whose, const char* what) {
    EXPECT_THAT(why_not_comparable(document(), reference, document()),
                Optional(AllOf(HasSubstr(whose), HasSubstr(what), HasSubstr("seed it"))));
  };
  is_told(changed("/model/weights_sha256", "w2"), "factory", "weights");
  is_told(changed("/model/health/output_rms", 1.5), "factory", "constants");
  is_told(changed("/inputs_sha256", "i2"), "the inputs' callable", "inputs");
  is_told(changed("/calibration/samples_sha256", "c2"), "the calibration's callable", "samples");
}

TEST(Comparability, NamesProcessorsThatDrawOtherNumbers) {
  auto manifest = document();
  manifest["toolchain"]["draws"] = "x86_64 avx2";
  auto fed = document();
  fed["producer"]["draws"] = "x86_64 avx2";
  const auto reason_for = [&](const char* path, const char* draws) {
    auto reference = changed(path, "other");
    reference["producer"]["draws"] = draws;
    return why_not_comparable(manifest, reference, fed);
  };
  for (const auto* path :
       {"/model/weights_sha256", "/inputs_sha256", "/calibration/samples_sha256"}) {
    EXPECT_THAT(reason_for(path, "aarch64"),
                Optional(AllOf(HasSubstr("x86_64 avx2 and aarch64"), HasSubstr("one machine"))));
    EXPECT_THAT(reason_for(path, "x86_64 avx2"), Optional(HasSubstr("seed it")));
  }
}

TEST(Comparability, HoldsBetweenProcessorsWhoseKernelsRoundDifferently) {
  EXPECT_EQ(why_not_comparable(document(), changed("/model/health/output_rms", 0.500001), Json()),
            std::nullopt);
}

TEST(Comparability, AllowsForRoundingWhereOutputsHardlyDiffer) {
  const auto difference = [](double value) {
    return changed("/model/health/difference_rms", value);
  };
  EXPECT_EQ(why_not_comparable(difference(0), difference(1e-9), Json()), std::nullopt);
  EXPECT_EQ(why_not_comparable(difference(1e-5), difference(2e-5), Json()), std::nullopt);
  EXPECT_THAT(why_not_comparable(difference(0.1), difference(0.2), Json()),
              Optional(HasSubstr("constants")));
}

TEST(Comparability, ComparesTheStepsThatInitializedTheWeightsByName) {
  const auto steps = [](const char* name, int layers) {
    return changed("/model/health/steps", {{{"step", name}, {"layers", layers}}});
  };
  EXPECT_EQ(
      why_not_comparable(steps("settle_batch_norm", 3), steps("settle_batch_norm", 4), Json()),
      std::nullopt);
  EXPECT_EQ(why_not_comparable(steps("settle_batch_norm", 3), document(), Json()), std::nullopt);
  EXPECT_THAT(
      why_not_comparable(steps("settle_batch_norm", 3),
                         changed("/model/health/steps", Json::array()), Json()),
      Optional(AllOf(HasSubstr("settle_batch_norm"), HasSubstr("none"), HasSubstr("machine"))));
}

}  // namespace
}  // namespace assay
