#include "assay/record/measured_series.h"

#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/json.h"
#include "assay/record/metric.h"
#include "assay/record/metric_scale.h"

namespace assay {

std::string MeasuredSeries::key() const {
  return digest_of_json({repository, environment, case_key, metric, metric_version});
}

bool has_log_offsets(const MeasuredSeries& series) {
  return scale_of(series.metric, series.unit) == MetricScale::kRatio;
}

ASSAY_DEFINE_JSON(MeasuredSeries, repository, environment, case_key, label, metric, metric_version,
                  unit, better)

}  // namespace assay
