#include "assay/cli/progress.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "assay/base/clock.h"
#include "assay/base/enum_names.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/campaign/listener.h"
#include "assay/cli/interrupt.h"
#include "assay/cli/progress_text.h"
#include "assay/cli/terminal.h"
#include "assay/record/axes.h"

namespace assay::cli {
namespace {

constexpr std::int64_t kLogIntervalNs = 60'000'000'000;
constexpr std::int64_t kRefreshNs = 1'000'000'000;
constexpr int kUsualWidth = 80;

}  // namespace

Progress::Progress(bool is_quiet, Reasons reasons)
    : is_quiet_(is_quiet), is_terminal_(can_redraw(STDERR_FILENO)), reasons_(reasons) {}

Progress::~Progress() { clear_line(); }

void Progress::on_phase(std::string_view name, std::string_view unit,
                        const PhaseProgress& progress) {
  phase_ = {.name = std::string(name), .unit = std::string(unit), .progress = progress};
  running_.clear();
  logged_ns_ = monotonic_ns();
  const auto line = line_from_phase_start(phase_);
  if (!is_quiet_ && !is_terminal_ && !line.empty()) {
    log_line(LogLevel::kInfo, line);
  }
  show_line();
}

void Progress::on_progress(const PhaseProgress& progress) {
  phase_.progress = progress;
  log_each_minute();
  show_line();
}

void Progress::on_step_started(std::string_view label, std::string_view stage) {
  const auto found = std::ranges::find(running_, label, &RunningStep::label);
  RunningStep step{.label = std::string(label),
                   .stage = std::string(stage),
                   .start_ns = found == running_.end() ? monotonic_ns() : found->start_ns};
  if (found != running_.end()) {
    running_.erase(found);
  }
  running_.push_back(std::move(step));
  show_line();
}

void Progress::on_step_finished(std::string_view label, Outcome outcome, std::string_view text) {
  std::erase_if(running_, [label](const RunningStep& step) { return step.label == label; });
  const auto reason = reasons_ == Reasons::kHere ? text : std::string_view();
  const bool is_told = is_quiet_ || outcome == Outcome::kCompleted;
  if (!is_told && told_.emplace(label, reason).second) {
    clear_line();
    log_line(LogLevel::kInfo, fmt::format("{}: {} {}{}{}", phase_.name, label, name_of(outcome),
                                          reason.empty() ? "" : ": ", reason));
  }
}

void Progress::on_wait() {
  log_each_minute();
  if (monotonic_ns() - shown_ns_ >= kRefreshNs) {
    show_line();
  }
}

void Progress::on_note(std::string_view text) {
  clear_line();
  log_line(LogLevel::kInfo, fmt::format("note: {}", text));
  show_line();
}

bool Progress::should_stop() { return is_interrupted(); }

/// A log of which the last line is old would look like a program that hangs.
void Progress::log_each_minute() {
  if (is_quiet_ || is_terminal_ || monotonic_ns() - logged_ns_ < kLogIntervalNs) {
    return;
  }
  logged_ns_ = monotonic_ns();
  const auto running = running_text();
  log_line(LogLevel::kInfo,
           text_from_phase(phase_) + (running.empty() ? "" : fmt::format(": {}", running)));
}

/// Only the making of artifacts shows a time that runs: a timed launch is left alone.
std::string Progress::running_text() const {
  if (running_.empty()) {
    return {};
  }
  const auto& step = running_.back();
  return text_from_step(step.label, step.stage,
                        step.stage.empty() ? 0 : monotonic_ns() - step.start_ns);
}

void Progress::show_line() {
  const bool is_empty = phase_.progress.total == 0 && phase_.progress.remaining_ns < 0;
  if (is_quiet_ || !is_terminal_ || is_empty) {
    return;
  }
  shown_ns_ = monotonic_ns();
  const auto width = terminal_width_columns(STDERR_FILENO).value_or(kUsualWidth);
  write_stderr("\r\033[K" +
               status_line(phase_, running_text(), static_cast<std::size_t>(width) - 1));
}

void Progress::clear_line() {
  if (!is_quiet_ && is_terminal_) {
    write_stderr("\r\033[K");
  }
}

}  // namespace assay::cli
