#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <vector>

#include "assay/base/json.h"
#include "assay/evaluate/evaluate.h"
#include "assay/evaluate/tolerance.h"
#include "assay/record/case.h"
#include "assay/record/summary.h"
#include "assay/tensor/tensor.h"

namespace assay {

using BoundSamples = std::vector<std::vector<Tensor>>;

/// Judges outputs by a document of tolerances. Fails the test where that is refused.
inline AccuracyTable judge(const Evaluation& evaluation, const Json& document = Json::object()) {
  const auto set = tolerances_for(Recipe{}, document, "float64");
  EXPECT_TRUE(set) << set.error().message;
  const auto table = evaluate_outputs(evaluation, *set);
  EXPECT_TRUE(table) << table.error().message;
  return table ? *table : AccuracyTable{};
}

}  // namespace assay
