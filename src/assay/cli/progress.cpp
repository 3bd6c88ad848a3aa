#include "assay/cli/progress.h"

#include <algorithm>
#include <asm-generic/ioctls.h>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include "assay/base/enum_names.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/text.h"
#include "assay/cli/interrupt.h"
#include "assay/record/axes.h"

namespace assay::cli {
namespace {

std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

std::string text_from_remaining(std::int64_t ns) {
  const auto seconds = ns / 1'000'000'000;
  return seconds < 60 ? fmt::format("{} s left", seconds)
                      : fmt::format("{} min {} s left", seconds / 60, seconds % 60);
}

std::string bar(int done, int total) {
  constexpr int kCells = 20;
  const int filled = total == 0 ? kCells : done * kCells / total;
  std::string text;
  for (int i = 0; i < kCells; ++i) {
    text += i < filled ? "━" : "╌";
  }
  return text;
}

}  // namespace

Progress::Progress(bool is_quiet)
    : is_quiet_(is_quiet), is_terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear_line(); }

void Progress::on_phase(std::string_view name, int total) {
  phase_ = name;
  total_ = total;
  done_ = 0;
  remaining_ns_ = -1;
  running_.clear();
  show_line();
}

void Progress::on_step_started(std::string_view label) {
  running_ = label;
  show_line();
}

void Progress::on_step_finished(std::string_view label, Outcome outcome, std::string_view text,
                                std::int64_t remaining_ns) {
  ++done_;
  remaining_ns_ = remaining_ns;
  const bool is_bad = outcome != Outcome::kCompleted;
  if (!is_quiet_ && (is_bad || !is_terminal_)) {
    clear_line();
    log_line(LogLevel::kInfo, fmt::format("{} {}/{} {}{}{}{}", phase_, done_, total_, label,
                                          is_bad ? fmt::format(": {}", name_of(outcome)) : "",
                                          text.empty() ? "" : ": ", text));
  }
  show_line();
}

void Progress::on_note(std::string_view text) {
  clear_line();
  log_line(LogLevel::kInfo, fmt::format("note: {}", text));
  show_line();
}

bool Progress::should_stop() { return is_interrupted(); }

void Progress::show_line() {
  if (is_quiet_ || !is_terminal_ || total_ == 0) {
    return;
  }
  auto line = fmt::format("{:<9} {} {}/{} {}{}", phase_, bar(done_, total_), done_, total_,
                          remaining_ns_ < 0 ? "" : text_from_remaining(remaining_ns_) + "  ",
                          printable(running_));
  // The bar's 20 cells take three bytes each; the rest is one byte a column.
  line.resize(std::min(line.size(), terminal_width() - 1 + 40));
  write_stderr("\r\033[K" + line);
}

void Progress::clear_line() {
  if (!is_quiet_ && is_terminal_) {
    write_stderr("\r\033[K");
  }
}

}  // namespace assay::cli
