// Every store keeps repositories, their builds and incidents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/incident.h"
#include "assay/record/measured_series.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"
#include "assay/store/result_store.h"
#include "assay/store/testing/sample_records.h"
#include "assay/store/testing/store_fixture.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class StoreHistory : public EveryStore {};

INSTANTIATE_TEST_SUITE_P(Stores, StoreHistory, every_store(), name_of_store);

const std::string kHash(40, 'c');

Repository toy_repository() { return {.url = "/src/toy", .engine = "toy"}; }

std::vector<Revision> two_revisions() {
  const auto repository = toy_repository().id();
  return {{.repository = repository, .hash = std::string(40, 'b'), .position = 1},
          {.repository = repository,
           .hash = kHash,
           .parents = {std::string(40, 'b')},
           .position = 2,
           .author = "Ann \"A\" \u00c5",
           .authored_unix_ns = 5,
           .committed_unix_ns = 7,
           .subject = "conv: unroll the loop"}};
}

RevisionBuild toy_build() {
  return {.repository = toy_repository().id(),
          .revision = kHash,
          .environment = "default",
          .engine = "toy",
          .label = short_hash(kHash),
          .key = "k",
          .outcome = BuildOutcome::kBuilt,
          .tools = {{"c++", "12.2"}},
          .seconds = 1.5,
          .output_digest = "d",
          .built_unix_ns = 10};
}

Incident toy_incident() {
  return {.id = make_id(),
          .repository = toy_repository().id(),
          .environment = "default",
          .machine = "m",
          .cases = {"case-1", "case-2"},
          .metric = "steady_ns",
          .good = std::string(40, 'b'),
          .bad = kHash,
          .opened_unix_ns = 20,
          .changed_unix_ns = 20};
}

void add_history(ResultStore& store, const Incident& incident) {
  ASSERT_TRUE(store.add_repository(toy_repository()).has_value());
  const auto added = store.add_revisions(two_revisions());
  ASSERT_TRUE(added.has_value()) << added.error().message;
  ASSERT_TRUE(store.add_engine_build(toy_build()).has_value());
  ASSERT_TRUE(store.add_incident(incident).has_value());
}

TEST_P(StoreHistory, GivesBackWhatWasAdded) {
  const auto incident = toy_incident();
  add_history(store(), incident);
  const auto id = toy_repository().id();
  ASSERT_THAT(store().repositories().value(), SizeIs(1));
  EXPECT_EQ(store().repositories().value()[0].id(), id);
  const auto revisions = store().revisions_of(id).value();
  ASSERT_THAT(revisions, SizeIs(2));
  EXPECT_EQ(json_of(revisions[0]), json_of(two_revisions()[1])) << "the newest comes first";
  EXPECT_EQ(json_of(revisions[1]), json_of(two_revisions()[0]));
  ASSERT_THAT(store().engine_builds_of(id).value(), SizeIs(1));
  EXPECT_EQ(json_of(store().engine_builds_of(id).value()[0]), json_of(toy_build()));
  ASSERT_THAT(store().incidents_of(id).value(), SizeIs(1));
  EXPECT_EQ(json_of(store().incidents_of(id).value()[0]), json_of(incident));
  EXPECT_THAT(store().revisions_of("another").value(), IsEmpty());
}

TEST_P(StoreHistory, KeepsOneRowOfWhatIsAddedTwiceAndEachBuildOfARevision) {
  add_history(store(), toy_incident());
  ASSERT_TRUE(store().add_repository(toy_repository()).has_value());
  auto moved = two_revisions();
  moved[1].position = 7;
  ASSERT_TRUE(store().add_revisions(moved).has_value());
  ASSERT_TRUE(store().add_engine_build(toy_build()).has_value());
  auto failed = toy_build();
  failed.outcome = BuildOutcome::kFailed;
  failed.reason = "step 2 failed";
  failed.built_unix_ns = 11;
  ASSERT_TRUE(store().add_engine_build(failed).has_value());
  const auto id = toy_repository().id();
  EXPECT_THAT(store().repositories().value(), SizeIs(1));
  EXPECT_THAT(store().revisions_of(id).value(), SizeIs(2));
  EXPECT_EQ(store().revisions_of(id).value()[0].position, 7) << "a merge of branches moves it";
  const auto builds = store().engine_builds_of(id).value();
  ASSERT_THAT(builds, SizeIs(2));
  EXPECT_EQ(builds[0].reason, "step 2 failed") << "the last built comes first";
}

