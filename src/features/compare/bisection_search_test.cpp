#include "features/compare/bisection_search.h"

#include <cmath>
#include <cstddef>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <vector>

namespace assay {
namespace {

constexpr double kCertain = std::numeric_limits<double>::infinity();

/// Searches with certain answers; returns how many commits were measured.
int search_certainly(BisectionSearch& search, std::size_t culprit) {
  int measured = 0;
  while (const auto next = search.next()) {
    search.observe(*next, *next >= culprit ? kCertain : -kCertain);
    ++measured;
  }
  return measured;
}

TEST(BisectionSearch, IsPlainBisectionWithCertainAnswers) {
  const std::vector<BisectionCommit> commits(256);
  for (std::size_t culprit = 0; culprit < commits.size(); ++culprit) {
    BisectionSearch search(commits);
    EXPECT_EQ(search_certainly(search, culprit), 8);
    const auto suspects = search.suspects();
    EXPECT_EQ(suspects.first, culprit);
    EXPECT_EQ(suspects.last, culprit);
    EXPECT_DOUBLE_EQ(suspects.probability, 1);
  }
}

TEST(BisectionSearch, AsksFirstWhereTheWeightsAreHalved) {
  std::vector<BisectionCommit> commits(100);
  for (std::size_t i = 80; i < 100; ++i) {
    commits[i].weight = 15;
  }
  EXPECT_EQ(BisectionSearch(commits).next(), 86U);
}

TEST(BisectionSearch, NeverSuspectsACommitOfWeightZeroOrEqualBytes) {
  std::vector<BisectionCommit> commits(8);
  commits[3].is_same_as_parent = true;
  commits[4].weight = 0;
  BisectionSearch search(commits);
  EXPECT_EQ(search.probabilities()[3], 0);
  EXPECT_EQ(search.probabilities()[4], 0);
  search_certainly(search, 5);
  EXPECT_EQ(search.suspects().first, 5U);
}

TEST(BisectionSearch, KeepsCommitsThatCannotBeBuiltAmongTheSuspects) {
  const std::vector<BisectionCommit> commits(16);
  BisectionSearch search(commits);
  for (std::size_t i = 5; i < 9; ++i) {
    search.skip(i);
  }
  search_certainly(search, 7);
  EXPECT_EQ(search.suspects().first, 5U);
  EXPECT_EQ(search.suspects().last, 9U);
  EXPECT_DOUBLE_EQ(search.suspects().probability, 1);
}

TEST(BisectionSearch, EndsWhenNothingCanBeMeasured) {
  const std::vector<BisectionCommit> commits(4);
  BisectionSearch search(commits);
  for (std::size_t i = 0; i < 3; ++i) {
    search.skip(i);
  }
  EXPECT_FALSE(search.next(1.1).has_value());
  EXPECT_EQ(search.suspects().last, 3U);
}

TEST(BisectionSearch, UpdatesByTheRuleOfBayes) {
  const std::vector<BisectionCommit> commits(4);
  BisectionSearch search(commits);
  search.observe(1, std::log(3.0));
  const std::vector<double> expected = {3 / 8.0, 3 / 8.0, 1 / 8.0, 1 / 8.0};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(search.probabilities()[i], expected[i], 1e-12);
  }
  search.observe_suspects({.first = 0, .last = 0}, -std::log(6.0));
  EXPECT_NEAR(search.probabilities()[0], (3 / 6.0) / (3 / 6.0 + 3 + 1 + 1), 1e-12);
}

TEST(BisectionSearch, RecoversFromEvidenceThatWasSureAndWrong) {
  const std::vector<BisectionCommit> commits(4);
  BisectionSearch search(commits);
  search.observe(1, 5000);
  EXPECT_LT(search.suspects().last, 2U);
  for (int i = 0; i < 10; ++i) {
    search.observe(1, -10);
  }
  EXPECT_GT(search.suspects().first, 1U);
  const auto& all = search.probabilities();
  EXPECT_NEAR(std::accumulate(all.begin(), all.end(), 0.0), 1, 1e-12);
}

}  // namespace
}  // namespace assay
