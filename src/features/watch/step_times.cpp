#include "features/watch/step_times.h"

#include "features/repository/repository_spec.h"
#include "features/watch/next_steps.h"
#include "features/watch/watch_view.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/run.h"
#include "assay/stats/quantile.h"
#include "assay/store/result_store.h"

namespace assay::watch {
namespace {

constexpr int kNewestRuns = 20;
constexpr int kNewestSittings = 200;  ///< A search has many.
constexpr double kNsPerS = 1e9;

/// A clock that was set back during a run makes its time useless.
std::vector<double> positive(std::vector<double> seconds) {
  std::erase_if(seconds, [](double value) { return !(value > 0); });
  return seconds;
}

std::optional<double> usual(const std::vector<double>& seconds) {
  const auto values = positive(seconds);
  return values.empty() ? std::nullopt : std::optional(stats::median(values));
}

double seconds_of(const Run& run) {
  return run.finished_unix_ns == 0
             ? 0
             : static_cast<double>(run.finished_unix_ns - run.started_unix_ns) / kNsPerS;
}

std::vector<double> seconds_of_builds(const WatchView& view) {
  std::vector<double> seconds;
  std::ranges::transform(view.builds, std::back_inserter(seconds),
                         [](const auto& entry) { return entry.second.seconds; });
  return seconds;
}

/// Adds up the sittings of each search, which have its incident as their label.
std::vector<double> sums_by_incident(const std::vector<RunListing>& runs) {
  std::map<std::string, double> sums;
  for (const auto& listing : runs) {
    if (const auto incident = listing.run.labels.find("incident");
        incident != listing.run.labels.end()) {
      sums[incident->second] += seconds_of(listing.run);
    }
  }
  const auto seconds = std::views::values(sums);
  return {seconds.begin(), seconds.end()};
}

std::vector<double> seconds_of_runs(const std::vector<RunListing>& runs) {
  std::vector<double> seconds;
  std::ranges::transform(runs, std::back_inserter(seconds),
                         [](const RunListing& listing) { return seconds_of(listing.run); });
  return seconds;
}

std::optional<double> seconds_of_step(const WatchStep& step, const StepTimes& times,
                                      const WatchView& view) {
  if (step.kind != StepKind::kMeasure) {
    return step.kind == StepKind::kVerify ? times.verify : times.bisect;
  }
  if (!times.measure || view.builds.contains(step.revision)) {
    return times.measure;
  }
  return times.build ? std::optional(*times.measure + *times.build) : std::nullopt;
}

}  // namespace

Result<StepTimes> read_step_times(ResultStore& store, const RepositorySpec& spec,
                                  const std::string& environment, const WatchView& view) {
  const auto runs_for = [&](std::string_view purpose, int most) {
    return store.list_runs(
        {.limit = most,
         .purpose = std::string(purpose),
         .labels = {{"engine", spec.repository.engine}, {"environment", environment}}});
  };
  StepTimes times{.build = usual(seconds_of_builds(view))};
  ASSAY_ASSIGN_OR_RETURN(const auto measured, runs_for(kWatchPurpose, kNewestRuns));
  times.measure = usual(seconds_of_runs(measured));
  ASSAY_ASSIGN_OR_RETURN(const auto verified, runs_for("verify", kNewestRuns));
  times.verify = usual(seconds_of_runs(verified));
  ASSAY_ASSIGN_OR_RETURN(const auto searched, runs_for("bisect", kNewestSittings));
  times.bisect = usual(sums_by_incident(searched));
  return times;
}

std::vector<std::optional<double>> expected_seconds(const std::vector<WatchStep>& steps,
                                                    const StepTimes& times, const WatchView& view) {
  std::vector<std::optional<double>> seconds;
  std::ranges::transform(steps, std::back_inserter(seconds),
                         [&](const WatchStep& step) { return seconds_of_step(step, times, view); });
  return seconds;
}

}  // namespace assay::watch
