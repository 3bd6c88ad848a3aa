#include "assay/summary/scenario_notes.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/record/case.h"
#include "assay/record/launch.h"
#include "assay/record/scenario.h"

namespace assay {
namespace {

constexpr double kColdRatio = 0.05;  ///< Share of pages that a read of the header alone brings in.

/// Threads of the option in effect, where an engine tells it.
std::optional<int> threads_in_effect(const Launch& launch) {
  if (!launch.load) {
    return std::nullopt;
  }
  const auto threads = launch.load->effective_options.find("threads");
  return threads != launch.load->effective_options.end() && threads->is_number_integer()
             ? std::optional(threads->get<int>())
             : std::nullopt;
}

/// True if the launch tells how many threads computed, with nothing else that changes their number.
bool tells_threads(const Launch& launch) {
  const auto& measured = launch.measurement;
  return threads_in_effect(launch) && measured && measured->busy_threads &&
         measured->streams <= 1 && measured->gap_ns <= 0;
}

/// Counts what runs, whatever an option promises. One launch proves nothing: a helper that starts
/// late, as on a busy machine, looks like a worker in it.
std::string note_of_threads(const Case& cell, std::span<const Launch> launches) {
  const auto differs = [](const Launch& launch) {
    return tells_threads(launch) && launch.measurement->busy_threads != threads_in_effect(launch);
  };
  const auto differing = std::ranges::count_if(launches, differs);
  if (2 * differing <= std::ranges::count_if(launches, tells_threads)) {
    return {};
  }
  const auto& launch = *std::ranges::find_if(launches, differs);
  const int busy = launch.measurement ? launch.measurement->busy_threads.value_or(0) : 0;
  const int promised = threads_in_effect(launch).value_or(0);
  const auto computed = fmt::format("{} thread{} computed", busy, busy == 1 ? "" : "s");
  return cell.options.contains("threads")
             ? fmt::format("{}, where {} {} asked for", computed, promised,
                           promised == 1 ? "was" : "were")
             : fmt::format("{}, where the engine's default is {}", computed, promised);
}

std::string note_of_page_cache(std::span<const Launch> launches) {
  double most = 0;
  for (const auto& launch : launches) {
    most = std::max(most, launch.before.cached_ratio.value_or(0));
  }
  return most <= kColdRatio ? ""
                            : fmt::format(
                                  "up to {:.0f} % of the program's files were in the page cache "
                                  "although it should be cold; another process keeps them there",
                                  most * 100);
}

}  // namespace

std::vector<std::string> notes_of_scenario(const Case& cell, std::span<const Launch> launches) {
  std::vector<std::string> notes;
  const auto add = [&notes](std::string note) {
    if (!note.empty()) {
      notes.push_back(std::move(note));
    }
  };
  add(note_of_threads(cell, launches));
  if (cell.scenario.get<Scenario>().page_cache == "cold") {
    add(note_of_page_cache(launches));
  }
  return notes;
}

}  // namespace assay
