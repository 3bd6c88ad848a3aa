#include "assay/campaign/attempts.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/campaign/launch_schedule.h"
#include "assay/campaign/preparation.h"
#include "assay/campaign/stopping.h"
#include "assay/record/axes.h"
#include "assay/record/conclusion.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

/// Looks at a launch or at an attempt.
template <class Record>
bool has_lost_device(const Record& record) {
  return record.outcome == Outcome::kHarnessError && record.reason_code == kDeviceLost;
}

}  // namespace

Status lease_attempt(Attempt& attempt, std::int64_t longest_ns, ResultStore& store) {
  constexpr std::int64_t kHourNs = 3'600'000'000'000;
  constexpr std::int64_t kMarginNs = kHourNs / 6;
  constexpr std::int64_t kMostNs = std::int64_t{366} * 24 * kHourNs;
  const auto end_ns = unix_time_ns() + std::clamp<std::int64_t>(longest_ns, 0, kMostNs);
  if (attempt.lease_until_unix_ns >= end_ns) {
    return {};
  }
  attempt.lease_until_unix_ns = end_ns + kMarginNs;
  return store.put_attempt(attempt);
}

Attempts::Key Attempts::key_of(const Attempt& attempt) {
  return {attempt.case_key, attempt.subject, attempt.device, attempt.pass, attempt.n};
}

Attempt Attempts::wanted(const PreparedCase& prepared, Pass pass) const {
  return {.run = scope_.run,
          .case_key = prepared.key,
          .subject = prepared.subject_digest,
          .artifact = prepared.artifact_id,
          .device = prepared.cell.device,
          .pass = pass,
          .worker = scope_.worker,
          .n = scope_.n};
}

AttemptState& Attempts::keep(AttemptState state) {
  auto& kept = states_.emplace_back(std::move(state));
  by_key_[key_of(kept.attempt)] = &kept;
  return kept;
}

Status Attempts::read() {
  ASSAY_ASSIGN_OR_RETURN(const auto attempts, store_.attempts_of_run(scope_.run));
  for (const auto& attempt : attempts) {
    ASSAY_ASSIGN_OR_RETURN(const auto launches, store_.launches_of_attempt(attempt.id));
    skip_order(launches);
    if (attempt.device != scope_.device) {
      continue;
    }
    auto& state = keep({.attempt = attempt, .launches = static_cast<int>(launches.size())});
    for (const auto& launch : launches) {
      count(launch, state);
      state.lost += has_lost_device(launch) ? 1 : 0;
    }
    ASSAY_RETURN_IF_ERROR(reopen(state));
    ASSAY_RETURN_IF_ERROR(settle(state, launches));
  }
  return {};
}

void Attempts::skip_order(const std::vector<Launch>& launches) {
  for (const auto& launch : launches) {
    int next = order_->load();
    while (next <= launch.order && !order_->compare_exchange_weak(next, launch.order + 1)) {
    }
  }
}

void Attempts::count(const Launch& launch, AttemptState& state) const {
  state.last_wall_ns = launch.end.wall_ns;
  state.spent_ns += launch.end.wall_ns;
  if (launch.measurement) {
    state.levels.push_back(level_of(*launch.measurement));
  }
  if (plan_.adapts_iterations) {
    state.pilot.add(launch);
  }
}

Status Attempts::reopen(AttemptState& state) {
  if (!state.attempt.is_finished || !has_lost_device(state.attempt)) {
    return {};
  }
  state.attempt.is_finished = false;
  set_conclusion(state.attempt, conclusion_from(Attempt()));
  return store_.put_attempt(state.attempt);
}

Status Attempts::settle(AttemptState& state, const std::vector<Launch>& launches) {
  if (state.attempt.is_finished || launches.empty()) {
    return {};
  }
  const auto& last = launches.back();
  if (has_lost_device(last)) {
    return {};
  }
  if (last.outcome != Outcome::kCompleted) {
    return finish(state, conclusion_from(last));
  }
  // Outputs are judged as they come and are not stored: an evaluation is done again.
  const bool is_enough = state.attempt.pass == Pass::kTiming
                             ? has_enough(state)
                             : state.attempt.pass != Pass::kEvaluate;
  return is_enough ? finish(state, Conclusion::completed()) : Status();
}

AttemptState* Attempts::find(const PreparedCase& prepared, Pass pass) const {
  const auto found = by_key_.find(key_of(wanted(prepared, pass)));
  return found == by_key_.end() ? nullptr : found->second;
}

Result<AttemptState*> Attempts::find_or_begin(const PreparedCase& prepared, Pass pass) {
  if (auto* found = find(prepared, pass)) {
    return found;
  }
  auto attempt = wanted(prepared, pass);
  attempt.id = make_uuid7();
  // A process that removes a run may have taken with it what this one was not using yet.
  ASSAY_RETURN_IF_ERROR(store_subject(store_, prepared));
  ASSAY_RETURN_IF_ERROR(store_.put_attempt(attempt));
  return &keep({.attempt = std::move(attempt)});
}

Status Attempts::lease(AttemptState& state, std::int64_t longest_ns) {
  return lease_attempt(state.attempt, longest_ns, store_);
}

Status Attempts::release() {
  for (auto& state : states_) {
    if (!state.attempt.is_finished && state.attempt.lease_until_unix_ns != 0) {
      state.attempt.lease_until_unix_ns = 0;
      ASSAY_RETURN_IF_ERROR(store_.put_attempt(state.attempt));
    }
  }
  return {};
}

Status Attempts::add_launch(AttemptState& state, Launch& launch) {
  launch.attempt = state.attempt.id;
  launch.index = state.launches++;
  launch.order = (*order_)++;
  count(launch, state);
  auto added = store_.add_launch(launch);
  if (!added && added.error().code == ErrorCode::kInvalidArgument) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("another process works on run {0}, too ({1}); when it has ended, go on "
                            "with: assay run --resume {0}",
                            scope_.run, added.error().message));
  }
  return added;
}

Status Attempts::finish(AttemptState& state, Conclusion conclusion) {
  state.attempt.is_finished = true;
  state.attempt.lease_until_unix_ns = 0;
  set_conclusion(state.attempt, std::move(conclusion));
  return store_.put_attempt(state.attempt);
}

bool Attempts::is_open(const PreparedCase& prepared, const ScheduledLaunch& step) const {
  const auto* state = find(prepared, step.pass);
  return state == nullptr ||
         (!state->attempt.is_finished &&
          (step.pass != Pass::kTiming || step.index >= state->launches - state->lost));
}

bool Attempts::has_enough(const AttemptState& state) const {
  return has_enough_launches(plan_, state.levels, state.spent_ns);
}

}  // namespace assay
