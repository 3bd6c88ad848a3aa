#pragma once

#include "features/reduce/candidate.h"
#include "features/reduce/check.h"
#include "features/reduce/finding.h"
#include "features/reduce/replay.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay {

/// A candidate that was accepted, or the closest one that is right.
struct ReduceStep {
  std::string what;
  ReduceCandidate candidate;
  ReduceFinding finding;
};

/// Result of a reduction.
struct Reduction {
  ReduceStep first;
  std::vector<ReduceStep> steps;  ///< Each smaller than the one before; the last is the smallest.
  std::optional<ReduceStep> closest;  ///< The largest step on from the smallest that does not fail.
  int judged = 0;
  int replayed = 0;                    ///< Taken from the replay file or from earlier rounds.
  std::string stopped_by = "minimal";  ///< Or "budget", "interrupted".

  [[nodiscard]] const ReduceStep& smallest() const { return steps.empty() ? first : steps.back(); }
};

/// Smaller candidates of one, the boldest first. What is not smaller is not looked at.
using ProposeCandidates =
    std::function<Result<std::vector<ReduceProposal>>(const ReduceCandidate& current)>;

/// Judges candidates, each alone; a finding for each.
using EvaluateCandidates =
    std::function<Result<std::vector<ReduceFinding>>(const std::vector<ReduceCandidate>&)>;

struct ReduceSettings {
  ReduceCheck check;
  std::size_t batch = 4;  ///< Candidates that are judged at a time.
  /// Asked before every batch: why to stop, "budget" or "interrupted"; empty: go on.
  std::function<std::string()> why_stop = [] { return std::string(); };
  std::function<void(const ReduceStep&)> on_step = [](const ReduceStep&) {};
};

/// Greedy reduction: of each batch the smallest that fails as the check asks becomes the current
/// one, until none of its proposals fails. The sequence of sizes falls strictly, so it ends.
/// Deterministic for a deterministic evaluation: with the same replay file it does the same again
/// without evaluating. Errors: kNotFound when the case does not fail at first; those of the
/// evaluation and of the replay file.
Result<Reduction> reduce_case(const ReduceCandidate& first, const ProposeCandidates& propose,
                              const EvaluateCandidates& evaluate, ReduceReplay& replay,
                              const ReduceSettings& settings);

ASSAY_DECLARE_JSON(ReduceStep);
ASSAY_DECLARE_JSON(Reduction);

}  // namespace assay
