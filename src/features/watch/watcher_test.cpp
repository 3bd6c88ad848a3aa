#include "features/watch/watcher.h"

#include "features/watch/changed_metrics.h"
#include "features/watch/incident_by_hand.h"
#include "features/watch/run_points.h"
#include "features/watch/testing/scripted_repository.h"
#include "features/watch/watch_text.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "assay/record/incident.h"
#include "assay/record/metric.h"

namespace assay::watch {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::vector<std::string> states_of(const ScriptedRepository& repository) {
  std::vector<std::string> states;
  for (const auto& incident : repository.incidents()) {
    states.push_back(fmt::format("{} {}", incident.culprit, name_of(incident.state)));
  }
  return states;
}

std::ptrdiff_t count_calls(const ScriptedRepository& repository, const std::string& beginning) {
  return std::ranges::count_if(
      repository.calls, [&](const std::string& call) { return call.starts_with(beginning); });
}

TEST(Watcher, KeepsAnIncidentOpenForTheCasesThatAreStillSlow) {
  std::vector<ScriptedRevision> script(7);
  for (std::size_t i = 2; i < script.size(); ++i) {
    script[i].levels = {{"a", i < 4 ? 0.08 : 0}, {"b", 0.08}, {"c", i < 6 ? 0.08 : 0}};
  }
  ScriptedRepository toy(script, cost_metric(), 3, {"a", "b", "c"});
  ASSERT_TRUE(toy.watch().has_value());
  const auto incidents = toy.incidents();
  const auto worse = std::ranges::find(incidents, std::string("r3"), &Incident::culprit);
  ASSERT_NE(worse, incidents.end());
  EXPECT_EQ(worse->state, IncidentState::kConfirmed) << "b is still slow";
  EXPECT_THAT(fixed_cases(*worse),
              testing::UnorderedElementsAre(testing::Pair(toy.key_of_case("a"), "r5"),
                                            testing::Pair(toy.key_of_case("c"), "r7")));
  EXPECT_THAT(text_of_incident(*worse, toy.view()), HasSubstr("1 of 3 cases"));
}

TEST(Watcher, ClosesAnIncidentOnceTheLastCaseIsFixed) {
  std::vector<ScriptedRevision> script(6);
  for (std::size_t i = 2; i < script.size(); ++i) {
    script[i].levels = {{"a", i < 4 ? 0.08 : 0}, {"b", i < 5 ? 0.08 : 0}};
  }
  ScriptedRepository toy(script, cost_metric(), 3, {"a", "b"});
  ASSERT_TRUE(toy.watch().has_value());
  EXPECT_THAT(states_of(toy), Contains("r3 fixed"));
}

TEST(Watcher, MeasuresAFailureAgainBeforeItIsConfirmed) {
  ScriptedRepository toy(std::vector<ScriptedRevision>(6), cost_metric());
  int crashes = 0;
  toy.is_flaky = [&](const std::string& revision, const std::string&) {
    return revision == "r4" && crashes++ == 0;
  };
  ASSERT_TRUE(toy.watch().has_value());
  EXPECT_THAT(states_of(toy), IsEmpty()) << "it failed once in a thousand launches";
  EXPECT_GE(count_calls(toy, "measure r4 "), 2);
}

TEST(Watcher, ConfirmsAFailureThatIsThereAgain) {
  std::vector<ScriptedRevision> script(6);
  for (std::size_t i = 3; i < script.size(); ++i) {
    script[i].crashing = {"a"};
  }
  ScriptedRepository toy(script, cost_metric());
  ASSERT_TRUE(toy.watch().has_value());
  EXPECT_THAT(states_of(toy), ElementsAre("r4 confirmed"));
  EXPECT_GE(count_calls(toy, "measure r4 "), 2);
  EXPECT_GE(count_calls(toy, "measure r3 "), 2) << "it may be the commit before that is lucky";
}

std::vector<ScriptedRevision> script_of_errors(const std::vector<double>& errors) {
  std::vector<ScriptedRevision> script;
  for (const double error : errors) {
    script.push_back({.error = error});
  }
  return script;
}

TEST(Watcher, RaisesNoAlarmForErrorsFarBelowTheTolerance) {
  ScriptedRepository toy(script_of_errors({1e-6, 2e-6, 1e-6, 9e-6, 5e-7}), cost_metric());
  ASSERT_TRUE(toy.watch().has_value());
  EXPECT_THAT(states_of(toy), IsEmpty());
}

TEST(Watcher, ConfirmsAnErrorThatTakesAPartOfTheTolerance) {
  ScriptedRepository toy(script_of_errors({1e-6, 1e-6, 1e-6, 3e-4, 3e-4}), cost_metric());
  ASSERT_TRUE(toy.watch().has_value());
  EXPECT_THAT(states_of(toy), ElementsAre("r4 confirmed"));
  EXPECT_EQ(toy.incidents()[0].metric, "max_abs_error");
}

TEST(PointsFromRun, CallsErrorsExactOnlyWhereOutputsRepeat) {
  for (const bool varies : {false, true}) {
    auto script = script_of_errors({1e-6, 1e-6});
    script[0].has_varying_outputs = varies;
    ScriptedRepository toy(script, cost_metric());
    const auto before = toy.build(toy.revisions[0]).value();
    const auto after = toy.build(toy.revisions[1]).value();
    const Sitting sitting{.revision = toy.revisions[1], .build = after, .reference = before};
    const auto run = toy.measure(sitting, "watch", 3).value();
    const auto points = points_from_run(*toy.store, run, sitting).value();
    const auto error = std::ranges::find_if(
        points, [](const SeriesPoint& one) { return one.series.metric == "max_abs_error"; });
    ASSERT_NE(error, points.end());
    EXPECT_EQ(error->point.low.has_value(), !varies);
  }
}

TEST(Watcher, LooksAtOtherCasesWhereTheLargestChangeIsRefuted) {
  std::vector<ScriptedRevision> script(6);
  for (std::size_t i = 3; i < script.size(); ++i) {
    script[i].levels = {{"b", 0.05}};
  }
  ScriptedRepository toy(script, cost_metric(), 5, {"a", "b"});
  // Case a looked slower in each sitting of r4, and is not.
  toy.on_call = [&](const std::string& call) {
    toy.script[3].levels["a"] = call.starts_with("measure r4 ") ? 0.2 : 0;
  };
  ASSERT_TRUE(toy.watch().has_value());
  EXPECT_THAT(states_of(toy), Contains("r4 confirmed"));
}

TEST(Watcher, TakesTheChangeOfAnIncidentFromThePairs) {
  std::vector<ScriptedRevision> script(4);
  script[2].levels = {{"a", 0.05}};
  script[3].levels = {{"a", 0.05}};
  ScriptedRepository toy(script, cost_metric());
  // The history took it for an improvement.
  toy.on_call = [&](const std::string& call) {
    toy.script[2].levels["a"] = call.starts_with("measure r3 ") ? -0.05 : 0.05;
    toy.script[3].levels["a"] = call.starts_with("measure r4 ") ? -0.05 : 0.05;
  };
  ASSERT_TRUE(toy.watch().has_value());
  const auto incidents = toy.incidents();
  ASSERT_THAT(incidents, Not(IsEmpty()));
  const auto& attribution = incidents[0].attribution;
  EXPECT_EQ(attribution.at("is_worse"), true);
  EXPECT_GT(attribution.at("change").get<double>(), 0.03);
  EXPECT_GT(changed_metrics(incidents[0]).front().change, 0.03);
  EXPECT_THAT(attribution.at("title").get<std::string>(), HasSubstr(" +"));
}

/// Changes every incident by hand before the call of this number is answered.
Status watch_with_hand(ScriptedRepository& toy, int number, IncidentState state) {
  int calls = 0;
  toy.on_call = [&, number, state](const std::string&) {
    if (++calls != number) {
      return;
    }
    for (const auto& incident : toy.incidents()) {
      if (auto next = changed_by_hand(incident, {.state = state, .note = "by hand"},
                                      incident.changed_unix_ns)) {
        EXPECT_TRUE(toy.store->update_incident(*next).has_value());
      }
    }
  };
  return toy.watch();
}

TEST(Watcher, GoesOnWhateverStateIsGivenByHandMeanwhile) {
  std::vector<ScriptedRevision> script(5);
  script[2].levels = {{"a", 0.1}};
  script[3].levels = {{"a", 0.1}};
  ScriptedRepository alone(script, cost_metric());
  ASSERT_TRUE(alone.watch().has_value());
  const auto calls = static_cast<int>(alone.calls.size());
  // No incident is there until both ends are built for the first comparison.
  const auto compared = std::ranges::find_if(
      alone.calls, [](const std::string& call) { return call.starts_with("compare"); });
  const auto first = static_cast<int>(compared - alone.calls.begin()) - 2;
  for (const auto state : {IncidentState::kAcknowledged, IncidentState::kAccepted}) {
    for (int number = first; number <= calls; ++number) {
      ScriptedRepository toy(script, cost_metric());
      const auto watched = watch_with_hand(toy, number, state);
      ASSERT_TRUE(watched.has_value()) << number << ": " << watched.error().message;
      for (const auto& incident : toy.incidents()) {
        const bool keeps = incident.note.empty() || incident.state == state ||
                           incident.state == IncidentState::kFixed;
        EXPECT_TRUE(keeps) << number << ": " << name_of(incident.state);
      }
    }
  }
}

TEST(Watcher, GoesOnWhereTheSpecNoLongerHasTheCase) {
  std::vector<ScriptedRevision> script(4);
  script[2].levels = {{"a", 0.1}};
  script[3].levels = {{"a", 0.1}};
  ScriptedRepository toy(script, cost_metric());
  toy.on_call = [&](const std::string& call) {
    if (call.starts_with("compare")) {
      toy.cases = {"renamed"};
    }
  };
  ASSERT_TRUE(toy.watch().has_value());
  EXPECT_THAT(states_of(toy), Contains(HasSubstr("undecided")));
}

}  // namespace
}  // namespace assay::watch
