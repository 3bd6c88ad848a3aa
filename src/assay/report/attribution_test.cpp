#include "assay/report/attribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "assay/record/attribution.h"

namespace assay::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Attribution attributed_sample() {
  Attribution attribution{.whole = {.quantization = 0.1, .backend = 0.01, .total = 0.11}};
  attribution.layers = {
      {.origin = {.name = "conv2d", .module = "stem", .operator_name = "aten.conv2d.default"},
       .noise = {.quantization = 0.01, .backend = 0, .total = 0.01},
       .added = {.quantization = 0.01, .backend = 0}},
      {.origin = {.name = "conv2d_1", .operator_name = "aten.conv2d.default"},
       .noise = {.quantization = 0.1, .backend = 0.001, .total = 0.1},
       .added = {.quantization = 0.03, .backend = 0.001}},
      {.origin = {.name = "relu"}, .noise = {.quantization = 0.1}, .added = {}}};
  attribution.notes = {"a note"};
  return attribution;
}

TEST(AttributionTable, HasTheOutputsThenTheLayersThatAddMost) {
  const auto text = attribution_table(attributed_sample()).lay_out(100, false).text;
  EXPECT_LT(text.find("(outputs)"), text.find("conv2d_1"));
  EXPECT_LT(text.find("conv2d_1"), text.find("stem"));
  EXPECT_THAT(text, HasSubstr("75"));   // The share of conv2d_1 in what quantization adds.
  EXPECT_THAT(text, HasSubstr("100"));  // And in what the backend adds.
  EXPECT_EQ(text.find("relu"), std::string::npos);
}

TEST(AttributionTable, LeavesPartsOutThatNobodyMeasured) {
  auto attribution = attributed_sample();
  attribution.whole.quantization.reset();
  for (auto& layer : attribution.layers) {
    layer.noise.quantization.reset();
    layer.added.quantization.reset();
  }
  const auto text = attribution_table(attribution).lay_out(100, false).text;
  EXPECT_EQ(text.find("quantization"), std::string::npos);
}

TEST(AttributionTable, ShowsALayerThatIsOffAloneThoughItAddsNothing) {
  auto attribution = attributed_sample();
  attribution.layers[2].alone = {.quantization = 0.5, .backend = 0.000001};
  const auto text = attribution_table(attribution).lay_out(140, false).text;
  EXPECT_THAT(text, HasSubstr("quantization alone"));
  EXPECT_THAT(text, HasSubstr("backend alone"));
  EXPECT_LT(text.find("relu"), text.find("stem"));
  EXPECT_THAT(text, HasSubstr("60"));  // -10 lg 0.000001
}

TEST(AttributionLines, SayHowManyLayersAreShown) {
  EXPECT_THAT(attribution_lines(attributed_sample()),
              ElementsAre("a note",
                          "2 of 3 layers are shown: those that add the most error, and those "
                          "with the largest error alone"));
}

}  // namespace
}  // namespace assay::report
