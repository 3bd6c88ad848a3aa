#pragma once

#include <filesystem>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/launch.h"
#include "assay/record/case.h"
#include "assay/record/spawn.h"

namespace assay {

/// The cores for one launch, another set for the next, so that cores of unequal speed get their
/// turns. Empty (anywhere) where threads are not fewer than cores, or their number is not known
/// (0).
std::vector<int> own_cores(int turn, int threads, int cores);

/// "threads" of the case's options; 0 where they are not asked for.
int threads_of(const Case& cell);

/// The companion process of a measured one that makes the launch; its job is written into `folder`.
/// Errors: kUnavailable, kExhausted.
Result<Companion> companion_from_launch(const LaunchRequest& request,
                                        const std::filesystem::path& folder);

/// Puts the case's scenario (record/scenario.h) into the request of a timed launch, and how often
/// the sensors of the device are read meanwhile.
///
/// `turn`: which launch of the case this is. `context`: knows the device's cores, the engines for
/// a companion program, and whether that is kept in a sandbox; the job of that program is
/// written into `folder`. Errors: kUnavailable (no engine for that program, the folder).
Status apply_scenario(const Case& cell, int turn, const RunContext& context,
                      const std::filesystem::path& folder, LaunchRequest& request);

}  // namespace assay
