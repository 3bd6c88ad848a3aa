#include "assay/campaign/job_watch.h"

#include <cstdint>
#include <expected>
#include <fmt/format.h>
#include <limits>
#include <string>

#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/record/spawn.h"
#include "assay/remote/job_folder.h"
#include "assay/remote/job_worker.h"

namespace assay {
namespace {

constexpr int kMissedSigns = 3;
/// A folder that is shared over a network shows a renamed job late.
constexpr std::int64_t kGoneNs = 5'000'000'000;

std::string duration_text(std::int64_t ns) {
  return text_from_duration_ns(static_cast<double>(ns));
}

}  // namespace

JobWatch::JobWatch(const JobWorker& worker, const SpawnLimits& limits, std::int64_t now_ns)
    : worker_(worker), limit_ns_(limits.wall_ns), since_ns_(now_ns), sign_ns_(now_ns) {}

Status JobWatch::check(JobState state, SignOfLife sign, std::int64_t now_ns) {
  if (state != state_) {
    state_ = state;
    since_ns_ = now_ns;
    sign_ns_ = now_ns;
  }
  if (sign != sign_) {
    sign_ = sign;
    sign_ns_ = now_ns;
  }
  // Jobs of others come first: a worker that is at work is not absent.
  const auto waited_ns = now_ns - (state_ == JobState::kOpen ? sign_ns_ : since_ns_);
  if (waited_ns > allowed_ns()) {
    return std::unexpected(loss(waited_ns));
  }
  const bool is_silent = worker_.heartbeat_ns > 0 && state_ == JobState::kClaimed &&
                         now_ns - sign_ns_ > kMissedSigns * worker_.heartbeat_ns;
  return is_silent ? fail(ErrorCode::kCrashed, fmt::format("the worker gave no sign of life for {}",
                                                           duration_text(now_ns - sign_ns_)))
                   : Status();
}

std::int64_t JobWatch::allowed_ns() const {
  switch (state_) {
    case JobState::kOpen:
      return worker_.claimed_within_ns;
    case JobState::kClaimed:
      return limit_ns_ + worker_.answered_within_ns;
    case JobState::kGone:
      return kGoneNs;
    case JobState::kAnswered:
      break;
  }
  return std::numeric_limits<std::int64_t>::max();
}

Error JobWatch::loss(std::int64_t waited_ns) const {
  if (state_ == JobState::kOpen) {
    return {.code = ErrorCode::kUnavailable,
            .message = fmt::format("no worker took a job within {}; start it, then go on with "
                                   "assay run --resume",
                                   duration_text(waited_ns))};
  }
  return {.code = ErrorCode::kCrashed,
          .message = state_ == JobState::kGone
                         ? "the job was removed from the folder before it was answered"
                         : fmt::format("the worker took the job and gave no answer within {}",
                                       duration_text(waited_ns))};
}

}  // namespace assay
