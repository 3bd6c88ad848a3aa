#pragma once

#include "features/engine_check/checks.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "assay/base/result.h"

namespace assay {

/// Threads that computed in each of the parts that one process was timed in; without the parts in
/// which the kernel did not tell.
using ThreadCounts = std::vector<int>;

inline constexpr std::size_t kMostThreadTries = 3;

/// Judges processes that were asked for `threads`. nullopt: another try is needed.
///
/// A thread that computes does so in every part of every process. A helper that starts late, or
/// spins once, as a machine with other work makes it, is busy in one part. So only an engine with
/// too many threads in all parts of all tries that tell of any, two at least, fails; where tries
/// contradict each other, the check cannot tell.
std::optional<Found> judge_threads(int threads, std::span<const ThreadCounts> tries);

/// Checks that no more threads compute than were asked for, 1 and 2, and that the engine reports
/// that number.
Result<Found> honours_threads(CheckContext& context);

}  // namespace assay
