#include "features/reduce/reducer.h"

#include "features/reduce/candidate.h"
#include "features/reduce/check.h"
#include "features/reduce/finding.h"
#include "features/reduce/replay.h"

#include <algorithm>
#include <cstddef>
#include <expected>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/conformance.h"

namespace assay {
namespace {

using Sizes = std::vector<double>;

class Reducer {
 public:
  Reducer(const ProposeCandidates& propose, const EvaluateCandidates& evaluate,
          ReduceReplay& replay, const ReduceSettings& settings)
      : propose_(propose), evaluate_(evaluate), replay_(replay), settings_(settings) {}

  Result<Reduction> run(const ReduceCandidate& first) {
    ASSAY_ASSIGN_OR_RETURN(const auto findings, evaluate_all({first}));
    found_.first = {.what = "the case itself", .candidate = first, .finding = findings.front()};
    if (!does_fail(found_.first.finding)) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("nothing to reduce: the verdict of the case is {}",
                              text_of_finding(found_.first.finding)));
    }
    bool is_smaller = true;
    while (is_smaller && found_.stopped_by == "minimal") {
      ASSAY_ASSIGN_OR_RETURN(is_smaller, take_round());
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool does_fail(const ReduceFinding& finding) const {
    return fails(settings_.check, found_.first.finding, finding);
  }

  /// One batch after the other of what is smaller than the current one; true when one was taken.
  Result<bool> take_round() {
    ASSAY_ASSIGN_OR_RETURN(auto proposals, smaller_ones());
    std::optional<ReduceStep> closest;
    for (std::size_t begin = 0; begin < proposals.size(); begin += settings_.batch) {
      if (const auto why = settings_.why_stop(); !why.empty()) {
        found_.stopped_by = why;
        return false;
      }
      const auto end = std::min(proposals.size(), begin + settings_.batch);
      const std::vector<ReduceProposal> batch(
          proposals.begin() + static_cast<std::ptrdiff_t>(begin),
          proposals.begin() + static_cast<std::ptrdiff_t>(end));
      const auto is_taken = take_best(batch, closest);
      if (!is_taken) {
        return stopped_or(is_taken.error());
      }
      if (*is_taken) {
        return true;
      }
    }
    found_.closest = std::move(closest);
    return false;
  }

  /// An evaluation that was stopped leaves what was found so far; any other error is one.
  Result<bool> stopped_or(const Error& error) {
    const auto why = settings_.why_stop();
    if (why.empty()) {
      return std::unexpected(error);
    }
    found_.stopped_by = why;
    return false;
  }

  /// Judges a batch and takes the smallest that fails. `closest`: the largest that is right.
  Result<bool> take_best(const std::vector<ReduceProposal>& batch,
                         std::optional<ReduceStep>& closest) {
    std::vector<ReduceCandidate> candidates;
    candidates.reserve(batch.size());
    for (const auto& proposal : batch) {
      candidates.push_back(proposal.candidate);
    }
    ASSAY_ASSIGN_OR_RETURN(const auto findings, evaluate_all(candidates));
    std::optional<ReduceStep> best;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const ReduceStep step{batch[i].what, batch[i].candidate, findings[i]};
      if (does_fail(step.finding)) {
        keep_if(step, best, is_smaller(step, best));
      } else if (is_answer(step.finding)) {
        keep_if(step, closest, is_closer(step, closest));
      }
    }
    if (!best) {
      return false;
    }
    settings_.on_step(*best);
    found_.steps.push_back(*std::move(best));
    return true;
  }

  static void keep_if(const ReduceStep& step, std::optional<ReduceStep>& kept, bool is_better) {
    if (is_better) {
      kept = step;
    }
  }

  static bool is_smaller(const ReduceStep& step, const std::optional<ReduceStep>& best) {
    return !best || size_of(step.candidate) < size_of(best->candidate);
  }

  /// A right one before one that fails otherwise, then the larger one.
  static bool is_closer(const ReduceStep& step, const std::optional<ReduceStep>& closest) {
    if (!closest || is_right(step.finding) != is_right(closest->finding)) {
      return !closest || is_right(step.finding);
    }
    return size_of(step.candidate) > size_of(closest->candidate);
  }

  /// True if it concerns the backend: a failure in eager is no case.
  static bool is_answer(const ReduceFinding& finding) {
    return finding.verdict != ConformVerdict::kHarnessError &&
           finding.verdict != ConformVerdict::kNotRun;
  }

  Result<std::vector<ReduceProposal>> smaller_ones() {
    const auto& current = found_.smallest().candidate;
    const auto size = size_of(current);
    ASSAY_ASSIGN_OR_RETURN(auto proposals, propose_(current));
    std::set<std::string> seen;
    std::vector<ReduceProposal> smaller;
    for (auto& proposal : proposals) {
      if (size_of(proposal.candidate) < size && seen.insert(digest_of(proposal.candidate)).second) {
        smaller.push_back(std::move(proposal));
      }
    }
    return smaller;
  }

  /// Findings of all, those that are known without judging. What was judged is on disk before this
  /// returns.
  Result<std::vector<ReduceFinding>> evaluate_all(const std::vector<ReduceCandidate>& candidates) {
    std::vector<ReduceCandidate> unknown;
    for (const auto& candidate : candidates) {
      if (!replay_.find(candidate)) {
        unknown.push_back(candidate);
      }
    }
    found_.replayed += static_cast<int>(candidates.size() - unknown.size());
    if (!unknown.empty()) {
      ASSAY_ASSIGN_OR_RETURN(const auto findings, evaluate_(unknown));
      for (std::size_t i = 0; i < unknown.size(); ++i) {
        ASSAY_RETURN_IF_ERROR(replay_.add(unknown[i], findings.at(i)));
        ++found_.judged;
      }
    }
    std::vector<ReduceFinding> findings;
    findings.reserve(candidates.size());
    for (const auto& candidate : candidates) {
      findings.push_back(replay_.find(candidate).value_or(ReduceFinding()));
    }
    return findings;
  }

  const ProposeCandidates& propose_;
  const EvaluateCandidates& evaluate_;
  ReduceReplay& replay_;
  const ReduceSettings& settings_;
  Reduction found_;
};

}  // namespace

Result<Reduction> reduce_case(const ReduceCandidate& first, const ProposeCandidates& propose,
                              const EvaluateCandidates& evaluate, ReduceReplay& replay,
                              const ReduceSettings& settings) {
  return Reducer(propose, evaluate, replay, settings).run(first);
}

ASSAY_DEFINE_JSON(ReduceStep, what, candidate, finding)
ASSAY_DEFINE_JSON(Reduction, first, steps, closest, judged, replayed, stopped_by)

}  // namespace assay
