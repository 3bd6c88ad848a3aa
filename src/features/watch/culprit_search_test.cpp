#include "features/watch/run_points.h"
#include "features/watch/testing/scripted_repository.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/incident.h"
#include "assay/record/metric.h"

namespace assay::watch {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::DoubleNear;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

/// Revisions of case "a" at these levels.
std::vector<ScriptedRevision> script_from(const std::vector<double>& levels) {
  std::vector<ScriptedRevision> script;
  for (const double level : levels) {
    script.push_back({.levels = {{"a", level}}});
  }
  return script;
}

/// Up to 12 revisions with one step, or with two of different size.
std::vector<double> random_levels(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::size_t count = 4 + random() % 9;
  std::vector<double> levels(count, 0);
  for (int steps = 1 + static_cast<int>(seed % 2); steps > 0; --steps) {
    const double step = (random() % 2 == 0 ? 0.08 : -0.08) * (steps == 2 ? 2 : 1);
    for (std::size_t i = 1 + random() % (count - 1); i < count; ++i) {
      levels[i] += step;
    }
  }
  return levels;
}

/// Rounds to six decimals, and drops the sign of 0.
double rounded(double value) { return std::round(value * 1e6) / 1e6 + 0.0; }

/// Outcome of a search or a watcher, with numbers in the direction of a cost.
std::string outcome_of(const Incident& incident, double sign) {
  const auto& attribution = incident.attribution;
  const auto change = [&](const Json& from) { return rounded(sign * from.value("change", 0.0)); };
  auto text = fmt::format("{} {}..{} {} worse={}", name_of(incident.state), incident.good,
                          incident.bad, incident.culprit, attribution.value("is_worse", true));
  for (const auto& culprit : attribution.value("culprits", Json::array())) {
    text += fmt::format(" {} {:.6f} {:.4f}", culprit.value("revision", ""), change(culprit),
                        culprit.value("share", 0.0));
  }
  for (const auto& row : attribution.value("operators", Json::array())) {
    text += fmt::format(" {} {:.4f}", row.value("name", ""), rounded(row.value("share", 0.0)));
  }
  const double ratio = attribution.value("effect", Json::object()).value("ratio", 0.0);
  return text + fmt::format(" {:.6f} {:.6f} pairs={}", change(attribution),
                            rounded(sign * std::log1p(ratio)),
                            attribution.value("search", Json::object()).is_object()
                                ? attribution.value("search", Json::object()).value("pairs", 0)
                                : 0);
}

std::vector<std::string> outcomes_of(const ScriptedRepository& repository, double sign) {
  std::vector<std::string> outcomes;
  for (const auto& incident : repository.incidents()) {
    outcomes.push_back(outcome_of(incident, sign));
  }
  return outcomes;
}

class Mirrored : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Mirrored, MetricsAreSearchedAlike) {
  const auto levels = random_levels(GetParam());
  ScriptedRepository costs(script_from(levels), cost_metric(), GetParam());
  ScriptedRepository rates(script_from(levels), rate_metric(), GetParam());
  const auto of_costs = costs.bisect();
  const auto of_rates = rates.bisect();
  ASSERT_TRUE(of_costs.has_value()) << of_costs.error().message;
  ASSERT_TRUE(of_rates.has_value()) << of_rates.error().message;
  EXPECT_EQ(outcome_of(*of_costs, 1), outcome_of(*of_rates, -1));
  EXPECT_EQ(costs.calls, rates.calls);
}

TEST_P(Mirrored, MetricsAreWatchedAlike) {
  const auto levels = random_levels(GetParam());
  ScriptedRepository costs(script_from(levels), cost_metric(), GetParam());
  ScriptedRepository rates(script_from(levels), rate_metric(), GetParam());
  ASSERT_TRUE(costs.watch().has_value());
  ASSERT_TRUE(rates.watch().has_value());
  EXPECT_EQ(outcomes_of(costs, 1), outcomes_of(rates, -1));
  EXPECT_EQ(costs.calls, rates.calls);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Mirrored, testing::Range<std::uint64_t>(1, 7));

