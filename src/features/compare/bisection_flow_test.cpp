// The search as a driver uses it: calibrate, measure, sandwich, and again for what remains.
#include "features/compare/bisection_evidence.h"
#include "features/compare/bisection_search.h"

#include <cmath>
#include <cstddef>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace assay {
namespace {

constexpr double kGate = 0.02;

/// Commits whose builds have a level, ln of the time of the good end being 0.
class Workbench {
 public:
  Workbench(std::vector<double> levels, unsigned seed)
      : levels_(std::move(levels)), random_(seed) {}

  /// Log times of a commit; -1 is the good end before all.
  std::vector<double> times(std::ptrdiff_t commit, int count) {
    std::normal_distribution<double> noise(
        commit < 0 ? 0 : levels_[static_cast<std::size_t>(commit)], 0.007);
    std::vector<double> values(static_cast<std::size_t>(count));
    for (auto& value : values) {
      value = noise(random_);
    }
    return values;
  }
  std::vector<double> pairs(std::ptrdiff_t a, std::ptrdiff_t b, int count) {
    const auto before = times(a, count);
    auto after = times(b, count);
    for (std::size_t i = 0; i < after.size(); ++i) {
      after[i] -= before[i];
    }
    return after;
  }

 private:
  std::vector<double> levels_;
  std::mt19937_64 random_;
};

/// Searches commits [first, last] and what remains on both sides of each culprit.
void search_range(Workbench& bench, BisectionRange range, std::set<std::size_t>& culprits) {
  const BisectionPlan plan;
  const auto good = static_cast<std::ptrdiff_t>(range.first) - 1;
  const auto bad = static_cast<std::ptrdiff_t>(range.last);
  const auto evidence = PairEvidence::calibrate(bench.pairs(good, good, plan.ends),
                                                bench.pairs(good, bad, plan.ends));
  if (!evidence || std::abs(evidence->change) < kGate) {
    return;  // Its ends do not differ: nothing to search for.
  }
  const std::vector<BisectionCommit> commits(range.last - range.first + 1);
  BisectionSearch search(commits);
  while (const auto next = search.next(plan.enough)) {
    const auto commit = static_cast<std::ptrdiff_t>(range.first + *next);
    search.observe(*next, evidence->log_ratio(bench.pairs(good, commit, plan.batch)));
  }
  const std::size_t culprit = search.suspects().first;
  const auto commit = static_cast<std::ptrdiff_t>(range.first + culprit);
  const int count = sandwich_pairs(*evidence, plan);
  const auto sandwich = judge_sandwich(bench.times(commit - 1, count), bench.times(commit, count),
                                       evidence->change, kGate, {.seed = 1});
  ASSERT_NE(sandwich.verdict, SandwichVerdict::kAcquitted);
  culprits.insert(range.first + culprit);
  for (const auto& rest :
       remaining_ranges(commits.size(), culprit, culprit, sandwich.remainder, kGate)) {
    search_range(bench, {.first = range.first + rest.first, .last = range.first + rest.last},
                 culprits);
  }
}

TEST(BisectionFlow, FindsTwoCulpritsOneAfterTheOther) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    std::vector<double> levels(64, 0.0);
    for (std::size_t i = 0; i < levels.size(); ++i) {
      levels[i] = (i >= 12 ? 0.05 : 0) + (i >= 40 ? 0.09 : 0);
    }
    Workbench bench(levels, seed);
    std::set<std::size_t> culprits;
    search_range(bench, {.first = 0, .last = 63}, culprits);
    EXPECT_EQ(culprits, (std::set<std::size_t>{12, 40})) << seed;
  }
}

TEST(BisectionFlow, FindsNothingBetweenEqualEnds) {
  Workbench bench(std::vector<double>(64, 0.0), 3);
  std::set<std::size_t> culprits;
  search_range(bench, {.first = 0, .last = 63}, culprits);
  EXPECT_TRUE(culprits.empty());
}

}  // namespace
}  // namespace assay
