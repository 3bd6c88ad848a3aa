#include "assay/campaign/launcher.h"

#include <fmt/format.h>
#include <string>
#include <utility>

#include "assay/base/enum_names.h"
#include "assay/base/error_code_names.h"  // IWYU pragma: keep
#include "assay/base/result.h"
#include "assay/campaign/launch_order.h"
#include "assay/record/axes.h"
#include "assay/supervise/agent_client.h"

namespace assay {
namespace {

constexpr int kTries = 2;
constexpr int kMostLosses = 3;

/// The agent lives and says why it did not run this.
LaunchYield refused_launch(const Error& error) {
  return failed_launch(outcome_from_error(error.code, Stage::kStart), Stage::kStart,
                       std::string(name_of(error.code)), error.message);
}

void mark_changed(std::string change, LaunchYield& yield) {
  yield.launch.outcome = Outcome::kHarnessError;
  yield.launch.stage = Stage::kLoad;
  yield.launch.reason_code = "program_changed";
  yield.launch.text = std::move(change);
}

}  // namespace

Result<LaunchYield> Launcher::run(const LaunchOrder& order) {
  if (auto change = watch_.find_change(order.artifact); !change.empty()) {
    return failed_launch(Outcome::kHarnessError, Stage::kLoad, "program_changed", change);
  }
  ASSAY_ASSIGN_OR_RETURN(auto yield, run_with_agent(order));
  if (auto change = watch_.find_change(order.artifact); !change.empty()) {
    mark_changed(std::move(change), yield);
  }
  return yield;
}

Result<LaunchYield> Launcher::run_with_agent(const LaunchOrder& order) {
  ASSAY_RETURN_IF_ERROR(check_losses());
  Error loss;
  for (int i = 0; i < kTries; ++i) {
    if (!agent_) {
      ASSAY_ASSIGN_OR_RETURN(agent_, tools_->connect_agent());
    }
    auto yield = run_launch(*agent_, order);
    if (yield) {
      losses_ = 0;
      return yield;
    }
    if (agent_->conditions()) {  // It still answers.
      return refused_launch(yield.error());
    }
    agent_.reset();
    loss = std::move(yield).error();
    if (tools_->listener.should_stop()) {
      return fail(ErrorCode::kTimeout, "stopped; " + loss.message);
    }
  }
  ++losses_;
  last_loss_ = fmt::format("'{}' with '{}': {}", order.build.reference(), order.artifact.entry,
                           loss.message);
  return failed_launch(
      Outcome::kCrashed, Stage::kStart, "agent_lost",
      fmt::format("the agent was lost {} times while this ran: {}", kTries, loss.message));
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

}  // namespace assay