MeasuredSeries toy_series() {
  return {.repository = toy_repository().id(),
          .environment = "default",
          .case_key = "case",
          .label = "bench",
          .metric = "steady_floor_ns",
          .unit = "ns"};
}

TEST_P(StoreHistory, KeepsPointsByPosition) {
  ASSERT_TRUE(store().add_repository(toy_repository()).has_value());
  const auto run = add_sample_run(store()).run.id;
  const auto series = toy_series();
  MeasuredPoint later{.series = series.key(),
                      .revision = kHash,
                      .position = 2,
                      .run = run,
                      .machine = "m",
                      .reference = "r",
                      .value = 110,
                      .offset = 0.1,
                      .low = 0.09,
                      .high = 0.11,
                      .measured_unix_ns = 5};
  auto earlier = later;
  earlier.position = 1;
  earlier.revision = std::string(40, 'b');
  earlier.low.reset();
  earlier.high.reset();
  const std::vector<MeasuredPoint> both = {later, earlier};
  ASSERT_TRUE(store().add_points(series, both).has_value());
  ASSERT_TRUE(store().add_points(series, both).has_value()) << "a second time changes nothing";
  const auto all = store().series_of(series.repository).value();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(json_of(all[0]), json_of(series));
  const auto points = store().points_of(series).value();
  ASSERT_THAT(points, SizeIs(2));
  EXPECT_EQ(points[0].revision, earlier.revision);
  EXPECT_FALSE(points[0].low.has_value());
  EXPECT_EQ(points[1].reference, "r");
  EXPECT_EQ(points[1].machine, "m");
  EXPECT_EQ(points[1].value, 110);
  EXPECT_EQ(points[1].offset, 0.1);
  EXPECT_EQ(points[1].high, 0.11);
  ASSERT_TRUE(store().remove_run(run).has_value());
  EXPECT_THAT(store().points_of(series).value(), IsEmpty()) << "they go with the run";
  EXPECT_THAT(store().series_of(series.repository).value(), IsEmpty()) << "no point is left";
}

TEST_P(StoreHistory, RefusesPointsOfARunThatIsNotThere) {
  ASSERT_TRUE(store().add_repository(toy_repository()).has_value());
  const std::vector<MeasuredPoint> points = {{.series = toy_series().key(), .run = "none"}};
  EXPECT_EQ(store().add_points(toy_series(), points).error().code, ErrorCode::kNotFound);
  EXPECT_THAT(store().series_of(toy_repository().id()).value(), IsEmpty()) << "all or nothing";
}

TEST_P(StoreHistory, RefusesABuildOfARevisionThatIsNotThere) {
  ASSERT_TRUE(store().add_repository(toy_repository()).has_value());
  EXPECT_EQ(store().add_engine_build(toy_build()).error().code, ErrorCode::kNotFound);
}

