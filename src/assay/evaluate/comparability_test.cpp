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

TEST(Comparability, HoldsBetweenProcessorsWhoseKernelsRoundDifferently) {
  EXPECT_EQ(why_not_comparable(document(), changed("/model/health/output_rms", 0.500001), Json()),
            std::nullopt);
}

}  // namespace
}  // namespace assay
