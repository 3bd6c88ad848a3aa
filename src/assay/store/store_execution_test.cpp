// Contract of every store for executions of the jobs of a fleet: one of each job counts.
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/comparison.h"
#include "assay/record/job_execution.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"
#include "assay/store/sqlite/sqlite_store.h"
#include "assay/store/testing/sample_records.h"
#include "assay/store/testing/store_fixture.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class StoreExecutions : public EveryStore {
 protected:
  /// An execution of one job, with a try at the sample's case of its own.
  JobExecution execute(ResultStore& store, const SampleRun& sample, const std::string& device,
                       std::int64_t finished_unix_ns) {
    const JobExecution execution{.id = make_id(),
                                 .run = sample.run.id,
                                 .job = "job",
                                 .n = 1,
                                 .worker = "host:1",
                                 .device = device,
                                 .started_unix_ns = 1,
                                 .finished_unix_ns = finished_unix_ns};
    auto attempt = sample.attempt;
    attempt.id = make_id();
    attempt.worker = execution.id;
    attempt.device = device;
    auto cell = sample.cell;
    cell.device = device;
    EXPECT_TRUE(store.add_case(sample.run.id, cell).has_value());
    EXPECT_TRUE(store.put_attempt(attempt).has_value());
    EXPECT_TRUE(store.add_execution(execution).has_value());
    return execution;
  }

  static std::vector<std::string> devices(ResultStore& store, const std::string& run) {
    std::vector<std::string> devices;
    const auto attempts = store.attempts_of_run(run).value();
    for (const auto& attempt : attempts) {
      devices.push_back(attempt.device);
    }
    return devices;
  }

  static std::vector<bool> counted(ResultStore& store, const std::string& run) {
    std::vector<bool> counted;
    const auto executions = store.executions_of_run(run).value();
    for (const auto& execution : executions) {
      counted.push_back(execution.is_counted);
    }
    return counted;
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreExecutions, every_store(), name_of_store);

TEST_P(StoreExecutions, GiveBackWhatWasAdded) {
  const auto sample = add_sample_run(store());
  const auto execution = execute(store(), sample, "d1", 5);
  EXPECT_EQ(json_of(store().executions_of_run(sample.run.id).value()),
            json_of(std::vector{execution}));
  EXPECT_THAT(store().executions_of_run({}).value(), SizeIs(1));
  EXPECT_THAT(store().executions_of_run("another run").value(), IsEmpty());
}

TEST_P(StoreExecutions, CountOnceByTheOneThatFinishedFirst) {
  const auto sample = add_sample_run(store());
  execute(store(), sample, "d1", 7);
  execute(store(), sample, "d2", 5);
  EXPECT_THAT(devices(store(), sample.run.id), ElementsAre(sample.attempt.device, "d2"));
  EXPECT_THAT(counted(store(), sample.run.id), ElementsAre(true, false));
  EXPECT_THAT(store().cases_of_run(sample.run.id).value(), SizeIs(2));  // Without d1's.
}

TEST_P(StoreExecutions, CountByTheOneThatWasAcceptedFirst) {
  const auto sample = add_sample_run(store());
  const auto slow = execute(store(), sample, "d1", 7);
  const auto fast = execute(store(), sample, "d2", 5);
  EXPECT_TRUE(store().accept_execution(slow.id).value());
  EXPECT_FALSE(store().accept_execution(fast.id).value());
  EXPECT_TRUE(store().accept_execution(slow.id).value());
  EXPECT_THAT(devices(store(), sample.run.id), ElementsAre(sample.attempt.device, "d1"));
  EXPECT_EQ(store().accept_execution("none").error().code, ErrorCode::kNotFound);
}

TEST_P(StoreExecutions, HideThePlannedComparisonAndThoseThatDoNotCount) {
  const auto sample = add_sample_run(store());
  const auto compared_by = [&](const std::string& worker) {
    const Comparison comparison{.id = make_id(), .run = sample.run.id, .worker = worker};
    EXPECT_TRUE(store().put_comparison(comparison).has_value());
  };
  const auto workers = [&] {
    std::vector<std::string> found;
    const auto comparisons = store().comparisons_of_run(sample.run.id).value();
    for (const auto& comparison : comparisons) {
      found.push_back(comparison.worker);
    }
    return found;
  };
  compared_by("local");
  EXPECT_THAT(workers(), ElementsAre("local"));
  const auto slow = execute(store(), sample, "d1", 7);
  const auto fast = execute(store(), sample, "d2", 5);
  compared_by(slow.id);
  compared_by(fast.id);
  EXPECT_THAT(workers(), ElementsAre(fast.id));
  ASSERT_TRUE(store().accept_execution(slow.id).has_value());
  EXPECT_THAT(workers(), ElementsAre(slow.id));
  EXPECT_THAT(store().list_runs({}).value().front().comparisons, SizeIs(1));
}

TEST_P(StoreExecutions, AreAcceptedOfAFinishedRunAndLeaveItAsItIs) {
  const auto sample = add_sample_run(store());
  const auto first = execute(store(), sample, "d1", 7);
  const auto late = execute(store(), sample, "d2", 5);
  ASSERT_TRUE(store().accept_execution(first.id).has_value());
  ASSERT_TRUE(store().finish_run(sample.run.id, 9).has_value());
  const auto before = json_of(store().attempts_of_run(sample.run.id).value());
  EXPECT_FALSE(store().accept_execution(late.id).value());
  EXPECT_EQ(json_of(store().attempts_of_run(sample.run.id).value()), before);
}

TEST_P(StoreExecutions, KeepTheAcceptanceInAMerge) {
  SampleRun sample;
  JobExecution slow;
  {
    auto other = open_sqlite_store(file("other.db")).value();
    sample = add_sample_run(*other);
    slow = execute(*other, sample, "d1", 7);
    execute(*other, sample, "d2", 5);
  }
  ASSERT_TRUE(store().merge_from(file("other.db")).has_value());
  EXPECT_THAT(devices(store(), sample.run.id), ElementsAre(sample.attempt.device, "d2"));
  {
    auto other = open_sqlite_store(file("other.db")).value();
    ASSERT_TRUE(other->accept_execution(slow.id).has_value());
  }
  ASSERT_TRUE(store().merge_from(file("other.db")).has_value());
  EXPECT_THAT(devices(store(), sample.run.id), ElementsAre(sample.attempt.device, "d1"));
  EXPECT_EQ(store().merge_from(file("other.db")).value(), 0);
}

TEST_P(StoreExecutions, GoWithTheirRun) {
  const auto sample = add_sample_run(store());
  execute(store(), sample, "d1", 5);
  ASSERT_TRUE(store().remove_run(sample.run.id).has_value());
  EXPECT_THAT(store().executions_of_run({}).value(), IsEmpty());
}

}  // namespace
}  // namespace assay
