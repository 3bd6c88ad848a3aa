#pragma once

#include <map>
#include <string>
#include <vector>

#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"

namespace assay {

/// The times of one case, each launch being one sample: an estimate is the median over launches of
/// the launch's own reduction, its interval the exact order-statistic interval of that median (with
/// three launches the smallest and the largest, which cover it in 75 % of cases).
/// docs/reference/metrics.md has the formula of each.
struct TimingSummary {
  Timing timing = Timing::kNotMeasured;
  std::map<std::string, Estimate> metrics;
  std::vector<std::string> notes;
};

/// `launches`: of the timing attempt; those that did not complete are left out. What a program
/// tells of a launch by itself is a metric "program:NAME", of launches that tell no time as well.
TimingSummary summarize_timing(const std::vector<Launch>& launches);

/// True if the samples are those that the measurement counts, with a steady one among them.
bool has_its_samples(const Measurement& measurement);

/// One entry per launch in, the median and its interval out.
Estimate estimate_over_launches(std::vector<double> values);

}  // namespace assay
