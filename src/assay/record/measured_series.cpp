#include "assay/record/measured_series.h"

#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/json.h"

namespace assay {

std::string MeasuredSeries::key() const {
  return digest_of_json({repository, environment, case_key, metric, metric_version});
}

bool has_log_offsets(const MeasuredSeries& series) {
  return series.unit == "ns" || series.unit == "bytes" || series.unit == "1/s";
}

ASSAY_DEFINE_JSON(MeasuredSeries, repository, environment, case_key, label, metric, metric_version,
                  unit, better)

}  // namespace assay
