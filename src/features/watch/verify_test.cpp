#include "features/watch/verify.h"

#include "features/repository/repository_spec.h"
#include "features/watch/revision_runner.h"
#include "features/watch/run_points.h"
#include "features/watch/watch_text.h"
#include "features/watch/watch_view.h"

#include <cstdint>
#include <deque>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/comparison.h"
#include "assay/record/incident.h"
#include "assay/record/metric.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay::watch {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

/// Answers comparisons by a list of verdicts, and keeps what was asked.
class ScriptedRunner final : public RevisionRunner {
 public:
  explicit ScriptedRunner(std::deque<ComparisonVerdict> verdicts)
      : verdicts_(std::move(verdicts)) {}

  Result<RevisionBuild> build(const Revision& revision) override {
    return RevisionBuild{.revision = revision.hash, .outcome = BuildOutcome::kBuilt};
  }
  Result<Run> measure(const Sitting& /*sitting*/, std::string_view /*purpose*/,
                      int /*rounds*/) override {
    return Run{};
  }
  Result<Comparison> compare(const BuildPair& pair, const ComparisonPlan& plan) override {
    asked.push_back(fmt::format("{} {} {}..{} {}", pair.incident, pair.attempt, pair.a.revision,
                                pair.b.revision, plan.metric));
    Comparison comparison{.id = fmt::format("c{}", asked.size()), .verdict = verdicts_.front()};
    comparison.is_confirmed = comparison.verdict == ComparisonVerdict::kSlower;
    if (!estimate.metric.empty()) {
      comparison.metrics = {estimate};
    }
    verdicts_.pop_front();
    return comparison;
  }
  Result<Json> explain(const BuildPair& /*pair*/) override { return Json::object(); }
  Result<Json> count_instructions(const BuildPair& /*pair*/) override { return Json::object(); }
  Result<std::vector<std::string>> changed_files(const Revision& /*revision*/) override {
    return std::vector<std::string>();
  }

  std::vector<std::string> asked;
  PairEstimate estimate;  ///< Given with each comparison, where it has a metric.

 private:
  std::deque<ComparisonVerdict> verdicts_;
};

/// An incident in a store, between the first and the last of three revisions.
struct Scene {
  explicit Scene(std::deque<ComparisonVerdict> verdicts,
                 const std::string& metric = "steady_floor_ns")
      : runner(std::move(verdicts)) {
    for (const std::int64_t position : {1, 2, 3}) {
      view.revisions.push_back({.hash = fmt::format("r{}", position), .position = position});
    }
    const Repository repository{.url = "/toy", .engine = "toy"};
    EXPECT_TRUE(store->add_repository(repository).has_value());
    incident.id = "i";
    incident.repository = repository.id();
    incident.cases = {"case"};
    incident.metric = metric;
    incident.good = "r1";
    incident.bad = "r3";
    incident.attribution = Json::object();
    EXPECT_TRUE(store->add_incident(incident).has_value());
  }

  Result<Incident> verify() {
    return verify_incident(view, incident,
                           {.spec = spec, .store = *store, .runner = runner, .now_unix_ns = [] {
                              return std::int64_t{7};
                            }});
  }

  RepositorySpec spec;
  std::unique_ptr<ResultStore> store = make_memory_store();
  ScriptedRunner runner;
  WatchView view;
  Incident incident;
};

TEST(VerifyIncident, ComparesAgainWhatCouldNotBeTold) {
  Scene scene({ComparisonVerdict::kInconclusive, ComparisonVerdict::kSlower});
  const auto incident = scene.verify();
  ASSERT_TRUE(incident.has_value()) << incident.error().message;
  EXPECT_EQ(incident->state, IncidentState::kConfirmed);
  EXPECT_THAT(incident->comparisons, ElementsAre("c1", "c2"));
  EXPECT_THAT(scene.runner.asked,
              ElementsAre("i ends 1 r1..r3 steady_floor_ns", "i ends 2 r1..r3 steady_floor_ns"))
      << "each under a name of its own, so that one that was cut off goes on";
}

TEST(VerifyIncident, TakesTheFirstComparisonThatDecides) {
  Scene scene({ComparisonVerdict::kEquivalent, ComparisonVerdict::kSlower});
  const auto incident = scene.verify();
  ASSERT_TRUE(incident.has_value()) << incident.error().message;
  EXPECT_EQ(incident->state, IncidentState::kRejected);
  EXPECT_THAT(scene.runner.asked, SizeIs(1));
}

TEST(VerifyIncident, BelievesThePairsAboutTheDirection) {
  Scene scene({ComparisonVerdict::kSlower});
  scene.incident.attribution["is_worse"] = false;  // The history took it for an improvement.
  const auto incident = scene.verify();
  ASSERT_TRUE(incident.has_value()) << incident.error().message;
  EXPECT_EQ(incident->state, IncidentState::kConfirmed);
  EXPECT_EQ(incident->attribution.at("is_worse"), true);
}

PairEstimate estimate_from_zero(const std::string& metric, const std::string& unit) {
  return {.metric = metric,
          .pairs = 20,
          .ratio = 5,
          .low = 4,
          .high = 6,
          .a_median = 0,
          .b_median = 5,
          .unit = unit,
          .scale = MetricScale::kDifference,
          .base = 0};
}

TEST(VerifyIncident, TellsAChangeFromZeroInTheUnitOfTheMetric) {
  Scene scene({ComparisonVerdict::kSlower}, "program:misses");
  scene.runner.estimate = estimate_from_zero(scene.incident.metric, "count");
  const auto incident = scene.verify();
  ASSERT_TRUE(incident.has_value()) << incident.error().message;
  EXPECT_EQ(text_of_effect(*incident), "+5 [+4, +6], 20 pairs");
  EXPECT_EQ(incident->attribution.at("change"), 5);
  auto older = *incident;
  older.attribution["effect"] = {{"ratio", 0.05}, {"low", 0.04}, {"high", nullptr}, {"pairs", 20}};
  EXPECT_EQ(text_of_effect(older), "+5.0 % [+4.0 %, ?], 20 pairs") << "without a scale: a ratio";
}

TEST(VerifyIncident, TakesNoDifferenceForALogRatio) {
  Scene scene({ComparisonVerdict::kSlower}, "program:rate");
  scene.incident.attribution["change"] = 0.25;
  scene.runner.estimate = estimate_from_zero(scene.incident.metric, "1/s");
  EXPECT_EQ(offset_of(scene.runner.estimate), std::nullopt);
  const auto incident = scene.verify();
  ASSERT_TRUE(incident.has_value()) << incident.error().message;
  EXPECT_EQ(incident->attribution.at("change"), 0.25) << "the pairs tell none";
}

TEST(VerifyIncident, GivesUpAfterThree) {
  Scene scene(std::deque<ComparisonVerdict>(4, ComparisonVerdict::kInconclusive));
  const auto incident = scene.verify();
  ASSERT_TRUE(incident.has_value()) << incident.error().message;
  EXPECT_EQ(incident->state, IncidentState::kUndecided);
  EXPECT_THAT(scene.runner.asked, SizeIs(3));
}

}  // namespace
}  // namespace assay::watch
