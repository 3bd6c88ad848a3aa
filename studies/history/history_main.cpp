/// How often a history raises a false alarm, and how often it finds a step, on simulated series:
///
///     assay-history-campaign [SERIES] [--check]     a table as JSON
///     assay-history-campaign --export FOLDER SERIES the same series as CSV files, a series a line
///
/// --check: exit code 1 when a rate is worse than docs/results/history.md allows.

#include "features/history/analysis.h"
#include "simulation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <string>
#include <vector>

namespace {

using assay::simulation::Family;
using assay::simulation::SeriesPlan;

constexpr std::size_t kTolerance = 3;
constexpr std::size_t kStepAt = 70;
constexpr auto kSteps = std::to_array<double>({0.01, 0.02, 0.05});
constexpr auto kSeen = std::to_array<std::size_t>({10, 30});

std::uint64_t seed_of(const SeriesPlan& plan, std::size_t number) {
  return 1'000'003 * static_cast<std::uint64_t>(plan.family) + 7'919 * number +
         static_cast<std::uint64_t>(std::lround(plan.step * 1e4)) * 104'729 + plan.commits;
}

assay::history::SeriesAnalysis analyzed(const std::vector<double>& values) {
  const auto series = assay::simulation::series_from(values);
  return assay::history::analyze_series(series, {},
                                        {.position = static_cast<std::int64_t>(values.size()) - 1});
}

struct Tally {
  int series = 0;
  int alarmed = 0;            ///< With any step at the end.
  int found = 0;              ///< With a step where it is, within the tolerance.
  int firm = 0;               ///< Alarmed with a firm one.
  int nominated = 0;          ///< With a nomination at the end.
  int covered = 0;            ///< Found ones whose commit is among the plausible ones,
  std::size_t plausible = 0;  ///< which are so many in all.
};

Tally run(const SeriesPlan& plan, int count) {
  Tally tally{.series = count};
  for (int i = 0; i < count; ++i) {
    const auto analysis = analyzed(simulate(plan, seed_of(plan, static_cast<std::size_t>(i))));
    tally.alarmed += analysis.steps.empty() ? 0 : 1;
    tally.nominated += analysis.nomination ? 1 : 0;
    bool is_found = false;
    bool is_firm = false;
    for (const auto& step : analysis.steps) {
      is_firm |= step.is_firm;
      const bool is_it =
          step.point + kTolerance >= plan.step_at && step.point <= plan.step_at + kTolerance;
      if (is_it && !is_found) {
        is_found = true;
        tally.plausible += step.first_after - step.last_before;
        tally.covered +=
            step.last_before < plan.step_at && plan.step_at <= step.first_after ? 1 : 0;
      }
    }
    tally.found += is_found ? 1 : 0;
    tally.firm += is_firm ? 1 : 0;
  }
  return tally;
}

SeriesPlan without_step(Family family) { return {.family = family, .commits = 100}; }

SeriesPlan with_step(Family family, double step, std::size_t seen) {
  return {.family = family,
          .commits = kStepAt + seen,
          .noise = 0.01,
          .step = std::log1p(step),
          .step_at = kStepAt};
}

std::string percent(int part, int whole) { return fmt::format("{:.1f}", 100.0 * part / whole); }

struct Replay {
  int alarmed = 0;  ///< Series with a step at any time,
  int firm = 0;     ///< and with a firm one.
};

/// Alarms that one would have seen when every commit from the 20th on is looked at when it comes.
Replay replayed(const SeriesPlan& plan, int count) {
  Replay replay;
  for (int i = 0; i < count; ++i) {
    const auto values = simulate(plan, seed_of(plan, static_cast<std::size_t>(i)));
    bool is_alarmed = false;
    bool is_firm = false;
    for (auto end = values.begin() + 20; end <= values.end(); ++end) {
      for (const auto& step : analyzed({values.begin(), end}).steps) {
        is_alarmed = true;
        is_firm |= step.is_firm;
      }
    }
    replay.alarmed += is_alarmed ? 1 : 0;
    replay.firm += is_firm ? 1 : 0;
  }
  return replay;
}

bool print_table(int count, bool has_replay) {
  constexpr std::array<double, 4> kAllowed = {1, 1, 1, 6};
  bool is_good = true;
  for (const auto family : assay::simulation::kFamilies) {
    const auto none = run(without_step(family), count);
    std::string row = fmt::format(
        "{{\"family\": \"{}\", \"series\": {}, \"false\": {}, \"false_firm\": {}, \"nominated\": "
        "{}",
        name_of(family), count, percent(none.alarmed, count), percent(none.firm, count),
        percent(none.nominated, count));
    if (has_replay) {
      const auto replay = replayed(without_step(family), count);
      row += fmt::format(", \"replayed\": {}, \"replayed_firm\": {}",
                         percent(replay.alarmed, count), percent(replay.firm, count));
    }
    for (const double step : kSteps) {
      for (const auto seen : kSeen) {
        const auto tally = run(with_step(family, step, seen), count);
        row += fmt::format(
            ", \"{:.0f} % @{}\": {{\"found\": {}, \"covered\": {}, \"plausible\": {:.1f}}}",
            step * 100, seen, percent(tally.found, count), percent(tally.covered, tally.found),
            static_cast<double>(tally.plausible) / std::max(tally.found, 1));
      }
    }
    fmt::print("{}}}\n", row);
    // Twice as many as allowed, as few series have errors of their own.
    is_good &= none.alarmed <= 2 * kAllowed[static_cast<std::size_t>(family)] * count / 100 + 2;
  }
  return is_good;
}

void export_plan(const std::filesystem::path& folder, const std::string& name,
                 const SeriesPlan& plan, int count) {
  std::ofstream out(folder / (name + ".csv"));
  for (int i = 0; i < count; ++i) {
    const auto values = simulate(plan, seed_of(plan, static_cast<std::size_t>(i)));
    out << fmt::format("{}\n", fmt::join(values, ","));
  }
}

void export_all(const std::filesystem::path& folder, int count) {
  std::filesystem::create_directories(folder);
  for (const auto family : assay::simulation::kFamilies) {
    const std::string name(name_of(family));
    export_plan(folder, name, without_step(family), count);
    for (const double step : kSteps) {
      for (const auto seen : kSeen) {
        export_plan(folder, fmt::format("{} {:.0f} % @{}", name, step * 100, seen),
                    with_step(family, step, seen), count);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.size() == 3 && arguments[0] == "--export") {
      export_all(arguments[1], std::stoi(arguments[2]));
      return 0;
    }
    const int count = arguments.empty() ? 1000 : std::stoi(arguments[0]);
    const bool is_check = arguments.size() > 1 && arguments[1] == "--check";
    return print_table(count, !is_check) || !is_check ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
