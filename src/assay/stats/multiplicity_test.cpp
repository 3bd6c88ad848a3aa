#include "assay/stats/multiplicity.h"

#include <algorithm>
#include <cstddef>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace assay::stats {
namespace {

// Benjamini, Hochberg (1995), section 3.2: 15 hypotheses on thrombolysis. At 5 % their procedure
// rejects four, familywise control three. scipy 1.17.1: (false_discovery_control(p, method='bh') <=
// 0.05).sum() == 4. Holm by hand: .0019 <= .05 / 13 = .0038, .0095 > .05 / 12 = .0042.
const std::vector<double> kThrombolysis = {.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344,
                                           .0459, .3240, .4262, .5719, .6528, .7590, 1.0};

long rejected(const std::vector<bool>& answer) { return std::ranges::count(answer, true); }

TEST(BenjaminiHochberg, AgreesWithItsPapersExample) {
  const auto answer = benjamini_hochberg(kThrombolysis, 0.05);
  EXPECT_EQ(rejected(answer), 4);
  EXPECT_TRUE(answer[3]);
  EXPECT_FALSE(answer[4]);
}

TEST(Holm, AgreesWithItsPapersRuleOnTheSameExample) {
  const auto answer = holm(kThrombolysis, 0.05);
  EXPECT_EQ(rejected(answer), 3);
  EXPECT_TRUE(answer[2]);
  EXPECT_FALSE(answer[3]);
}

// By hand: .04 <= .05 * 4 / 4 rejects all four, although .03 > .05 * 2 / 4 and .035 <= .05 * 3 / 4.
TEST(BenjaminiHochberg, ALaterValueCarriesTheEarlierOnes) {
  const std::vector<double> p = {.04, .03, .01, .035};
  EXPECT_EQ(benjamini_hochberg(p, 0.05), std::vector<bool>(4, true));
  EXPECT_EQ(benjamini_hochberg(std::vector{.06, .03, .01, .045}, 0.05),
            (std::vector<bool>{false, false, true, false}));
}

// By hand: .01 <= .05 / 4, .03 > .05 / 3 and nothing after it counts, even .035 <= .05 / 1.
TEST(Holm, StopsAtTheFirstThatFails) {
  EXPECT_EQ(holm(std::vector{.035, .03, .01, .032}, 0.05),
            (std::vector<bool>{false, false, true, false}));
  EXPECT_EQ(holm(std::vector{.0125, .05, .025, .016}, 0.05), std::vector<bool>(4, true));
}

TEST(Multiplicity, ASingleTestIsJudgedAtItsLevel) {
  for (const double p : {0.05, 0.0500001}) {
    EXPECT_EQ(benjamini_hochberg(std::vector{p}, 0.05)[0], p <= 0.05);
    EXPECT_EQ(holm(std::vector{p}, 0.05)[0], p <= 0.05);
  }
  EXPECT_TRUE(benjamini_hochberg({}, 0.05).empty());
  EXPECT_TRUE(holm({}, 0.05).empty());
}

TEST(Multiplicity, AnswersInTheOrderOfTheQuestionAndEqualsShare) {
  const std::vector<double> p = {.5, .001, .9, .001};
  EXPECT_EQ(benjamini_hochberg(p, 0.05), (std::vector<bool>{false, true, false, true}));
  EXPECT_EQ(holm(p, 0.05), (std::vector<bool>{false, true, false, true}));
}

TEST(Multiplicity, HolmRejectsNothingThatBenjaminiHochbergDoesNot) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> p(12);
    std::ranges::generate(p, [&] { return uniform(random) * uniform(random) * uniform(random); });
    const auto loose = benjamini_hochberg(p, 0.05);
    const auto strict = holm(p, 0.05);
    for (std::size_t i = 0; i < p.size(); ++i) {
      EXPECT_TRUE(loose[i] || !strict[i]);
      EXPECT_TRUE(strict[i] || p[i] > 0.05 / 12);  // At least what Bonferroni rejects.
    }
  }
}

// All hypotheses true: any rejection is false, and both allow one in 5 % of families.
TEST(Multiplicity, FamiliesWithoutAnEffectRarelyAlarm) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> uniform;
  int alarms = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> p(20);
    std::ranges::generate(p, [&] { return uniform(random); });
    const bool is_alarm = rejected(benjamini_hochberg(p, 0.05)) > 0;
    EXPECT_LE(rejected(holm(p, 0.05)) > 0, is_alarm);
    alarms += is_alarm ? 1 : 0;
  }
  EXPECT_LE(alarms, 138);  // scipy.stats.binom.ppf(0.9999, 2000, 0.05)
  EXPECT_GE(alarms, 66);   // scipy.stats.binom.ppf(0.0001, 2000, 0.05)
}

}  // namespace
}  // namespace assay::stats
