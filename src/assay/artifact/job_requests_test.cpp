#include "assay/artifact/job_requests.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "assay/record/case.h"

namespace assay {
namespace {

TEST(JobRequests, SayWhetherWeightsAreToBeHealed) {
  Case cell;
  cell.model.ref = "my_models.py:net";
  EXPECT_FALSE(build_request(cell, false).at("model").contains("weight_init"))
      << "as the maker thinks";
  cell.model.weight_init = false;
  EXPECT_EQ(build_request(cell, false).at("model").at("weight_init"), false);
  EXPECT_EQ(reference_request(cell, "float32").at("model").at("weight_init"), false);
  EXPECT_FALSE(stimulus_request(cell, "inputs").at("program").contains("weight_init"))
      << "a program has the weights that it has";
}

TEST(JobRequests, WriteTheProgramThoughNothingHereRunsIt) {
  Case cell;
  EXPECT_EQ(build_request(cell, true).at("stop_after"), "lower");
  cell.recipe.runtime_unavailable = "no such device here";
  EXPECT_TRUE(build_request(cell, false).at("stop_after").is_null());
}

TEST(JobRequests, QuantizeTheReferencesThatAreOfTheQuantizedGraph) {
  Case cell;
  cell.recipe.quantization = {{"flow", "pt2e"}};
  cell.recipe.lowering = {{"flow", "executorch"}};
  EXPECT_TRUE(reference_request(cell, "float32").at("quantization").is_null());
  const auto quantized = reference_request(cell, "qdq");
  EXPECT_EQ(quantized.at("quantization"), cell.recipe.quantization);
  EXPECT_TRUE(quantized.at("lowering").is_null());
  const auto lowered = reference_request(cell, "lowered_eager");
  EXPECT_EQ(lowered.at("quantization"), cell.recipe.quantization);
  EXPECT_EQ(lowered.at("lowering"), cell.recipe.lowering);
}

}  // namespace
}  // namespace assay
