// Contract of every store for listing, labelling and removing its runs.
#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/metric.h"
#include "assay/store/result_store.h"
#include "assay/store/testing/sample_records.h"
#include "assay/store/testing/store_fixture.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

class StoreManage : public EveryStore {
 protected:
  std::vector<std::string> ids_from(const RunFilter& filter) {
    std::vector<std::string> ids;
    const auto listings = store().list_runs(filter).value();
    for (const auto& listing : listings) {
      ids.push_back(listing.run.id);
    }
    return ids;
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreManage, every_store(), name_of_store);

TEST_P(StoreManage, ListsWhatARunHolds) {
  auto records = add_sample_run(store());
  ASSERT_TRUE(store().add_attachment({records.attempt.id, "log", std::string(5000, 'x')}));
  records.attempt.is_finished = true;
  records.attempt.outcome = Outcome::kTimedOut;
  ASSERT_TRUE(store().put_attempt(records.attempt).has_value());
  auto open = records.attempt;
  open.id = make_id();
  open.is_finished = false;
  ASSERT_TRUE(store().put_attempt(open).has_value());
  ASSERT_TRUE(store().put_comparison({.id = make_id(), .run = records.run.id}).has_value());

  const auto listings = store().list_runs({}).value();
  ASSERT_THAT(listings, SizeIs(1));
  const auto& listing = listings.front();
  EXPECT_EQ(listing.verb(), "run");
  EXPECT_THAT(listing.models, ElementsAre("torchvision:mobilenet_v2"));
  EXPECT_THAT(listing.recipes, ElementsAre("executorch/xnnpack-int8"));
  EXPECT_THAT(listing.outcomes, ElementsAre(Pair(Outcome::kTimedOut, 1)));
  EXPECT_EQ(listing.unfinished_attempts, 1);
  EXPECT_THAT(listing.comparisons, SizeIs(1));
  EXPECT_GT(listing.bytes, 1000);
}

TEST_P(StoreManage, ListsRunsWithoutReadingTheirLaunches) {
  const auto records = add_sample_run(store());
  const auto listings = store().list_runs({.has_details = false}).value();
  ASSERT_THAT(listings, SizeIs(1));
  EXPECT_EQ(listings.front().run.id, records.run.id);
  EXPECT_EQ(listings.front().launches, 1);
  EXPECT_EQ(listings.front().bytes, 0);
  EXPECT_THAT(listings.front().models, SizeIs(0));
}

TEST_P(StoreManage, ListsRunsByLabelAndByText) {
  const auto first = add_sample_run(store());  // commit=abc, branch=café, name "night"
  assay::Run second{.id = make_id(), .name = "Morning"};
  second.argv = {"assay", "bench", "net.pte"};
  second.labels = {{"commit", "def"}};
  second.started_unix_ns = first.run.started_unix_ns + 1;
  ASSERT_TRUE(store().add_run(second).has_value());
  EXPECT_THAT(ids_from({.labels = {{"commit", "abc"}}}), ElementsAre(first.run.id));
  EXPECT_THAT(ids_from({.labels = {{"commit", ""}}}), ElementsAre(second.id, first.run.id));
  EXPECT_THAT(ids_from({.labels = {{"commit", "def"}, {"branch", ""}}}), IsEmpty());
  EXPECT_THAT(ids_from({.texts = {"MORNING"}}), ElementsAre(second.id));
  EXPECT_THAT(ids_from({.texts = {"net.pte"}}), ElementsAre(second.id));
  EXPECT_THAT(ids_from({.texts = {"mobilenet"}}), ElementsAre(first.run.id)) << "label of a case";
  EXPECT_THAT(ids_from({.texts = {"100%"}}), IsEmpty());
  EXPECT_THAT(ids_from({.texts = {"morning", "NET.pte"}}), ElementsAre(second.id));
  EXPECT_THAT(ids_from({.texts = {"morning", "mobilenet"}}), IsEmpty()) << "all of them";
  EXPECT_THAT(ids_from({.model = "MobileNet_v2"}), ElementsAre(first.run.id));
  EXPECT_THAT(ids_from({.model = "net.pte"}), IsEmpty()) << "it has no case";
  EXPECT_THAT(ids_from({.made_by = "bench"}), ElementsAre(second.id));
  EXPECT_THAT(ids_from({.made_by = "measure"}), ElementsAre(second.id));
  EXPECT_THAT(ids_from({.made_by = "verify"}), ElementsAre(first.run.id));
  EXPECT_THAT(ids_from({.limit = -1}), SizeIs(2));
}

TEST_P(StoreManage, FindsTheNewestRunWithALabel) {
  const auto first = add_sample_run(store());  // commit=abc, branch=café
  const auto second = add_sample_run(store());
  ASSERT_TRUE(store().tag_run(second.run.id, {{"commit", "def=1"}}, {}));
  EXPECT_EQ(store().get_run("label:commit=abc").value().id, first.run.id);
  EXPECT_EQ(store().get_run("label:commit=def=1").value().id, second.run.id);
  EXPECT_EQ(store().get_run("label:branch").value().id, second.run.id);
  EXPECT_EQ(store().get_run("label:commit=").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().get_run("label:absent").error().code, ErrorCode::kNotFound);
}

TEST_P(StoreManage, LabelsAlsoAFinishedRun) {
  const auto records = add_sample_run(store());
  ASSERT_TRUE(store().finish_run(records.run.id, 5).has_value());
  const std::vector<std::string> removed = {"branch", "absent"};
  ASSERT_TRUE(store().tag_run(records.run.id, {{"commit", "new"}, {"keep", ""}}, removed));
  EXPECT_THAT(store().get_run(records.run.id).value().labels,
              ElementsAre(Pair("commit", "new"), Pair("keep", "")));
  EXPECT_EQ(store().tag_run("absent", {}, {}).error().code, ErrorCode::kNotFound);
}

TEST_P(StoreManage, RemovesARunWithAllThatIsItsOwn) {
  const auto records = add_sample_run(store());
  const std::vector<MetricRow> rows = {{records.attempt.id, "", make_metric("first_ns", 5)}};
  ASSERT_TRUE(store().add_metrics(rows).has_value());
  ASSERT_TRUE(store().add_run_device(records.run.id, "pi5", records.environment));
  ASSERT_TRUE(store().put_comparison({.id = make_id(), .run = records.run.id}).has_value());
  for (const auto& owner : {records.run.id, records.attempt.id, records.launch.id}) {
    ASSERT_TRUE(store().add_attachment({owner, "log", "x"}).has_value());
  }
  ASSERT_TRUE(store().remove_run(records.run.id).has_value());
  EXPECT_THAT(store().list_runs({}).value(), IsEmpty());
  EXPECT_THAT(store().cases_of_run(records.run.id).value(), IsEmpty());
  EXPECT_THAT(store().environments_of_run(records.run.id).value(), IsEmpty());
  EXPECT_THAT(store().attempts_of_run(records.run.id).value(), IsEmpty());
  EXPECT_THAT(store().comparisons_of_run(records.run.id).value(), IsEmpty());
  EXPECT_THAT(store().launches_of_attempt(records.attempt.id).value(), IsEmpty());
  EXPECT_THAT(store().metrics_of_attempt(records.attempt.id).value(), IsEmpty());
  for (const auto& owner : {records.run.id, records.attempt.id, records.launch.id}) {
    EXPECT_THAT(store().attachments_of(owner).value(), IsEmpty());
  }
  EXPECT_EQ(store().get_subject(records.attempt.subject).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().get_artifact(records.artifact.id()).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().remove_run(records.run.id).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(store().vacuum().has_value());
}

TEST_P(StoreManage, TellsTheRoomThatARemovalLeaves) {
  const auto before = store().room().value();
  EXPECT_GT(before.bytes, 0);
  const auto records = add_sample_run(store());
  std::string noise(300'000, ' ');
  std::mt19937 generator(1);
  std::ranges::generate(noise, [&] { return static_cast<char>(generator()); });
  ASSERT_TRUE(store().add_attachment({records.attempt.id, "log", noise}).has_value());
  ASSERT_TRUE(store().remove_run(records.run.id).has_value());
  if (GetParam() != StoreKind::kPostgres) {
    EXPECT_GT(store().room().value().free_bytes, 250'000);
    EXPECT_GT(store().vacuum().value(), 250'000);
  }
  EXPECT_EQ(store().room().value().free_bytes, 0);
}

TEST_P(StoreManage, LeavesWhatAnotherRunRefersTo) {
  const auto first = add_sample_run(store());
  const auto second = add_sample_run(store());
  ASSERT_TRUE(store().add_attachment({second.attempt.id, "log", "x"}).has_value());
  auto device = second.environment;
  device.memory_bytes = 17;
  ASSERT_TRUE(store().add_run_device(second.run.id, "pi5", device));
  ASSERT_TRUE(store().remove_run(first.run.id).has_value());
  EXPECT_EQ(json_of(store().get_run("latest").value()), json_of(second.run));
  EXPECT_EQ(json_of(store().cases_of_run(second.run.id).value()),
            json_of(std::vector{second.cell}));
  EXPECT_EQ(json_of(store().get_subject(second.attempt.subject).value()), json_of(second.subject));
  EXPECT_EQ(json_of(store().get_artifact(second.attempt.artifact).value()),
            json_of(second.artifact));
  EXPECT_EQ(json_of(store().environment_of_run(second.run.id).value()),
            json_of(second.environment));
  EXPECT_EQ(json_of(store().environments_of_run(second.run.id)->at("pi5")), json_of(device));
  EXPECT_THAT(store().launches_of_attempt(second.attempt.id).value(), SizeIs(1));
  EXPECT_THAT(store().attachments_of(second.attempt.id).value(), SizeIs(1));
}

TEST_P(StoreManage, KeepsAReferenceUntilTheLastRunThatUsesItIsRemoved) {
  const auto first = add_sample_run(store());
  const auto second = add_sample_run(store());
  const auto reference = first.reference.id();
  ASSERT_EQ(second.reference.id(), reference);
  ASSERT_TRUE(store().add_attachment({reference, first.run.id, ""}));
  ASSERT_TRUE(store().add_attachment({reference, second.run.id, ""}));
  ASSERT_TRUE(store().remove_run(first.run.id));
  EXPECT_TRUE(store().get_reference(reference));
  EXPECT_THAT(store().attachments_of(reference).value(), SizeIs(1));
  ASSERT_TRUE(store().remove_run(second.run.id));
  EXPECT_EQ(store().get_reference(reference).error().code, ErrorCode::kNotFound);
  EXPECT_THAT(store().attachments_of(reference).value(), IsEmpty());
}

TEST_P(StoreManage, KeepsTheCalibrationOfAMachineWithoutRuns) {
  const auto records = add_sample_run(store());
  ASSERT_TRUE(store().add_attachment({records.environment.id, "calibration", "{}"}).has_value());
  ASSERT_TRUE(store().remove_run(records.run.id).has_value());
  EXPECT_THAT(store().attachments_of(records.environment.id).value(), SizeIs(1));
}

TEST_P(StoreManage, TellsItsSize) {
  EXPECT_EQ(store().info().value().runs, 0);
  const auto records = add_sample_run(store());
  const auto info = store().info();
  ASSERT_TRUE(info.has_value()) << info.error().message;
  EXPECT_EQ(info->runs, 1);
  EXPECT_EQ(info->unfinished_runs, 1);
  EXPECT_EQ(info->oldest_unix_ns, records.run.started_unix_ns);
  EXPECT_GT(info->schema, 7);
  EXPECT_GT(info->bytes, 0);
  const auto launches = std::ranges::find(info->tables, "launch", &TableSize::name);
  ASSERT_NE(launches, info->tables.end());
  EXPECT_EQ(launches->rows, 1);
}

TEST_P(StoreManage, ExportsRunsThatAMergeBringsBack) {
  const auto wanted = add_sample_run(store());
  const auto other = add_sample_run(store());
  ASSERT_TRUE(store().add_attachment({wanted.launch.id, "log", "text"}).has_value());
  auto device = wanted.environment;
  device.id = "env-2";
  ASSERT_TRUE(store().add_run_device(wanted.run.id, "pi5", device));
  ASSERT_TRUE(store().add_attachment({device.id, "calibration", "{}"}).has_value());
  const std::vector runs = {wanted.run.id};
  const auto exported = store().export_runs(runs, file("part.db"));
  ASSERT_TRUE(exported.has_value()) << exported.error().message;
  EXPECT_EQ(store().export_runs(runs, file("part.db")).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(store().merge_from(file("part.db")).value(), 0) << "all of it came from here";
  const auto part = open_sqlite_store(file("part.db")).value();
  EXPECT_THAT(part->list_runs({}).value(), SizeIs(1));
  EXPECT_EQ(json_of(part->launches_of_attempt(wanted.attempt.id).value()),
            json_of(store().launches_of_attempt(wanted.attempt.id).value()));
  EXPECT_THAT(part->attachments_of(wanted.launch.id).value(), SizeIs(1));
  EXPECT_THAT(part->attachments_of(device.id).value(), SizeIs(1)) << "calibrations of its devices";
  EXPECT_EQ(part->get_run(other.run.id).error().code, ErrorCode::kNotFound);
  const std::vector<std::string> absent = {"none"};
  EXPECT_EQ(store().export_runs(absent, file("none.db")).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(file("none.db")));
}

}  // namespace
}  // namespace assay
