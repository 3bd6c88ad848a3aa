/// How often a search for a culprit is right, and what it costs, among 256 commits:
///
///     assay-bisection-campaign [SEARCHES] [--check]
///
/// Noise of pairs: Student's t with three degrees of freedom, a robust standard deviation of 0.8 or
/// 1.9 %; one batch of ten is disturbed (three times the spread), and each batch has a shift of its
/// own (a fifth of the spread). Pairs counted: 80 that verify and calibrate, those of the search,
/// and 20 to 80 of each sandwich.

#include "features/compare/bisection_evidence.h"
#include "features/compare/bisection_search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <fmt/format.h>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kCommits = 256;
/// Standard deviation of the batches' own shifts, as a part of the spread.
constexpr double kShared = 0.2;
/// t3 with a robust standard deviation of 1.
constexpr double kRobustOfStudent3 = 1.134;

class Noise {
 public:
  Noise(double spread, std::uint64_t seed) : spread_(spread), random_(seed) {}
  std::vector<double> batch(double level, int pairs) {
    std::vector<double> values;
    while (static_cast<int>(values.size()) < pairs) {
      const double shift = kShared * spread_ * normal_(random_);
      const double spread = random_() % 10 == 0 ? 3 * spread_ : spread_;
      for (int i = 0; i < 5 && static_cast<int>(values.size()) < pairs; ++i) {
        values.push_back(level + shift + spread / kRobustOfStudent3 * student_(random_));
      }
    }
    return values;
  }
  std::size_t below(std::size_t count) { return random_() % count; }

 private:
  double spread_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> student_{3};
};

struct Outcome {
  bool is_exact = false;
  bool is_convicted = false;
  bool is_first_exact = false;
  int pairs = 0;
  double budget = 0;
};

struct Setting {
  double spread = 0;
  double step = 0;  ///< ln ratio.
  double tempering = 0;
};

Outcome search_once(const Setting& setting, std::uint64_t seed) {
  const double step = setting.step;
  Noise noise(setting.spread, seed);
  const assay::BisectionPlan plan;
  const std::size_t culprit = noise.below(kCommits);
  Outcome outcome{.pairs = 2 * plan.ends};
  auto evidence =
      assay::PairEvidence::calibrate(noise.batch(0, plan.ends), noise.batch(step, plan.ends));
  if (!evidence) {
    return outcome;
  }
  evidence->tempering = setting.tempering;
  const std::vector<assay::BisectionCommit> commits(kCommits);
  assay::BisectionSearch search(commits);
  for (int sandwiches = 0; outcome.pairs < plan.most_pairs;) {
    if (const auto next = search.next(plan.enough)) {
      const double level = *next >= culprit ? step : 0;
      search.observe(*next, evidence->log_ratio(noise.batch(level, plan.batch)));
      outcome.pairs += plan.batch;
      continue;
    }
    const auto suspects = search.suspects();
    outcome.is_exact = suspects.first == culprit;
    outcome.is_first_exact |= sandwiches++ == 0 && outcome.is_exact;
    const int fresh = assay::sandwich_pairs(*evidence, plan);
    const std::vector<double> parent(static_cast<std::size_t>(fresh), 0.0);
    const auto pairs = noise.batch(outcome.is_exact ? step : 0, fresh);
    outcome.pairs += fresh;
    const auto verdict =
        assay::judge_sandwich(parent, pairs, evidence->change, std::abs(step) / 2, {.seed = seed});
    if (verdict.verdict == assay::SandwichVerdict::kConvicted) {
      outcome.is_convicted = true;
      return outcome;
    }
    search.observe_suspects(suspects, evidence->log_ratio(pairs));
  }
  return outcome;
}

bool run(double spread, double step, double tempering, int count) {
  int exact = 0;
  int wrong = 0;
  int first_exact = 0;
  std::vector<double> pairs;
  for (int i = 0; i < count; ++i) {
    const auto outcome =
        search_once({.spread = spread, .step = std::log1p(step), .tempering = tempering},
                    static_cast<std::uint64_t>(i));
    exact += outcome.is_convicted && outcome.is_exact ? 1 : 0;
    wrong += outcome.is_convicted && !outcome.is_exact ? 1 : 0;
    first_exact += outcome.is_first_exact ? 1 : 0;
    pairs.push_back(outcome.pairs);
  }
  std::ranges::sort(pairs);
  double sum = 0;
  for (const double one : pairs) {
    sum += one;
  }
  fmt::print(
      "{{\"spread\": {}, \"step\": {}, \"tempering\": {}, \"searches\": {}, \"first_exact\": "
      "{:.3f}, "
      "\"convicted_exact\": {:.3f}, \"convicted_wrong\": {:.3f}, \"pairs_mean\": {:.0f}, "
      "\"pairs_90\": {:.0f}}}\n",
      spread, step, tempering, count, static_cast<double>(first_exact) / count,
      static_cast<double>(exact) / count, static_cast<double>(wrong) / count, sum / count,
      pairs[pairs.size() * 9 / 10]);
  return step < 0.02 || exact >= count * 9 / 10;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int count = argc > 1 ? std::stoi(argv[1]) : 400;
    const bool is_check = argc > 2 && std::string(argv[2]) == "--check";
    bool is_good = true;
    for (const double spread : {0.008, 0.019}) {
      for (const double step : {0.01, 0.02, 0.05}) {
        is_good &= run(spread, step, 0.5, count);
      }
    }
    for (const double tempering : {0.33, 1.0}) {
      is_good &= is_check || run(0.019, 0.02, tempering, count);
    }
    return is_good || !is_check ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
