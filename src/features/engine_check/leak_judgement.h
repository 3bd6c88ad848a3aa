#pragma once

#include "features/engine_check/checks.h"

#include <optional>
#include <span>

#include "assay/record/summary.h"

namespace assay {

/// Judges what each process found that loaded a program again and again. nullopt: another process
/// is needed.
///
/// An engine that loses memory at each load does so in every process. Memory that comes and goes,
/// as that of an interpreter on a busy machine, looks in one like a small leak. So only a leak that
/// a second process shows again fails; where the two contradict each other, the check cannot tell.
std::optional<Found> judge_leaks(std::span<const LeakFinding> processes);

}  // namespace assay
