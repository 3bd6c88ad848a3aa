#include "features/engine_check/leak_judgement.h"

#include "features/engine_check/checks.h"

#include <cstddef>
#include <fmt/format.h>
#include <optional>
#include <span>

#include "assay/record/summary.h"

namespace assay {

std::optional<Found> judge_leaks(std::span<const LeakFinding> processes) {
  constexpr std::size_t kEnough = 2;
  const auto& first = processes.front();
  const auto& last = processes.back();
  if (last.verdict == LeakVerdict::kLeak && processes.size() < kEnough) {
    return std::nullopt;
  }
  if (last.verdict == LeakVerdict::kLeak) {
    return failed(fmt::format("{}; in another process: {}", first.text, last.text));
  }
  if (processes.size() > 1) {
    return skipped(fmt::format(
        "cannot tell: one process {}, and another one: {}; check again with more --loads, on a "
        "quiet machine",
        first.text, last.text));
  }
  return last.verdict == LeakVerdict::kNone ? passed(last.text) : skipped(last.text);
}

}  // namespace assay
