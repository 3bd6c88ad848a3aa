#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "assay/base/result.h"
#include "assay/record/measured_series.h"
#include "assay/record/summary.h"
#include "assay/store/result_store.h"

namespace assay::watch {

/// The least change of an error of outputs that is noticed: a tenth of what the tolerance allows.
/// A sum that is taken in another order changes errors by less.
///
/// Looks up the bounds that judged a case, in the accuracy tables of a run; each run is read once.
class ErrorTolerances {
 public:
  explicit ErrorTolerances(ResultStore& store) : store_(store) {}

  /// nullopt: the metric has no bound there. Errors: the store's.
  Result<std::optional<double>> least_change(const MeasuredSeries& series, const std::string& run);

 private:
  using Key = std::pair<std::string, std::string>;  ///< Case key, metric.

  Status read(const std::string& run, std::map<Key, double>& least);

  ResultStore& store_;
  std::map<std::string, std::map<Key, double>> runs_;
};

/// A tenth of what the bound allows. Of a share that is better when it is higher, the bound allows
/// what it lacks to 1.
double noticed_part_of(const std::string& metric, double bound);

}  // namespace assay::watch
