// How often `assay compare` is wrong, and how often it finds what is there.
//
//     assay-validation-judge POOLS.json [--trials 1000] [--trials-alike N] [--seed 1] [--check]
//     assay-validation-judge POOLS.json --once 0.5
//
// Draws comparisons from recorded pairs of real launches (pool.h, trials.h) and prints counts as
// JSON, shares with Clopper-Pearson intervals at 95 %. --check exits 1 when a share is worse than
// its goal by more than chance, of those that are the rules' doing and not the machine's: nothing
// differs, or an effect stands out of the recorded pairs by far. --once judges each cell as it was
// recorded, one comparison in which so many per cent matter.
#include "pool.h"
#include "trials.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <functional>
#include <future>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/stats/looks.h"
#include "assay/stats/proportion.h"

namespace assay::validation {
namespace {

struct Options {
  std::string pools;
  int trials = 1000;
  int trials_alike = 0;  ///< Trials of cells in which nothing differs; 0: `trials`.
  std::uint64_t seed = 1;
  bool is_checked = false;
  double once_percent = 0;
};

Json share_json(int count, int trials) {
  const auto interval = stats::clopper_pearson(count, trials);
  return {{"count", count},
          {"share", static_cast<double>(count) / trials},
          {"low", interval.low},
          {"high", interval.high}};
}

Json json_from(const Sequential& tally, int trials) {
  const auto count = [&tally](stats::PairVerdict verdict) {
    const auto found = tally.verdicts.find(verdict);
    return found == tally.verdicts.end() ? 0 : found->second;
  };
  Json verdicts = Json::object();
  for (const auto& [verdict, name] : kEnumNames<stats::PairVerdict>) {
    verdicts[std::string(name)] = share_json(count(verdict), trials);
  }
  const int different = count(stats::PairVerdict::kSlower) + count(stats::PairVerdict::kFaster);
  return {{"gate", tally.gate_ratio},
          {"verdicts", verdicts},
          {"different", share_json(different, trials)},
          {"confirmed", share_json(tally.confirmed, trials)},
          {"rejected", share_json(tally.rejected, trials)},
          {"rejected_right", share_json(tally.rejected_right, trials)},
          {"pairs", tally.pairs}};
}

Json json_from(const CellResult& result) {
  Json document = {{"workload", result.cell->workload},
                   {"state", result.cell->state},
                   {"effect", result.cell->effect},
                   {"blocks", result.cell->blocks.size()},
                   {"trials", result.trials},
                   {"truth", result.truth},
                   {"clarity", result.clarity},
                   {"sequential", Json::array()},
                   {"fixed", Json::array()}};
  for (const auto& tally : result.sequential) {
    document["sequential"].push_back(json_from(tally, result.trials));
  }
  for (const auto& tally : result.fixed) {
    document["fixed"].push_back(
        {{"pairs", tally.pairs},
         {"rejected", share_json(tally.rejected, result.trials)},
         {"rejected_right", share_json(tally.rejected_right, result.trials)},
         {"covered", share_json(tally.covered, result.trials)}});
  }
  return document;
}

/// Least share of trials in which an effect is rejected in its direction within 40 pairs, with
/// --min-effect 0.5.
double power_goal(double effect) {
  if (effect < 0.015) {
    return 0.85;
  }
  return effect < 0.035 ? 0.97 : 0.995;
}

constexpr double kMostDifferent = 0.01;
constexpr double kMostConfirmed = 0.0005;
constexpr double kLeastCovered = 0.94;

/// How often alike programs are confirmed as different, over all cells: a single event of a short
/// run would be more than this goal in its cell.
std::vector<std::string> find_misses_of_all(const Json& cells) {
  int confirmed = 0;
  int trials = 0;
  for (const auto& cell : cells) {
    if (cell.at("effect") == 0.0) {
      confirmed += cell.at("sequential").at(0).at("confirmed").at("count").get<int>();
      trials += cell.at("trials").get<int>();
    }
  }
  if (trials == 0 || stats::clopper_pearson(confirmed, trials).low <= kMostConfirmed) {
    return {};
  }
  return {fmt::format("alike in all cells: confirmed as different in {} of {} trials, goal {} %",
                      confirmed, trials, kMostConfirmed * 100)};
}

/// Lists results that miss their goal by more than chance; empty when all is well.
std::vector<std::string> find_misses(const Json& cell) {
  std::vector<std::string> misses;
  const auto name =
      fmt::format("{}, {}, {:+.0f} %", cell.at("workload").get<std::string>(),
                  cell.at("state").get<std::string>(), cell.at("effect").get<double>() * 100);
  const auto at_most = [&](const Json& share, double goal, const char* what) {
    if (share.at("low").get<double>() > goal) {
      misses.push_back(fmt::format("{}: {} in {:.2f} % of trials, goal {} %", name, what,
                                   share.at("share").get<double>() * 100, goal * 100));
    }
  };
  const auto at_least = [&](const Json& share, double goal, const char* what) {
    if (share.at("high").get<double>() < goal) {
      misses.push_back(fmt::format("{}: {} in {:.1f} % of trials, goal {} %", name, what,
                                   share.at("share").get<double>() * 100, goal * 100));
    }
  };
  const double effect = cell.at("effect");
  if (effect == 0) {
    at_most(cell.at("sequential").at(0).at("different"), kMostDifferent, "called different");
    for (const auto& fixed : cell.at("fixed")) {
      at_least(fixed.at("covered"), kLeastCovered, "truth inside the interval");
    }
  } else {
    at_least(cell.at("sequential").at(1).at("rejected_right"), power_goal(effect), "found");
  }
  return misses;
}

/// True if a miss here is a fault of the rules: noise may hide an effect, but none of ten standard
/// errors.
bool is_checkable(const Json& cell) {
  constexpr double kClear = 10;
  return cell.at("effect") == 0.0 || cell.at("clarity").get<double>() >= kClear;
}

Json answers_as_recorded(const std::vector<Cell>& cells, const Options& options) {
  Json answers = Json::array();
  for (const auto& cell : cells) {
    const auto answer = judge_as_recorded(cell, options.once_percent / 100, options.seed);
    answers.push_back({{"workload", cell.workload},
                       {"state", cell.state},
                       {"verdict", answer.verdict},
                       {"pairs", answer.pairs},
                       {"ratio", answer.ratio},
                       {"low", answer.low},
                       {"high", answer.high}});
  }
  return answers;
}

Result<int> run(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto cells, read_pools(options.pools));
  if (options.once_percent > 0) {
    fmt::print("{}\n", answers_as_recorded(cells, options).dump());
    return 0;
  }
  std::vector<std::future<CellResult>> running;
  std::uint64_t seed = options.seed;
  running.reserve(cells.size());
  for (const auto& cell : cells) {
    const bool has_more = cell.effect == 0 && options.trials_alike > 0;
    const int trials = has_more ? options.trials_alike : options.trials;
    running.push_back(std::async(std::launch::async, run_trials, std::cref(cell), trials, seed++));
  }
  Json document = {{"schema", "assay/validation-results/1"}, {"cells", Json::array()}};
  std::vector<std::string> misses;
  bool is_wrong = false;
  for (auto& result : running) {
    const auto& cell = document["cells"].emplace_back(json_from(result.get()));
    const auto more = find_misses(cell);
    is_wrong = is_wrong || (!more.empty() && is_checkable(cell));
    misses.insert(misses.end(), more.begin(), more.end());
  }
  const auto of_all = find_misses_of_all(document.at("cells"));
  is_wrong = is_wrong || !of_all.empty();
  misses.insert(misses.end(), of_all.begin(), of_all.end());
  document["misses"] = misses;
  fmt::print("{}\n", document.dump());
  for (const auto& miss : misses) {
    fmt::print(stderr, "{}\n", miss);
  }
  return options.is_checked && is_wrong ? 1 : 0;
}

int judge(int argc, char** argv) {
  Options options;
  CLI::App app("How often assay compare is wrong, from recorded pairs");
  app.add_option("pools", options.pools)->required();
  app.add_option("--trials", options.trials)->capture_default_str()->check(CLI::Range(1, 100000));
  app.add_option("--trials-alike", options.trials_alike)->check(CLI::Range(1, 100000));
  app.add_option("--seed", options.seed)->capture_default_str();
  app.add_option("--once", options.once_percent)->check(CLI::Range(0.01, 100.0));
  app.add_flag("--check", options.is_checked);
  CLI11_PARSE(app, argc, argv);
  const auto code = run(options);
  if (!code) {
    fmt::print(stderr, "assay-validation-judge: {}\n", code.error().message);
  }
  return code ? *code : 2;
}

}  // namespace
}  // namespace assay::validation

int main(int argc, char** argv) {
  try {
    return assay::validation::judge(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "assay-validation-judge: %s\n", error.what());
    return 4;
  }
}
