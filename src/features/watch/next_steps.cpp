#include "features/watch/next_steps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <vector>

namespace assay::watch {
namespace {

using Revisions = std::span<WatchedRevision>;

WatchStep step_of(const OpenIncident& incident) {
  return {.kind = incident.is_confirmed ? StepKind::kBisect : StepKind::kVerify,
          .incident = incident.id,
          .reason = incident.reason};
}

bool is_open(const WatchedRevision& revision) { return revision.progress == Progress::kOpen; }

/// The open revision that is nearest to the middle of the positions.
WatchedRevision* find_middle(Revisions revisions, std::int64_t low, std::int64_t high) {
  WatchedRevision* best = nullptr;
  const auto distance = [&](const WatchedRevision& revision) {
    return std::abs((2 * revision.position) - low - high);
  };
  const auto after_low = std::ranges::upper_bound(revisions, low, {}, &WatchedRevision::position);
  const auto before_high =
      std::ranges::lower_bound(revisions, high, {}, &WatchedRevision::position);
  for (auto& revision : std::ranges::subrange(after_low, std::max(after_low, before_high))) {
    if (is_open(revision) && (best == nullptr || distance(revision) <= distance(*best))) {
      best = &revision;
    }
  }
  return best;
}

struct Choice {
  WatchedRevision* revision = nullptr;
  std::string reason;
};

std::optional<Choice> choose_end(Revisions revisions) {
  if (revisions.empty()) {
    return {};
  }
  // A revision that cannot be built says nothing about the end; its neighbor does.
  const auto newest = std::ranges::find_if(revisions.rbegin(), revisions.rend(), [](const auto& r) {
    return r.progress != Progress::kFailed;
  });
  if (newest != revisions.rend() && is_open(*newest)) {
    return Choice{&*newest, newest == revisions.rbegin() ? "newest" : "newest that may build"};
  }
  const auto oldest = std::ranges::find_if(
      revisions, [](const auto& r) { return r.progress != Progress::kFailed; });
  if (oldest != revisions.end() && is_open(*oldest)) {
    return Choice{&*oldest, "oldest of the horizon"};
  }
  return {};
}

std::optional<Choice> choose_suspicious(Revisions revisions,
                                        const std::vector<Suspicion>& suspicions) {
  for (const auto& suspicion : suspicions) {
    if (auto* middle = find_middle(revisions, suspicion.last_before, suspicion.first_after)) {
      return Choice{middle, "between commits that differ: " + suspicion.reason};
    }
  }
  return {};
}

std::optional<Choice> choose_gap(Revisions revisions, int step) {
  std::int64_t last = -1;
  std::int64_t largest = step;
  Choice choice;
  for (const auto& revision : revisions) {
    if (revision.progress != Progress::kMeasured) {
      continue;
    }
    const auto gap = last < 0 ? 0 : revision.position - last;
    auto* middle =
        gap >= largest && gap > step ? find_middle(revisions, last, revision.position) : nullptr;
    if (middle != nullptr) {
      largest = gap;
      choice = {middle, fmt::format("half of a gap of {} commits", gap)};
    }
    last = revision.position;
  }
  return choice.revision == nullptr ? std::nullopt : std::optional(choice);
}

std::optional<Choice> choose_newest(Revisions revisions, bool WatchedRevision::* needs,
                                    const char* reason) {
  const auto found = std::ranges::find_if(revisions.rbegin(), revisions.rend(), needs);
  return found == revisions.rend() ? std::nullopt : std::optional(Choice{&*found, reason});
}

std::optional<Choice> choose_revision(Revisions revisions, const WatchState& state, int step) {
  auto choice = choose_end(revisions);
  if (!choice) {
    choice = choose_suspicious(revisions, state.suspicions);
  }
  if (!choice) {
    choice = choose_newest(revisions, &WatchedRevision::is_doubtful,
                           "whether a failure or a change of accuracy is there again");
  }
  if (!choice) {
    choice = choose_gap(revisions, step);
  }
  return choice ? choice
                : choose_newest(revisions, &WatchedRevision::needs_second_look, "second look");
}

}  // namespace

std::vector<WatchStep> plan_steps(WatchState state, int step, double most_verification,
                                  std::size_t most) {
  std::vector<WatchStep> steps;
  std::vector<WatchStep> later;
  for (const auto& incident : state.incidents) {
    const bool is_first = state.verification_share <= most_verification;
    (is_first ? steps : later).push_back(step_of(incident));
  }
  while (steps.size() < most) {
    const auto choice = choose_revision(state.revisions, state, step);
    if (!choice) {
      break;
    }
    choice->revision->progress = Progress::kMeasured;
    choice->revision->needs_second_look = false;
    choice->revision->is_doubtful = false;
    steps.push_back({.revision = choice->revision->hash, .reason = choice->reason});
  }
  steps.insert(steps.end(), later.begin(), later.end());
  steps.resize(std::min(steps.size(), most));
  return steps;
}

}  // namespace assay::watch
