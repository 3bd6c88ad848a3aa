#include "assay/campaign/judge.h"

#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/evaluate/evaluate.h"
#include "assay/evaluate/tolerance.h"
#include "assay/record/case.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/store/result_store.h"
#include "assay/tensor/safetensors.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

using Samples = std::vector<std::vector<Tensor>>;

Result<Samples> samples_from(const std::vector<NamedTensor>& tensors) {
  Samples samples;
  for (int sample = 0; sample < count_samples(tensors); ++sample) {
    ASSAY_ASSIGN_OR_RETURN(auto one, sample_from_tensors(tensors, sample));
    samples.push_back(std::move(one));
  }
  return samples;
}

}  // namespace

Result<AccuracyTable> judge_outputs(const Case& cell, const EvaluationYield& yield,
                                    const Reference& reference, const Json& tolerance) {
  ASSAY_ASSIGN_OR_RETURN(const auto results, tensors_from_safetensors(yield.outputs));
  const auto path = std::filesystem::path(reference.folder) / "outputs.safetensors";
  ASSAY_ASSIGN_OR_RETURN(const auto expected, read_safetensors(path));
  ASSAY_ASSIGN_OR_RETURN(const auto result_samples, samples_from(results));
  ASSAY_ASSIGN_OR_RETURN(const auto expected_samples, samples_from(expected));
  ASSAY_ASSIGN_OR_RETURN(const auto tolerances,
                         tolerances_for(cell.recipe, tolerance, reference.kind));
  return evaluate_outputs({.against = reference.kind,
                           .results = result_samples,
                           .references = expected_samples,
                           .outputs = yield.specs,
                           .differing_elements = yield.differing_elements},
                          tolerances);
}

std::vector<MetricRow> metric_rows_of(const AccuracyTable& table, const std::string& attempt) {
  std::vector<MetricRow> rows;
  for (const auto& output : table.outputs) {
    for (const auto& [name, metric] : output.metrics) {
      auto scoped = metric;
      scoped.scope = fmt::format("against:{}/output:{}", table.against, output.output);
      rows.push_back({.attempt = attempt, .launch = {}, .metric = std::move(scoped)});
    }
  }
  return rows;
}

}  // namespace assay
