#include "assay/cli/progress_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include "assay/base/text.h"
#include "assay/campaign/listener.h"
#include "assay/report/format.h"

namespace assay::cli {
namespace {

constexpr std::int64_t kShownSecondNs = 1'000'000'000;
constexpr int kBarCells = 20;
constexpr std::size_t kLeastStepWidth = 10;

/// "18 s", "3 min 2 s".
std::string text_from_seconds(std::int64_t ns) {
  const auto seconds = ns / kShownSecondNs;
  return seconds < 60 ? fmt::format("{} s", seconds)
                      : fmt::format("{} min {} s", seconds / 60, seconds % 60);
}

bool is_building(const PhaseState& phase) { return phase.name == "artifacts"; }

std::string title_from_phase(const PhaseState& phase) {
  return is_building(phase) ? "building" : phase.name;
}

std::string plural_unit(const PhaseState& phase, int count) {
  if (is_building(phase)) {
    return count == 1 ? phase.unit : "programs and references";
  }
  return count == 1 ? phase.unit : phase.unit == "launch" ? "launches" : phase.unit + "s";
}

std::string count_text(const PhaseState& phase) {
  const auto& [done, total, is_limit, remaining_ns, device] = phase.progress;
  if (is_building(phase)) {
    return fmt::format("{}/{}", done, total);
  }
  if (total == 0) {
    return fmt::format("{} {}", done, plural_unit(phase, done));
  }
  return is_limit ? fmt::format("{} {} of at most {}", done, plural_unit(phase, done), total)
                  : fmt::format("{}/{} {}", done, total, plural_unit(phase, total));
}

/// Empty where the end of the phase is not known.
std::string bar_text(const PhaseProgress& progress) {
  if (progress.total == 0 || progress.is_limit) {
    return {};
  }
  const int filled = std::min(progress.done, progress.total) * kBarCells / progress.total;
  std::string text;
  for (int i = 0; i < kBarCells; ++i) {
    text += i < filled ? "━" : "╌";
  }
  return text + " ";
}

std::string remaining_text(const PhaseProgress& progress) {
  return progress.remaining_ns < 0 ? "" : ", " + text_from_seconds(progress.remaining_ns) + " left";
}

}  // namespace

std::string text_from_phase(const PhaseState& phase) {
  return fmt::format("{} {}{}", title_from_phase(phase), count_text(phase),
                     remaining_text(phase.progress));
}

std::string line_from_phase_start(const PhaseState& phase) {
  const auto& progress = phase.progress;
  const auto where = progress.device.empty() ? "" : fmt::format(" on {}", progress.device);
  if (progress.total == 0) {
    return progress.remaining_ns < 0
               ? ""
               : fmt::format("{}{}: {} for {}", title_from_phase(phase), where,
                             plural_unit(phase, 0), text_from_seconds(progress.remaining_ns));
  }
  const int left = progress.total - progress.done;
  return fmt::format("{}{}: {}{} {}", title_from_phase(phase), where,
                     progress.is_limit ? "at most " : "", left, plural_unit(phase, left));
}

std::string status_line(const PhaseState& phase, std::string_view step, std::size_t width) {
  const auto head = fmt::format("{:<9} {}{}{}", title_from_phase(phase), bar_text(phase.progress),
                                count_text(phase), remaining_text(phase.progress));
  const auto used = report::display_width(head) + 2;
  if (step.empty() || used + kLeastStepWidth > width) {
    return report::shortened(head, width);
  }
  return fmt::format("{}  {}", head, report::shortened(printable(step), width - used));
}

std::string text_from_step(std::string_view label, std::string_view stage,
                           std::int64_t elapsed_ns) {
  std::string text(label);
  if (!stage.empty()) {
    text += fmt::format(", {}", stage);
  }
  return elapsed_ns < kShownSecondNs ? text
                                     : fmt::format("{}, {}", text, text_from_seconds(elapsed_ns));
}

}  // namespace assay::cli