TEST(CulpritSearch, ConvictsTheCommitThatLoweredARate) {
  ScriptedRepository rates(script_from({0, 0, 0, 0, 0.15, 0.15, 0.15}), rate_metric());
  const auto found = rates.bisect();
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->culprit, "r5");
  EXPECT_FALSE(found->attribution.contains("culprits")) << found->attribution.dump();
}

TEST(CulpritSearch, MeasuresEndsAgainThatLostTheirLaunches) {
  ScriptedRepository costs(script_from({0, 0, 0, 0.15, 0.15}), cost_metric());
  int runs = 0;
  costs.is_lost = [&](const std::string& revision, int index) {
    runs += revision == "r5" && index == 0 ? 1 : 0;
    return revision == "r5" && index > 1 && runs == 1;
  };
  const auto found = costs.bisect();
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->culprit, "r4");
}

TEST(CulpritSearch, SaysThatTooFewLaunchesTellOfTheEnds) {
  ScriptedRepository costs(script_from({0, 0, 0, 0.15, 0.15}), cost_metric());
  costs.is_lost = [](const std::string& revision, int index) {
    return revision == "r5" && index > 1;
  };
  const auto found = costs.bisect();
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->culprit, "");
  EXPECT_THAT(found->attribution.at("search").at("reason"), HasSubstr("2 pairs"));
}

/// The pairs of the second revision with the first one, six launches of each.
std::vector<double> offsets_of(ScriptedRepository& costs) {
  const auto before = costs.build(costs.revisions[0]).value();
  const auto after = costs.build(costs.revisions[1]).value();
  const Sitting sitting{.revision = costs.revisions[1], .build = after, .reference = before};
  const auto run = costs.measure(sitting, "bisect", 6).value();
  return pair_offsets(*costs.store, run, sitting, costs.key_of_case("a"), "program:cost").value();
}

TEST(PairOffsets, AreOfLaunchesWithTheSameNumber) {
  auto drifting = cost_metric();
  drifting.noise = 0;
  drifting.drift = 0.05;
  ScriptedRepository costs(script_from({0, 0.15}), drifting);
  costs.is_lost = [](const std::string& revision, int index) {
    return revision == "r2" && index == 0;
  };
  EXPECT_THAT(offsets_of(costs), AllOf(SizeIs(5), Each(DoubleNear(0.15, 1e-9))));
}

TEST(PairOffsets, LeaveOutWhatHasNoLogarithm) {
  auto still = cost_metric();
  still.noise = 0;
  ScriptedRepository costs(script_from({0, 0.15}), still);
  costs.is_zero = [](const std::string& revision, int index) {
    return index == 1 || (revision == "r1" && index == 2);
  };
  EXPECT_THAT(offsets_of(costs), AllOf(SizeIs(4), Each(DoubleNear(0.15, 1e-9))));
}

TEST(CulpritSearch, SaysThatAnEndCanNoLongerBeBuilt) {
  ScriptedRepository costs(script_from({0, 0, 0.15}), cost_metric());
  bool is_verified = false;
  costs.on_call = [&](const std::string& call) {
    if (call.starts_with("compare")) {
      is_verified = true;
    } else if (is_verified && call == "build r3") {
      costs.script[2].is_broken = true;
    }
  };
  const auto found = costs.bisect();
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_THAT(found->attribution.at("search").at("reason"), HasSubstr("can no longer be built"));
}

TEST(CulpritSearch, MeasuresEqualBytesOnce) {
  auto script = script_from({0, 0, 0, 0, 0, 0, 0.15, 0.15, 0.15, 0.15});
  for (const std::size_t i : {1, 2, 3, 4, 5}) {
    script[i].bytes = "bytes of r1";
  }
  ScriptedRepository costs(script, cost_metric());
  const auto found = costs.bisect();
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->culprit, "r7");
  for (const auto* same : {"r2", "r3", "r4", "r5", "r6"}) {
    EXPECT_THAT(costs.calls, Not(Contains(fmt::format("measure {} beside r1 for bisect", same))));
  }
}

}  // namespace
}  // namespace assay::watch
