#include "features/conform/conform_case.h"

#include "features/conform/glob.h"
#include "features/conform/repro_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/case.h"

namespace assay {
namespace {

using testing::HasSubstr;

TEST(Glob, MatchesWholeTexts) {
  EXPECT_TRUE(is_glob_match("aten.add.Tensor", "aten.add.Tensor"));
  EXPECT_TRUE(is_glob_match("aten.conv*", "aten.convolution"));
  EXPECT_TRUE(is_glob_match("*.Tensor", "aten.add.Tensor"));
  EXPECT_TRUE(is_glob_match("a*d*r", "aten.add.Tensor"));
  EXPECT_TRUE(is_glob_match("float??", "float16"));
  EXPECT_TRUE(is_glob_match("*", ""));
  EXPECT_FALSE(is_glob_match("aten.add", "aten.add.Tensor"));
  EXPECT_FALSE(is_glob_match("float??", "float1"));
  EXPECT_FALSE(is_glob_match("", "a"));
}

Json reply() {
  return Json::parse(R"({
    "cases": [{"name": "aten.add.Tensor/float32/add-0", "operator": "aten.add.Tensor",
               "model": {"ref": "aten:add.Tensor", "args": {"sample": 0}}, "dtype": "float32",
               "shape_class": "odd", "values": "edge", "tier": "quick", "joinable": true, "refuses": true,
               "cost": 2.5},
              {"name": "models/lstm", "model": {"ref": "torchvision:lstm", "seed": 3},
               "inputs": {"generator": "normal", "count": 2}}],
    "coverage": [{"operator": "aten.add.Tensor", "cases": 1, "reason": null},
                 {"operator": "aten._fft_r2c", "cases": 0, "reason": "complex"}],
    "known_gaps_folder": "/data/conformance"})");
}

TEST(Listing, IsReadWhole) {
  const auto listing = listing_from_json(reply());
  ASSERT_TRUE(listing) << listing.error().message;
  ASSERT_EQ(listing->cases.size(), 2U);
  const auto& add = listing->cases[0];
  EXPECT_EQ(add.model.ref, "aten:add.Tensor");
  EXPECT_EQ(add.model.args, Json({{"sample", 0}}));
  EXPECT_EQ(add.shape_class, "odd");
  EXPECT_TRUE(add.is_joinable);
  EXPECT_TRUE(add.refuses);
  EXPECT_EQ(add.cost, 2.5);
  EXPECT_EQ(add.inputs.generator, "model");
  EXPECT_EQ(add.inputs.count, 3);
  EXPECT_EQ(listing->cases[1].inputs.generator, "normal");
  EXPECT_FALSE(listing->cases[1].is_joinable);
  EXPECT_FALSE(listing->cases[1].refuses);
  EXPECT_EQ(listing->coverage[1].reason, "complex");
  EXPECT_EQ(listing->known_gaps_folder, "/data/conformance");
}

TEST(Listing, SaysWhatIsWrongWithIt) {
  auto json = reply();
  json["cases"][1].erase("model");
  EXPECT_THAT(listing_from_json(json).error().message, HasSubstr("cases[1]"));
  json = reply();
  json["cases"][1]["name"] = json["cases"][0]["name"];
  EXPECT_THAT(listing_from_json(json).error().message, HasSubstr("twice"));
  EXPECT_EQ(listing_from_json(Json::array()).error().code, ErrorCode::kCorrupt);
}

TEST(Shards, HoldEveryCaseOnceAndAboutTheSameCost) {
  std::vector<ConformCase> cases;
  for (int i = 0; i < 50; ++i) {
    cases.push_back({.name = std::to_string(i), .cost = 1.0 + i % 7});
  }
  std::set<std::string> seen;
  for (int shard = 0; shard < 3; ++shard) {
    double cost = 0;
    for (const auto& one : shard_of(cases, shard, 3)) {
      EXPECT_TRUE(seen.insert(one.name).second);
      cost += one.cost;
    }
    EXPECT_NEAR(cost, 197.0 / 3, 2);  // All cost 197, the dearest 7.
  }
  EXPECT_EQ(seen.size(), 50U);
}

TEST(Command, QuotesWhatAShellWouldRead) {
  Case cell{.model = {.ref = "aten:add.Tensor", .args = {{"source", "it's"}}},
            .recipe = {.name = "executorch/portable", .is_preset = true},
            .options = {{"threads", 2}},
            .inputs = {.generator = "model", .count = 3}};
  EXPECT_EQ(
      repro_command(cell),
      "assay eval aten:add.Tensor --args '{\"source\":\"it'\\''s\"}' --inputs model "
      "--recipe executorch/portable --seed 0 --samples 3 --against float64 --option threads=2");
  cell.recipe.quantization = {{"flow", "pt2e"}};
  EXPECT_THAT(repro_command(cell), HasSubstr("--against qdq"));
}

}  // namespace
}  // namespace assay
