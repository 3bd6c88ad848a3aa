#include "features/watch/error_tolerances.h"

#include "features/watch/run_points.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/measured_series.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/store/result_store.h"

namespace assay::watch {
namespace {

constexpr double kNoticedShare = 0.1;

/// As the summary of a case calls the metric, and the series of points.
std::string series_metric(const std::string& against, const std::string& metric) {
  if (against.starts_with("engine:")) {
    return metric == "max_abs_error" ? std::string(kOutputsMetric) : "";
  }
  return against == "float32" ? metric : against + "." + metric;
}

}  // namespace

double noticed_part_of(const std::string& metric, double bound) {
  const auto* definition = find_metric(metric);
  const bool is_share =
      definition != nullptr && definition->better == Better::kHigher && definition->unit == "ratio";
  return kNoticedShare * std::abs(is_share ? 1 - bound : bound);
}

Status ErrorTolerances::read(const std::string& run, std::map<Key, double>& least) {
  ASSAY_ASSIGN_OR_RETURN(const auto attempts, store_.attempts_of_run(run));
  for (const auto& attempt : attempts) {
    if (attempt.pass != Pass::kEvaluate) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const auto attachments, store_.attachments_of(attempt.id));
    for (const auto& attachment : attachments) {
      if (attachment.kind != "accuracy_table") {
        continue;
      }
      ASSAY_ASSIGN_OR_RETURN(const auto document, parse_json(attachment.content, "accuracy table"));
      const auto table = document.get<AccuracyTable>();
      for (const auto& output : table.outputs) {
        for (const auto& [metric, bound] : output.bounds) {
          const Key key{attempt.case_key, series_metric(table.against, metric)};
          const double part = noticed_part_of(metric, bound);
          const auto [known, is_new] = least.try_emplace(key, part);
          known->second = std::min(known->second, part);
        }
      }
    }
  }
  return {};
}

Result<std::optional<double>> ErrorTolerances::least_change(const MeasuredSeries& series,
                                                            const std::string& run) {
  const auto [known, is_new] = runs_.try_emplace(run);
  if (is_new) {
    ASSAY_RETURN_IF_ERROR(read(run, known->second));
  }
  const auto found = known->second.find({series.case_key, series.metric});
  return found == known->second.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace assay::watch
