// Several clients of one database at once. Without a server there are no such tests.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "assay/base/result.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"
#include "assay/store/postgres/connection.h"
#include "assay/store/result_store.h"
#include "assay/store/testing/sample_records.h"
#include "assay/store/testing/store_fixture.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

/// Time in microseconds that a statement has waited for a lock; 0 if none waits.
constexpr std::string_view kBeginOfWait =
    "SELECT CAST(coalesce(max(extract(epoch FROM query_start) * 1000000), 0) AS BIGINT) FROM "
    "pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";

constexpr const char* kLockedRuns = "LOCK TABLE assay.run IN ACCESS EXCLUSIVE MODE";

class StoreOfMany : public EveryStore {
 protected:
  std::unique_ptr<postgres::Connection> connect(const std::string& parameters = "") const {
    return postgres::Connection::open(test_database() + parameters, postgres::Purpose::kWrite)
        .value();
  }

  /// The address of a client whose waits for locks end soon.
  static std::string impatient() {
    return std::string(test_database()) +
           "?application_name=impatient&options=-c%20lock_timeout%3D50ms";
  }

  /// Begins `action` while another client has done `sql` and not committed it, and commits once the
  /// action waits for it, or has begun to wait `times` times.
  void while_other_has_done(const std::string& sql, const std::function<void()>& action,
                            std::size_t times = 1) const {
    const auto other = connect();
    const auto watcher = connect();
    ASSERT_TRUE(other->run_script("BEGIN; " + sql).has_value());
    std::atomic<bool> has_ended = false;
    std::thread thread([&] {
      action();
      has_ended = true;
    });
    std::set<std::int64_t> begun{0};
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (begun.size() <= times && !has_ended && std::chrono::steady_clock::now() < end) {
      begun.insert(watcher->get_integer(kBeginOfWait).value());
    }
    EXPECT_FALSE(has_ended) << "it did not wait";
    EXPECT_TRUE(other->run_script("COMMIT").has_value());
    thread.join();
  }
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoreOfMany);
INSTANTIATE_TEST_SUITE_P(Stores, StoreOfMany, testing::ValuesIn(databases()), name_of_store);

TEST_P(StoreOfMany, KeepsLabelsThatAreSetAtTheSameTime) {
  const auto run = add_sample_run(store()).run.id;
  while_other_has_done(R"(UPDATE assay.run SET labels = '{"keep": ""}')",
                       [&] { EXPECT_TRUE(store().tag_run(run, {{"commit", "def"}}, {})); });
  EXPECT_THAT(store().get_run(run).value().labels,
              ElementsAre(Pair("commit", "def"), Pair("keep", "")));
}

TEST_P(StoreOfMany, AddsNothingToARunThatEndsMeanwhile) {
  const auto records = add_sample_run(store());
  while_other_has_done("UPDATE assay.run SET finished_unix_ns = 5", [&] {
    const auto added = store().add_launch(make_launch(records.attempt.id, 1));
    ASSERT_FALSE(added.has_value());
    EXPECT_EQ(added.error().code, ErrorCode::kInvalidArgument);
  });
}

TEST_P(StoreOfMany, DoesNotTakeTheStateOfAnIncidentBack) {
  const Repository repository{.url = "/src/toy", .engine = "toy"};
  Incident incident{
      .id = make_id(), .repository = repository.id(), .opened_unix_ns = 20, .changed_unix_ns = 20};
  ASSERT_TRUE(store().add_repository(repository).has_value());
  ASSERT_TRUE(store().add_incident(incident).has_value());
  auto later = incident;
  later.state = IncidentState::kVerifying;
  later.changed_unix_ns = 40;
  auto earlier = later;
  earlier.changed_unix_ns = 30;
  const auto document = json_of(later).dump();
  while_other_has_done(
      "UPDATE assay.incident SET state = 'verifying', changed_unix_ns = 40, "
      "document = '" +
          document + "'",
      [&] {
        const auto updated = store().update_incident(earlier);
        ASSERT_FALSE(updated.has_value());
        EXPECT_THAT(updated.error().message, HasSubstr("changed since"));
      });
  EXPECT_EQ(json_of(store().incidents_of(repository.id()).value().at(0)), json_of(later));
}

