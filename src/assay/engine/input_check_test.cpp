#include "assay/engine/input_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "assay/base/result.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

using testing::HasSubstr;

const std::vector<TensorSpec> kSpecs = {
    {.name = "x", .dtype = Dtype::kFloat32, .shape = {1, 3}},
    {.name = "y", .dtype = Dtype::kInt64, .shape = {kUnboundDimension, 2}}};

TensorView view(Dtype dtype, Shape shape) { return {.dtype = dtype, .shape = std::move(shape)}; }

TEST(InputCheck, TakesWhatTheSpecsSayAndAnySizeOfAnUnboundDimension) {
  EXPECT_TRUE(check_inputs(std::vector{view(Dtype::kFloat32, {1, 3}), view(Dtype::kInt64, {7, 2})},
                           kSpecs));
}

TEST(InputCheck, NamesBothCounts) {
  const auto status = check_inputs(std::vector{view(Dtype::kFloat32, {1, 3})}, kSpecs);
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(status.error().message, "1 inputs are given, the program takes 2");
}

TEST(InputCheck, NamesBothSidesOfAnotherShapeTypeOrRank) {
  const auto good = view(Dtype::kInt64, {7, 2});
  for (const auto& bad :
       {view(Dtype::kFloat32, {1, 4}), view(Dtype::kFloat16, {1, 3}), view(Dtype::kFloat32, {3})}) {
    EXPECT_EQ(check_inputs(std::vector{bad, good}, kSpecs).error().code,
              ErrorCode::kInvalidArgument);
  }
  const auto status =
      check_inputs(std::vector{view(Dtype::kFloat32, {1, 3}), view(Dtype::kInt64, {7, 3})}, kSpecs);
  EXPECT_EQ(status.error().message, "input 1 ('y') is int64 7x3, the program takes int64 ?x2");
}

}  // namespace
}  // namespace assay