TEST_P(StoreHistory, ChangesOnlyTheStateOfAnIncident) {
  auto incident = toy_incident();
  add_history(store(), incident);
  incident.state = IncidentState::kVerifying;
  incident.changed_unix_ns = 30;
  ASSERT_TRUE(store().update_incident(incident).has_value());
  incident.state = IncidentState::kConfirmed;
  incident.culprit = kHash;
  incident.comparisons = {"comparison-1"};
  incident.attribution = {{"operators", {"conv"}}};
  incident.changed_unix_ns = 40;
  ASSERT_TRUE(store().update_incident(incident).has_value());
  const auto stored = store().incidents_of(incident.repository).value();
  ASSERT_THAT(stored, SizeIs(1));
  EXPECT_EQ(json_of(stored[0]), json_of(incident));

  auto other = incident;
  other.metric = "first_ns";
  EXPECT_EQ(store().update_incident(other).error().code, ErrorCode::kInvalidArgument);
  other = incident;
  other.state = IncidentState::kRejected;
  EXPECT_THAT(store().update_incident(other).error().message,
              HasSubstr("is confirmed and cannot become rejected; it can become acknowledged"));
  other = incident;
  other.changed_unix_ns = 39;
  EXPECT_THAT(store().update_incident(other).error().message, HasSubstr("changed since"));
  other.id = "none";
  EXPECT_EQ(store().update_incident(other).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(json_of(store().incidents_of(incident.repository).value()[0]), json_of(incident));
}

TEST_P(StoreHistory, RefusesAnIncidentTwice) {
  const auto incident = toy_incident();
  add_history(store(), incident);
  EXPECT_EQ(store().add_incident(incident).error().code, ErrorCode::kInvalidArgument);
}

TEST_P(StoreHistory, FindsTheRunsOfABuildAndOfARevision) {
  add_history(store(), toy_incident());
  const auto other = add_sample_run(store());
  auto run = other.run;
  run.id = make_id();
  run.purpose = "watch";
  auto cell = other.cell;
  cell.engine = "toy";
  cell.engine_build = toy_build().reference();
  ASSERT_TRUE(store().add_run(run).has_value());
  ASSERT_TRUE(store().add_case(run.id, cell).has_value());
  const auto ids_of = [this](const RunFilter& filter) {
    const auto listings = store().list_runs(filter).value();
    std::vector<std::string> ids;
    for (const auto& listing : listings) {
      ids.push_back(listing.run.id);
    }
    return ids;
  };
  EXPECT_THAT(ids_of({.engine_build = "toy@cccccccccccc"}), ElementsAre(run.id));
  EXPECT_THAT(ids_of({.engine_build = toy_build().id()}), ElementsAre(run.id));
  EXPECT_THAT(ids_of({.revision = kHash}), ElementsAre(run.id));
  EXPECT_THAT(ids_of({.revision = std::string(40, 'b')}), IsEmpty());
  EXPECT_THAT(ids_of({.purpose = "watch"}), ElementsAre(run.id));
}

TEST_P(StoreHistory, MergesAndKeepsTheLaterStateOfAnIncident) {
  auto incident = toy_incident();
  {
    auto other = open_sqlite_store(file("other.db")).value();
    add_history(*other, incident);
    auto later = incident;
    later.state = IncidentState::kVerifying;
    later.changed_unix_ns = 30;
    ASSERT_TRUE(other->update_incident(later).has_value());
  }
  ASSERT_TRUE(store().add_repository(toy_repository()).has_value());
  ASSERT_TRUE(store().add_incident(incident).has_value());
  const auto merged = store().merge_from(file("other.db"));
  ASSERT_TRUE(merged.has_value()) << merged.error().message;
  const auto id = toy_repository().id();
  EXPECT_THAT(store().revisions_of(id).value(), SizeIs(2));
  EXPECT_THAT(store().engine_builds_of(id).value(), SizeIs(1));
  EXPECT_EQ(store().incidents_of(id).value()[0].state, IncidentState::kVerifying);
  incident.state = IncidentState::kConfirmed;
  incident.changed_unix_ns = 40;
  ASSERT_TRUE(store().update_incident(incident).has_value());
  EXPECT_EQ(store().merge_from(file("other.db")).value(), 0);
  EXPECT_EQ(store().incidents_of(id).value()[0].state, IncidentState::kConfirmed)
      << "an incident never goes back";
}

}  // namespace
}  // namespace assay
