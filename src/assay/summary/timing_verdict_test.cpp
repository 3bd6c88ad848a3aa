#include "assay/summary/timing_verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/record/axes.h"

namespace assay {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Random = std::mt19937_64;
using Law = std::function<double(Random&)>;

/// How a launch's median is drawn, relative to the case's.
std::vector<std::pair<std::string, Law>> laws() {
  const auto normal = [](double sigma) {
    return
        [sigma](Random& random) { return 1 + sigma * std::normal_distribution<double>()(random); };
  };
  const auto with_outliers = [](double share) {
    return [share](Random& random) {
      return 1 + 0.01 * std::normal_distribution<double>()(random) +
             (std::bernoulli_distribution(share)(random) ? 0.5 : 0);
    };
  };
  return {
      {"normal, 3 %", normal(0.03)},
      {"normal, 10 %", normal(0.10)},
      {"normal, 20 %", normal(0.20)},
      {"exponential",
       [](Random& random) { return 1 + std::exponential_distribution<double>(10)(random); }},
      {"heavy tails",
       [](Random& random) { return 1 + 0.02 * std::student_t_distribution<double>(2)(random); }},
      {"one outlier in 20", with_outliers(0.05)},
      {"one outlier in 5", with_outliers(0.20)}};
}

constexpr auto kCounts = std::to_array<std::size_t>({3, 4, 5, 6, 7, 8, 10, 12, 20, 40, 80});

/// For each number of launches: how far the median is open, and how often the time is steady.
struct Certainty {
  double mean_ratio = 0;
  double error = 0;  ///< Standard error of the mean.
  double steady_share = 0;
};

/// Takes the same launches for every count: the first of one long series.
std::vector<Certainty> certainties(const Law& law) {
  constexpr int kTrials = 300;
  Random random(20);
  std::vector<std::vector<double>> series(kTrials, std::vector<double>(kCounts.back()));
  for (auto& one : series) {
    std::ranges::generate(one, [&] { return law(random); });
  }
  std::vector<Certainty> found;
  for (const auto count : kCounts) {
    Certainty one;
    double squares = 0;
    for (const auto& medians : series) {
      const double ratio = open_ratio_of(std::span(medians).first(count));
      one.mean_ratio += ratio / kTrials;
      squares += ratio * ratio / kTrials;
      one.steady_share += ratio <= kMaxIntervalRatio ? 1.0 / kTrials : 0;
    }
    one.error = std::sqrt(std::max(0.0, squares - one.mean_ratio * one.mean_ratio) / kTrials);
    found.push_back(one);
  }
  return found;
}

TEST(TimingVerdict, MoreLaunchesOfOneLawNeverLeaveTheMedianMoreOpen) {
  for (const auto& [name, law] : laws()) {
    const auto found = certainties(law);
    for (std::size_t i = 1; i < found.size(); ++i) {
      // Three standard errors: the means are those of 300 series.
      EXPECT_LE(found[i].mean_ratio, found[i - 1].mean_ratio + 3 * found[i].error)
          << name << ", " << kCounts[i - 1] << " to " << kCounts[i];
    }
    // A range grows: for the normal law by a factor of 2.9 from 3 launches to 80.
    EXPECT_LT(found.back().mean_ratio, found.front().mean_ratio / 3) << name;
    EXPECT_GE(found.back().steady_share, found.front().steady_share) << name;
    EXPECT_GT(found.back().steady_share, 0.85) << name << ": 80 launches are an answer";
  }
}

TEST(TimingVerdict, TellsOutliersOfManyLaunchesInANote) {
  const auto verdict =
      judge_timing({.launches = 80, .interval_ratio = 0.01, .outliers = 2, .farthest_ratio = 0.53});
  EXPECT_EQ(verdict.timing, Timing::kSteady);
  EXPECT_THAT(
      verdict.notes,
      ElementsAre("2 of 80 launches lie more than 10 % from the median, the farthest +53 %"));
}

TEST(TimingVerdict, SaysNothingOfLaunchesThatAgree) {
  EXPECT_THAT(judge_timing({.launches = 3, .interval_ratio = 0.1}).notes, IsEmpty());
  const auto open = judge_timing({.launches = 3, .interval_ratio = 0.101});
  EXPECT_EQ(open.timing, Timing::kInconclusive);
  EXPECT_THAT(open.notes, Contains(HasSubstr("open by 10 %")));
}

}  // namespace
}  // namespace assay
