#include "assay/evaluate/ties.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <vector>

#include "assay/evaluate/evaluate.h"
#include "assay/evaluate/output_values.h"
#include "assay/evaluate/testing/judge.h"
#include "assay/record/axes.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A top-k of one row: values and indices of both sides.
struct TopK {
  std::vector<double> expected;
  std::vector<double> expected_at;
  std::vector<double> found;
  std::vector<double> found_at;

  [[nodiscard]] OutputValues values() const {
    return {.shapes = {{static_cast<std::int64_t>(found.size())}},
            .result = found,
            .reference = expected,
            .begin = {0, found.size()}};
  }
  [[nodiscard]] OutputValues indices() const {
    return {.dtype = Dtype::kInt64,
            .shapes = {{static_cast<std::int64_t>(found.size())}},
            .result = found_at,
            .reference = expected_at,
            .exact = std::vector<double>(found.size(), 1),
            .begin = {0, found.size()}};
  }
  [[nodiscard]] std::size_t settled() const {
    auto settled = indices();
    return settle_ties(values(), settled);
  }
};

TEST(Ties, AreRightInAnyOrder) {
  const TopK tied{{9, 7, 7, 3}, {4, 2, 8, 0}, {9, 7, 7, 3}, {4, 8, 2, 0}};
  auto indices = tied.indices();
  EXPECT_EQ(settle_ties(tied.values(), indices), 2U);
  EXPECT_EQ(indices.result, tied.expected_at);
  EXPECT_THAT(indices.exact, ElementsAre(0, 0, 0, 0));
}

TEST(Ties, ReachAsFarAsTheErrorOfTheValues) {
  // The engine's 7.01 and 7 are off by up to 0.02, so the two may change places.
  EXPECT_EQ((TopK{{9, 7.01, 7, 3}, {4, 2, 8, 0}, {9, 7.02, 7.02, 3}, {4, 8, 2, 0}}.settled()), 2U);
  EXPECT_EQ((TopK{{9, 7.1, 7, 3}, {4, 2, 8, 0}, {9, 7.1, 7, 3}, {4, 8, 2, 0}}.settled()), 0U)
      << "the values are right, and the indices those of other values";
}

TEST(Ties, AreNoExcuseForIndicesThatNothingTellsOf) {
  EXPECT_EQ((TopK{{9, 7, 7}, {4, 2, 8}, {9, 7, 7}, {4, 2, 5}}.settled()), 0U) << "not named";
  EXPECT_EQ((TopK{{9, 7, 7}, {4, 2, 8}, {9, 7, 7}, {4, 2, 2}}.settled()), 0U) << "named twice";
  EXPECT_EQ((TopK{{7, 9, 7}, {2, 4, 8}, {7, 9, 7}, {8, 4, 2}}.settled()), 0U) << "no order";
  EXPECT_EQ((TopK{{7, 7, 7}, {1, 1, 0}, {7, 7, 7}, {1, 0, 1}}.settled()), 0U) << "no indices";
}

Tensor row_of_indices(const std::vector<std::int64_t>& values) {
  auto tensor = Tensor::zeros(Dtype::kInt64, {static_cast<std::int64_t>(values.size())});
  std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

Tensor row_of_scores(const std::vector<double>& values) {
  return tensor_from_doubles(values, {static_cast<std::int64_t>(values.size())}, Dtype::kFloat32);
}

TEST(Ties, AreToldWithTheVerdict) {
  const BoundSamples reference = {{row_of_scores({5, 2, 2}), row_of_indices({7, 1, 4})},
                                  {row_of_scores({6, 3, 1}), row_of_indices({0, 2, 3})}};
  auto results = reference;
  results[0][1] = row_of_indices({7, 4, 1});
  const auto judged = [&] {
    return judge({.against = "float64", .results = results, .references = reference});
  };
  EXPECT_EQ(judged().accuracy, Accuracy::kPass) << judged().reason;
  EXPECT_THAT(judged().reason, HasSubstr("in another order of ties, output 1: 2 indices"));
  results[1][1] = row_of_indices({0, 3, 2});
  EXPECT_EQ(judged().accuracy, Accuracy::kFailNumeric);
}

}  // namespace
}  // namespace assay
