#include "assay/campaign/launcher.h"

#include <expected>
#include <fmt/format.h>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/error_code_names.h"  // IWYU pragma: keep
#include "assay/base/result.h"
#include "assay/campaign/attempts.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/launch_target.h"
#include "assay/campaign/program_watch.h"
#include "assay/campaign/remote_target.h"
#include "assay/record/axes.h"
#include "assay/record/conclusion.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

constexpr int kTries = 2;
constexpr int kTriesOverLink = 5;
constexpr int kMostLosses = 3;

/// The target is alive and says why it did not run this.
LaunchResult refused_launch(const Error& error) {
  if (error.code == ErrorCode::kTimeout) {
    // It waited for its device to be ready, such as cool; a process that takes too long is told in
    // another way.
    return failed_launch({.outcome = Outcome::kSkipped,
                          .stage = Stage::kStart,
                          .reason_code = kDeviceNotReady,
                          .text = error.message});
  }
  return failed_launch({.outcome = outcome_from_error(error.code, Stage::kStart),
                        .stage = Stage::kStart,
                        .reason_code = std::string(name_of(error.code)),
                        .text = error.message});
}

/// No case is at fault, and the next one would find nothing either. The message says what ran out
/// and how to get more: space for files, or processes.
std::unexpected<Error> nothing_left(Error error) {
  error.message += "; then resume with assay run --resume";
  return std::unexpected(std::move(error));
}

Conclusion program_changed(std::string change) {
  return {.outcome = Outcome::kHarnessError,
          .stage = Stage::kLoad,
          .reason_code = "program_changed",
          .text = std::move(change)};
}

/// Looks at the program of a launch, and at its companions.
std::string find_change(ProgramWatch& watch, const LaunchRequest& request,
                        std::string (ProgramWatch::*find)(const Artifact&)) {
  auto change = (watch.*find)(request.artifact);
  for (const auto& neighbor : request.beside) {
    change = change.empty() ? (watch.*find)(neighbor.artifact) : change;
  }
  return change;
}

}  // namespace

Result<LaunchResult> Launcher::run(const LaunchRequest& request) {
  if (auto change = find_change(watch_, request, &ProgramWatch::find_change); !change.empty()) {
    return failed_launch(program_changed(std::move(change)));
  }
  ASSAY_ASSIGN_OR_RETURN(auto result, run_on_target(request));
  if (auto change = find_change(watch_, request, &ProgramWatch::find_change_by_launch);
      !change.empty()) {
    set_conclusion(result.launch, program_changed(std::move(change)));
  }
  return result;
}

Status Launcher::expect(const std::function<Result<std::vector<LaunchRequest>>()>& upcoming) {
  ASSAY_RETURN_IF_ERROR(check_losses());
  ASSAY_ASSIGN_OR_RETURN(auto* const connected, target());
  if (connected->has_queue()) {
    ASSAY_ASSIGN_OR_RETURN(const auto requests, upcoming());
    connected->expect(requests);
  }
  return {};
}

Result<LaunchTarget*> Launcher::target() {
  if (!target_) {
    ASSAY_ASSIGN_OR_RETURN(target_, tools_->connect_target());
  }
  return target_.get();
}

Result<LaunchResult> Launcher::run_on_target(const LaunchRequest& request) {
  ASSAY_RETURN_IF_ERROR(check_losses());
  Error loss;
  bool has_link = false;
  int tries = 0;
  while (tries < (has_link ? kTriesOverLink : kTries)) {
    ++tries;
    ASSAY_ASSIGN_OR_RETURN(auto* const connected, has_link ? target_after(loss) : target());
    has_link = connected->has_link();
    auto result = connected->run(request);
    if (result) {
      losses_ = 0;
      return result;
    }
    if (result.error().code == ErrorCode::kTimeout && tools_->listener.should_stop()) {
      return result;
    }
    if (result.error().code == ErrorCode::kExhausted) {
      return nothing_left(std::move(result).error());
    }
    if (connected->is_alive()) {
      return refused_launch(result.error());
    }
    target_.reset();
    loss = std::move(result).error();
    if (tools_->listener.should_stop()) {
      return fail(ErrorCode::kTimeout, "stopped; " + loss.message);
    }
    if (has_link) {
      tell_loss(loss, tries);
    }
  }
  ++losses_;
  is_device_lost_ = has_link;
  last_loss_ = fmt::format("'{}' with '{}': {}", request.build.reference(), request.artifact.entry,
                           loss.message);
  return failed_launch(
      {.outcome = has_link ? Outcome::kHarnessError : Outcome::kCrashed,
       .stage = Stage::kStart,
       .reason_code = has_link ? std::string(kDeviceLost) : "agent_lost",
       .text = fmt::format("the agent was lost {} times while this ran: {}", tries, loss.message)});
}

/// Tells of it before the wait for the device, which may take minutes.
void Launcher::tell_loss(const Error& loss, int tries) const {
  const auto next =
      tries < kTriesOverLink
          ? fmt::format("waiting for it to come back, then try {} of {}", tries + 1, kTriesOverLink)
          : "this launch is given up";
  tools_->listener.on_note(fmt::format("lost device '{}': {}; {}", device_, loss.message, next));
}

Result<LaunchTarget*> Launcher::target_after(const Error& loss) {
  auto found = target();
  if (!found && !tools_->listener.should_stop()) {
    return fail(found.error().code,
                fmt::format("device '{}' was lost and did not come back: {} (the loss: {})",
                            device_, found.error().message, loss.message));
  }
  return found;
}

Status Launcher::check_losses() const {
  if (losses_ < kMostLosses) {
    return {};
  }
  return fail(ErrorCode::kUnavailable,
              fmt::format("{} launches in a row lost their agent, the last of them {}; exclude "
                          "that case or check the device, then resume with assay run --resume",
                          losses_, last_loss_));
}

Status Launcher::check_end() const {
  if (losses_ == 0 || !is_device_lost_) {
    return {};
  }
  return fail(ErrorCode::kUnavailable,
              fmt::format("device '{}' was lost at the end, {}; exclude that case or check the "
                          "device, then resume with assay run --resume",
                          device_, last_loss_));
}

}  // namespace assay
