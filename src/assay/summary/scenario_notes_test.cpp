#include "assay/summary/scenario_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "assay/record/case.h"
#include "assay/record/launch.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Launch> launches_with(int asked, std::optional<int> busy, int streams = 1) {
  Launch launch;
  launch.load = LoadReport{.effective_options = {{"threads", asked}}};
  launch.measurement = Measurement{.streams = streams, .busy_threads = busy};
  return {launch};
}

TEST(ScenarioNotes, SayNothingWhereAllIsAsAsked) {
  EXPECT_THAT(notes_of_scenario({}, launches_with(1, 1)), IsEmpty());
  EXPECT_THAT(notes_of_scenario({}, launches_with(2, std::nullopt)), IsEmpty());
  EXPECT_THAT(notes_of_scenario({}, launches_with(1, 2, /*streams=*/2)), IsEmpty());
}

TEST(ScenarioNotes, CountThreadsInsteadOfBelievingTheOption) {
  EXPECT_THAT(notes_of_scenario({.options = {{"threads", 1}}}, launches_with(1, 2)),
              ElementsAre("2 threads computed, where 1 was asked for"));
  EXPECT_THAT(notes_of_scenario({.options = {{"threads", 4}}}, launches_with(4, 1)),
              ElementsAre("1 thread computed, where 4 were asked for"));
  EXPECT_THAT(notes_of_scenario({}, launches_with(2, 1)),
              ElementsAre("1 thread computed, where the engine's default is 2"))
      << "nobody asked";
}

TEST(ScenarioNotes, BelieveTheLaunchesOfWhichThereAreMore) {
  auto launches = launches_with(1, 2);
  launches.push_back(launches_with(1, 1).front());
  EXPECT_THAT(notes_of_scenario({}, launches), IsEmpty());
  launches.push_back(launches.front());
  EXPECT_THAT(notes_of_scenario({}, launches),
              ElementsAre("2 threads computed, where the engine's default is 1"));
}

TEST(ScenarioNotes, TellOfColdFilesThatWereWarm) {
  const Case cold{.scenario = {{"page_cache", "cold"}}};
  std::vector<Launch> launches(2);
  launches[0].before.cached_ratio = 0.01;
  EXPECT_THAT(notes_of_scenario(cold, launches), IsEmpty());
  launches[1].before.cached_ratio = 0.4;
  EXPECT_THAT(notes_of_scenario(cold, launches),
              ElementsAre(HasSubstr("up to 40 % of the program's files")));
  EXPECT_THAT(notes_of_scenario({}, launches), IsEmpty()) << "nobody asked for cold ones";
}

}  // namespace
}  // namespace assay
