// Contract of every store for merging the records of another one.
#include <cstdint>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/metric.h"
#include "assay/record/repository.h"
#include "assay/store/result_store.h"
#include "assay/store/sqlite/sqlite_store.h"
#include "assay/store/testing/sample_records.h"
#include "assay/store/testing/store_fixture.h"

namespace assay {
namespace {

using std::string_literals::operator""s;
using testing::HasSubstr;
using testing::SizeIs;

class StoreMerge : public EveryStore {};

INSTANTIATE_TEST_SUITE_P(Stores, StoreMerge, every_store(), name_of_store);

class StoreInDatabase : public EveryStore {};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoreInDatabase);
INSTANTIATE_TEST_SUITE_P(Stores, StoreInDatabase, testing::ValuesIn(databases()), name_of_store);

TEST_P(StoreMerge, BringsAnotherStoreOnce) {
  const auto own = add_sample_run(store());
  SampleRun theirs;
  {
    auto other = open_sqlite_store(file("other.db")).value();
    theirs = add_sample_run(*other);
    ASSERT_TRUE(other->add_attachment({theirs.launch.id, "log", "text"}).has_value());
    ASSERT_TRUE(other->add_run_device(theirs.run.id, "pi5", theirs.environment));
    const std::vector<MetricRow> rows = {{theirs.attempt.id, "", make_metric("first_ns", 5)}};
    ASSERT_TRUE(other->add_metrics(rows).has_value());
  }
  const auto copied = store().merge_from(file("other.db"));
  ASSERT_TRUE(copied.has_value()) << copied.error().message;
  EXPECT_GT(*copied, 0);
  EXPECT_EQ(store().merge_from(file("other.db")).value(), 0);
  EXPECT_THAT(store().list_runs({.limit = 10}).value(), SizeIs(2));
  const auto launches = store().launches_of_attempt(theirs.attempt.id).value();
  ASSERT_THAT(launches, SizeIs(1));
  EXPECT_EQ(json_of(launches[0]), json_of(theirs.launch));
  EXPECT_EQ(launches[0].measurement->samples.execute_ns,
            theirs.launch.measurement->samples.execute_ns);
  EXPECT_THAT(store().attachments_of(theirs.launch.id).value(), SizeIs(1));
  EXPECT_THAT(store().metrics_of_attempt(theirs.attempt.id).value(), SizeIs(1));
  EXPECT_THAT(store().environments_of_run(theirs.run.id).value(), SizeIs(1));
  EXPECT_THAT(store().launches_of_attempt(own.attempt.id).value(), SizeIs(1));
}

TEST_P(StoreMerge, BringsUnfinishedRunsUpToDateAndNeverBack) {
  SampleRun theirs;
  {
    auto other = open_sqlite_store(file("other.db")).value();
    theirs = add_sample_run(*other);
  }
  ASSERT_TRUE(store().merge_from(file("other.db")).has_value());
  ASSERT_TRUE(std::filesystem::copy_file(file("other.db"), file("earlier.db")));
  {
    auto other = open_sqlite_store(file("other.db")).value();
    theirs.attempt.is_finished = true;
    theirs.attempt.outcome = Outcome::kCompleted;
    ASSERT_TRUE(other->put_attempt(theirs.attempt).has_value());
    ASSERT_TRUE(other->finish_run(theirs.run.id, 99).has_value());
  }
  EXPECT_EQ(store().merge_from(file("other.db")).value(), 2);
  EXPECT_EQ(store().get_run(theirs.run.id).value().finished_unix_ns, 99);
  EXPECT_TRUE(store().attempts_of_run(theirs.run.id).value().at(0).is_finished);
  EXPECT_EQ(store().merge_from(file("earlier.db")).value(), 0) << "a copy from before its end";
  EXPECT_TRUE(store().attempts_of_run(theirs.run.id).value().at(0).is_finished);
}

/// Records that may be put again while a run goes on.
struct PutAgain {
  Comparison comparison;
  Case cell;
  std::vector<MetricRow> metrics;
};

Status put_again(ResultStore& store, const PutAgain& rows) {
  ASSAY_RETURN_IF_ERROR(store.put_comparison(rows.comparison));
  ASSAY_RETURN_IF_ERROR(store.add_case(rows.comparison.run, rows.cell));
  return store.add_metrics(rows.metrics);
}

Json rows_put_again(ResultStore& store, const SampleRun& records) {
  return {{"comparisons", store.comparisons_of_run(records.run.id).value()},
          {"cases", store.cases_of_run(records.run.id).value()},
          {"metric", store.metrics_of_attempt(records.attempt.id).value().at(0).metric}};
}

TEST_P(StoreMerge, TakesAllOfARunFromTheStoreThatWentOnWithIt) {
  SampleRun theirs;
  PutAgain rows;
  {
    auto other = open_sqlite_store(file("other.db")).value();
    theirs = add_sample_run(*other);
    rows = {.comparison = {.id = make_id(),
                           .run = theirs.run.id,
                           .text = "cannot tell: too few pairs for a first look"},
            .cell = theirs.cell,
            .metrics = {{theirs.attempt.id, "", make_metric("first_ns", 5)}}};
    ASSERT_TRUE(put_again(*other, rows)) << "the run was interrupted, and told what it had";
  }
  ASSERT_TRUE(store().merge_from(file("other.db")).has_value());
  ASSERT_TRUE(std::filesystem::copy_file(file("other.db"), file("earlier.db")));
  Json finished;
  for (const bool is_last : {false, true}) {
    auto other = open_sqlite_store(file("other.db")).value();
    rows.comparison.text = is_last ? "B takes 5 % more time than A" : "";
    rows.comparison.verdict = ComparisonVerdict::kSlower;
    rows.comparison.launches += 2;
    rows.cell.require = {{"steady_ns", is_last ? "<=2ms" : "<=1ms"}};
    rows.metrics[0].metric.value += 1;
    ASSERT_TRUE(other->add_launch(make_launch(theirs.attempt.id, is_last ? 2 : 1)));
    ASSERT_TRUE(put_again(*other, rows));
    if (is_last) {
      ASSERT_TRUE(other->finish_run(theirs.run.id, 99));
    }
    ASSERT_TRUE(store().merge_from(file("other.db")).has_value());
    finished = rows_put_again(*other, theirs);
    EXPECT_EQ(rows_put_again(store(), theirs), finished) << (is_last ? "finished" : "under way");
    EXPECT_EQ(store().merge_from(file("other.db")).value(), 0);
    EXPECT_EQ(store().merge_from(file("earlier.db")).value(), 0) << "a copy from before";
    EXPECT_EQ(rows_put_again(store(), theirs), finished);
  }
}

TEST_P(StoreMerge, BringsTextsOfAProgramThatSaidAnything) {
  const auto said = "cannot \0 open \xff\xc0\xaf \xed\xa0\x80 \"it's\"\r\n\t\\N \u26a1"s;
  SampleRun theirs;
  {
    auto other = open_sqlite_store(file("other.db")).value();
    theirs = add_sample_run(*other);
    theirs.attempt.text = said;
    ASSERT_TRUE(other->put_attempt(theirs.attempt).has_value());
    auto launch = make_launch(theirs.attempt.id, 1);
    launch.text = said;
    launch.traces->channels.at(0).channel = "power:" + said;
    ASSERT_TRUE(other->add_launch(launch).has_value());
    ASSERT_TRUE(other->tag_run(theirs.run.id, {{said, said}}, {}).has_value());
    theirs.attempt.text = other->attempts_of_run(theirs.run.id).value().at(0).text;
  }
  const auto merged = store().merge_from(file("other.db"));
  ASSERT_TRUE(merged.has_value()) << merged.error().message;
  EXPECT_EQ(store().attempts_of_run(theirs.run.id).value().at(0).text, theirs.attempt.text);
  EXPECT_THAT(theirs.attempt.text, HasSubstr("cannot \uFFFD open \uFFFD"));
  const auto launches = store().launches_of_attempt(theirs.attempt.id);
  ASSERT_TRUE(launches.has_value()) << launches.error().message;
  EXPECT_EQ(launches->at(1).text, theirs.attempt.text);
  EXPECT_THAT(store().list_runs({.labels = {{"commit", "abc"}}}).value(), SizeIs(1));
  EXPECT_EQ(store().merge_from(file("other.db")).value(), 0);
}

TEST_P(StoreMerge, TakesTheFurtherPositionOfARevision) {
  const Repository repository{.url = "/src/toy", .engine = "toy"};
  const auto revision = [&](std::int64_t position) {
    return std::vector<Revision>{
        {.repository = repository.id(), .hash = std::string(40, 'b'), .position = position}};
  };
  const auto add = [&](ResultStore& target, std::int64_t position) {
    ASSERT_TRUE(target.add_repository(repository).has_value());
    ASSERT_TRUE(target.add_revisions(revision(position)).has_value());
  };
  const auto position = [&] {
    return store().revisions_of(repository.id()).value().at(0).position;
  };
  add(*open_sqlite_store(file("other.db")).value(), 7);
  add(store(), 5);
  EXPECT_TRUE(store().merge_from(file("other.db")).has_value()) << "no conflict";
  EXPECT_EQ(position(), 7);
  add(store(), 9);
  EXPECT_TRUE(store().merge_from(file("other.db")).has_value());
  EXPECT_EQ(position(), 9);
}

TEST_P(StoreMerge, KeepsTwoArtifactsOfTheSameBytesApart) {
  const auto own = add_sample_run(store());
  SampleRun theirs;
  {
    auto other = open_sqlite_store(file("other.db")).value();
    theirs = add_sample_run(*other);
    theirs.artifact.manifest = nullptr;
    theirs.attempt.artifact = theirs.artifact.id();
    ASSERT_TRUE(other->add_artifact(theirs.artifact).has_value());
    ASSERT_TRUE(other->put_attempt(theirs.attempt).has_value());
  }
  ASSERT_TRUE(store().merge_from(file("other.db")).has_value());
  const auto artifact_from = [this](const SampleRun& records) {
    const auto attempts = store().attempts_of_run(records.run.id).value();
    return json_of(store().get_artifact(attempts.at(0).artifact).value());
  };
  EXPECT_EQ(artifact_from(own), json_of(own.artifact));
  EXPECT_EQ(artifact_from(theirs), json_of(theirs.artifact));
}

TEST_P(StoreMerge, RefusesOneIdWithTwoContents) {
  SampleRun theirs;
  {
    auto other = open_sqlite_store(file("other.db")).value();
    theirs = add_sample_run(*other);
  }
  ASSERT_TRUE(store().merge_from(file("other.db")).has_value());
  ASSERT_TRUE(store().tag_run(theirs.run.id, {{"night", "1"}}, {}).has_value());
  ASSERT_TRUE(store().merge_from(file("other.db")).has_value()) << "labels are no result";
  {
    auto other = sqlite::SqliteResultStore::open(file("other.db")).value();
    ASSERT_TRUE(other->connection().run("UPDATE launch SET wall_ns = wall_ns + 1").has_value());
  }
  const auto merged = store().merge_from(file("other.db"));
  ASSERT_FALSE(merged.has_value());
  EXPECT_EQ(merged.error().code, ErrorCode::kConflict);
  EXPECT_THAT(merged.error().message, HasSubstr("launch '" + theirs.launch.id + "' differs"));
}

/// All that the two sample runs of a test consist of, as the store gives it back.
Json rows_of(ResultStore& store, const SampleRun& records) {
  const auto launches = store.launches_of_attempt(records.attempt.id).value();
  Json rows = {{"run", store.get_run(records.run.id).value()},
               {"cases", store.cases_of_run(records.run.id).value()},
               {"attempts", store.attempts_of_run(records.run.id).value()},
               {"launches", launches},
               {"samples", launches.at(0).measurement->samples.execute_ns},
               {"metrics", Json::array()}};
  const auto metrics = store.metrics_of_attempt(records.attempt.id).value();
  for (const auto& metric : metrics) {
    rows["metrics"].push_back(metric.metric);
  }
  return rows;
}

TEST_P(StoreInDatabase, GoesToAFileAndBack) {
  const auto records = add_sample_run(store());
  const std::vector<MetricRow> rows = {
      {records.attempt.id, "", make_metric("ratio", 1.0 / 3)},
      {records.attempt.id, "", make_metric("sqnr_db", std::numeric_limits<double>::infinity())}};
  ASSERT_TRUE(store().add_metrics(rows).has_value());
  auto part = open_sqlite_store(file("part.db")).value();
  const auto copied = part->merge_from(test_database());
  ASSERT_TRUE(copied.has_value()) << copied.error().message;
  EXPECT_EQ(rows_of(*part, records), rows_of(store(), records));
  EXPECT_EQ(part->merge_from(test_database()).value(), 0);
  EXPECT_EQ(store().merge_from(file("part.db")).value(), 0) << "it came from here";
  auto emptied = open_empty_database().value();
  EXPECT_EQ(emptied->merge_from(file("part.db")).value(), *copied);
  EXPECT_EQ(rows_of(*emptied, records), rows_of(*part, records));
  EXPECT_EQ(emptied->merge_from(test_database()).error().code, ErrorCode::kInvalidArgument);
}

TEST_P(StoreMerge, RefusesWhatIsNoStore) {
  EXPECT_EQ(store().merge_from(file("absent.db")).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(file("absent.db")));
  ASSERT_TRUE(write_file_atomically(file("text.db"), "this is a text, not a database").has_value());
  const auto merged = store().merge_from(file("text.db"));
  ASSERT_FALSE(merged.has_value());
  EXPECT_EQ(merged.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(merged.error().message, HasSubstr("text.db"));
}

}  // namespace
}  // namespace assay
