#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/store/result_store.h"

namespace assay {

/// What an evaluation launch brought back.
struct EvaluationYield {
  std::span<const std::byte> outputs;  ///< safetensors "<sample>.<index>"
  std::vector<TensorSpec> specs;       ///< Of the outputs, as the program tells.
  std::int64_t differing_elements = 0;
};

/// Compares the outputs with one reference. `tolerance`: of the spec, empty to use the recipe's.
/// Errors: kCorrupt (files), kInvalidArgument (tolerance).
Result<AccuracyTable> judge_outputs(const Case& cell, const EvaluationYield& yield,
                                    const Reference& reference, const Json& tolerance);

/// The table's numbers as rows, scoped "against:float32/output:0".
std::vector<MetricRow> metric_rows_of(const AccuracyTable& table, const std::string& attempt);

}  // namespace assay
