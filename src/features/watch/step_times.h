#pragma once

#include "features/repository/repository_spec.h"
#include "features/watch/next_steps.h"
#include "features/watch/watch_view.h"

#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/store/result_store.h"

namespace assay::watch {

/// Usual times of the parts of a step in seconds: medians of the newest. Empty: none was made yet.
struct StepTimes {
  std::optional<double> build;
  std::optional<double> measure;
  std::optional<double> verify;  ///< Both ends of an incident.
  std::optional<double> bisect;  ///< The search for one commit, all of its sittings.
};

/// Errors: the store's.
Result<StepTimes> read_step_times(ResultStore& store, const RepositorySpec& spec,
                                  const std::string& environment, const WatchView& view);

/// Seconds that each step will take; a commit that has a build needs no other one.
std::vector<std::optional<double>> expected_seconds(const std::vector<WatchStep>& steps,
                                                    const StepTimes& times, const WatchView& view);

}  // namespace assay::watch