TEST_P(StoreOfMany, LetsOneExecutionOfAJobCount) {
  const auto run = add_sample_run(store()).run.id;
  for (const auto* const id : {"first", "second"}) {
    ASSERT_TRUE(store().add_execution({.id = id, .run = run, .job = "job"}).has_value());
  }
  while_other_has_done(
      "SELECT 1 FROM assay.run FOR UPDATE; "
      "UPDATE assay.execution SET accepted_unix_ns = 7 WHERE id = 'second'",
      [&] { EXPECT_FALSE(store().accept_execution("first").value()); });
}

// The first try ends with the timeout that the address asks for, the second is made after it.
TEST_P(StoreOfMany, TriesAgainWhatHasWaitedForLong) {
  const auto run = add_sample_run(store()).run.id;
  const auto holder = connect();
  const auto waiter = connect("?options=-c%20lock_timeout%3D20ms");
  ASSERT_TRUE(holder->run_script("BEGIN; SELECT 1 FROM assay.run FOR UPDATE").has_value());
  int tries = 0;
  const auto status = waiter->in_transaction([&]() -> Status {
    if (++tries == 2) {
      ASSAY_RETURN_IF_ERROR(holder->run_script("COMMIT"));
    }
    return waiter->run("UPDATE run SET name = 'later' WHERE id = ?", run);
  });
  EXPECT_TRUE(status.has_value()) << status.error().message;
  EXPECT_EQ(tries, 2);
  EXPECT_EQ(store().get_run(run).value().name, "later");
}

TEST_P(StoreOfMany, ReadsAgainWhereATableIsLockedForLong) {
  const auto run = add_sample_run(store()).run.id;
  const auto reader = open_postgres_store(impatient(), StoreAccess::kRead).value();
  const auto read = [&] {
    const auto found = reader->get_run(run);
    EXPECT_TRUE(found.has_value()) << found.error().message;
  };
  while_other_has_done(kLockedRuns, read, 2);
}

TEST_P(StoreOfMany, CopiesAStoreWhoseTableIsLockedForLong) {
  const auto run = add_sample_run(store()).run.id;
  auto part = open_sqlite_store(file("part.db")).value();
  const auto merge = [&] {
    const auto merged = part->merge_from(impatient());
    EXPECT_TRUE(merged.has_value()) << merged.error().message;
  };
  while_other_has_done(kLockedRuns, merge, 2);
  EXPECT_TRUE(part->get_run(run).has_value());
}

TEST_P(StoreOfMany, ClaimsARunThatIsLockedForLongAlsoAfterALostConnection) {
  const auto claimer = open_postgres_store(impatient()).value();
  const std::string removal =
      "SELECT pg_advisory_xact_lock(1095975257, "
      "CAST(CAST('x' || left(encode(sha256('run'), 'hex'), 8) AS BIT(32)) AS INTEGER))";
  const auto claim = [&] {
    const auto claimed = claimer->claim_run("run");
    EXPECT_TRUE(claimed.has_value()) << claimed.error().message;
  };
  while_other_has_done(removal, claim, 2);
  ASSERT_TRUE(
      connect()->run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                     "application_name = 'impatient' AND datname = current_database()"));
  const auto read = [&] { EXPECT_TRUE(claimer->list_runs({}).has_value()); };
  while_other_has_done(removal, read, 2);
}

TEST_P(StoreOfMany, EndsAWaitThatNobodyLimits) {
  const auto limit = connect()->get_integer(
      "SELECT CAST(setting AS BIGINT) FROM pg_settings WHERE name = 'lock_timeout'");
  EXPECT_EQ(limit.value(), 20'000);
}

// Who removes or vacuums must not stop everybody else until a reader ends.
TEST_P(StoreOfMany, DoesNotWaitForAReaderToRewriteATable) {
  const auto run = add_sample_run(store()).run.id;
  const auto reader = connect();
  ASSERT_TRUE(reader->run_script("BEGIN; SELECT count(*) FROM assay.launch").has_value());
  EXPECT_TRUE(store().remove_run(run).has_value()) << "a removal rewrites nothing";
  const auto vacuumed = store().vacuum();
  ASSERT_FALSE(vacuumed.has_value());
  EXPECT_EQ(vacuumed.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace assay
