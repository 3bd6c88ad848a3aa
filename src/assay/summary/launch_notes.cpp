#include "assay/summary/launch_notes.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <string>
#include <vector>

#include "assay/record/launch.h"
#include "assay/record/sandbox.h"

namespace assay {
namespace {

std::string note_of_sandbox(const SandboxReport& report) {
  auto note = fmt::format("sandbox: {}", report.enforced.empty()
                                             ? "nothing"
                                             : fmt::format("{}", fmt::join(report.enforced, ", ")));
  if (!report.missing.empty()) {
    note += fmt::format("; not enforced: {}", fmt::join(report.missing, ", "));
  }
  return note;
}

}  // namespace

std::vector<std::string> notes_from_processes(std::span<const Launch> launches) {
  std::vector<std::string> notes;
  for (const auto& launch : launches) {
    if (launch.end.sandbox) {
      auto note = note_of_sandbox(*launch.end.sandbox);
      if (std::ranges::find(notes, note) == notes.end()) {
        notes.push_back(std::move(note));
      }
    }
  }
  const auto most = std::ranges::max_element(
      launches, {}, [](const Launch& launch) { return launch.end.left_processes; });
  if (most != launches.end() && most->end.left_processes > 0) {
    const int count = most->end.left_processes;
    notes.push_back(fmt::format("a launch left {} process{} running, which {} ended", count,
                                count == 1 ? "" : "es", count == 1 ? "was" : "were"));
  }
  return notes;
}

}  // namespace assay
