// Tests of faults that only a store in a file has: death, a full disk, other writers.
#include "assay/store/sqlite/sqlite_store.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/store/result_store.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/launch_digest.h"
#include "assay/store/sql/migrations.h"
#include "assay/store/sql/rows.h"
#include "assay/store/sql/run_list.h"
#include "assay/store/sqlite/connection.h"
#include "assay/store/sqlite/migrations.h"
#include "assay/store/testing/sample_records.h"
#include "assay/store/testing/sqlite_store_fixture.h"

namespace assay::sqlite {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

std::string integrity_of(SqliteResultStore& store) {
  auto statement = store.connection().prepare("PRAGMA integrity_check").value();
  EXPECT_TRUE(statement.step().value());
  return statement.text(0);
}

std::set<std::string> ids_of_launches(SqliteResultStore& store, const std::string& attempt) {
  std::set<std::string> ids;
  const auto launches = store.launches_of_attempt(attempt).value();
  for (const auto& launch : launches) {
    EXPECT_EQ(launch.measurement->samples.execute_ns.size(), 60U);
    ids.insert(launch.id);
  }
  return ids;
}

// Adds launches and reports each id, once add_launch returned, in one write.
void add_launches_until_killed(const std::filesystem::path& path, const std::string& attempt,
                               int report_fd) {
  auto store = SqliteResultStore::open(path).value();
  for (int index = 1;; ++index) {
    const auto launch = make_launch(attempt, index);
    if (!store->add_launch(launch)) {
      ::_exit(1);
    }
    const auto line = launch.id + "\n";
    if (::write(report_fd, line.data(), line.size()) < 0) {
      ::_exit(2);
    }
  }
}

TEST_F(SqliteStore, LosesNoFinishedLaunchWhenItsWriterIsKilled) {
  const auto records = add_sample_run(*open());
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child =
      start_child([&] { add_launches_until_killed(file(), records.attempt.id, ends[1]); });
  ::close(ends[1]);
  std::string reported;
  char buffer[4096];
  constexpr std::size_t kEnough = 20 * 37;
  for (ssize_t n = 1; n > 0;) {
    n = ::read(ends[0], buffer, sizeof buffer);
    reported.append(buffer, static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    if (reported.size() >= kEnough) {
      ::kill(child, SIGKILL);
    }
  }
  ::close(ends[0]);
  EXPECT_EQ(exit_code_of(child), -1) << "killed, not ended";

  auto store = open();
  const auto kept = ids_of_launches(*store, records.attempt.id);
  std::istringstream lines(reported);
  int count = 0;
  for (std::string id; std::getline(lines, id); ++count) {
    EXPECT_TRUE(kept.contains(id)) << id;
  }
  EXPECT_GE(count, 20);
  EXPECT_EQ(integrity_of(*store), "ok");
}

TEST_F(SqliteStore, TakesLaunchesFromTwoProcessesAtOnce) {
  constexpr int kEach = 40;
  std::vector<pid_t> children;
  for (int worker = 0; worker < 2; ++worker) {
    // Both make the file and its schema.
    children.push_back(start_child([&] {
      auto store = SqliteResultStore::open(file());
      if (!store) {
        ::_exit(1);
      }
      const auto records = add_sample_run(**store);
      for (int i = 1; i < kEach; ++i) {
        if (!(*store)->add_launch(make_launch(records.attempt.id, i))) {
          ::_exit(2);
        }
      }
    }));
  }
  for (const auto child : children) {
    EXPECT_EQ(exit_code_of(child), 0);
  }
  auto store = open();
  const auto runs = store->list_runs({.limit = 10}).value();
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(runs[0].launches, kEach);
  EXPECT_EQ(runs[1].launches, kEach);
  EXPECT_EQ(integrity_of(*store), "ok");
}

// Adds attachments until the store refuses.
Status fill(SqliteResultStore& store) {
  std::string noise(100'000, '\0');
  std::uint64_t state = 1;
  for (int i = 0; i < 1000; ++i) {
    for (auto& byte : noise) {
      state = state * 6364136223846793005ULL + 1;
      byte = static_cast<char>(state >> 56);
    }
    ASSAY_RETURN_IF_ERROR(store.add_attachment({"owner", "log", noise}));
  }
  return {};
}

void expect_readable_though_full(SqliteResultStore& store, const SampleRun& records) {
  const auto filled = fill(store);
  ASSERT_FALSE(filled.has_value());
  EXPECT_EQ(filled.error().code, ErrorCode::kExhausted) << filled.error().message;
  EXPECT_THAT(filled.error().message, HasSubstr("free some disk space"));
  EXPECT_EQ(ids_of_launches(store, records.attempt.id).size(), 1U);
  EXPECT_GT(store.attachments_of("owner").value().size(), 0U);
  EXPECT_EQ(integrity_of(store), "ok");
}

TEST_F(SqliteStore, StaysReadableWhenItMayNotGrow) {
  auto store = open();
  const auto records = add_sample_run(*store);
  ASSERT_TRUE(store->connection().run("PRAGMA max_page_count = 200").has_value());
  expect_readable_though_full(*store, records);
}

TEST_F(SqliteStore, StaysReadableOnAFullDisk) {
  const auto mount_point = folder_.path() / "small";
  std::filesystem::create_directory(mount_point);
  if (::mount("tmpfs", mount_point.c_str(), "tmpfs", 0, "size=2m") != 0) {
    GTEST_SKIP() << "needs the right to mount";
  }
  {
    auto store = open("small/results.db");
    const auto records = add_sample_run(*store);
    expect_readable_though_full(*store, records);
  }
  {
    auto again = open("small/results.db");
    EXPECT_THAT(again->list_runs({.limit = 10}).value(), SizeIs(1)) << "opens on the full disk";
  }
  EXPECT_EQ(::umount(mount_point.c_str()), 0);
}

TEST_F(SqliteStore, RefusesNewerSchema) {
  ASSERT_TRUE(open()->connection().run("PRAGMA user_version = 99").has_value());
  const auto error = error_of_opening("results.db");
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_THAT(error.message, HasSubstr("schema 99"));
  EXPECT_THAT(error.message, HasSubstr("update Assay"));
  auto other = open("mine.db");
  EXPECT_EQ(other->merge_from(file()).error().code, ErrorCode::kUnsupported);
}

TEST_F(SqliteStore, RefusesAFileThatIsNoDatabase) {
  std::ofstream(file("text.db")) << "this is not a database, however long it may go on and on";
  const auto error = error_of_opening("text.db");
  EXPECT_EQ(error.code, ErrorCode::kCorrupt);
  EXPECT_THAT(error.message, HasSubstr("text.db"));
  EXPECT_THAT(error.message, HasSubstr("name another store"));
}

TEST_F(SqliteStore, RefusesADatabaseOfAnotherProgram) {
  {
    auto other = Connection::open(file("other.db")).value();
    ASSERT_TRUE(other.run("CREATE TABLE person (name TEXT)").has_value());
  }
  const auto error = error_of_opening("other.db");
  EXPECT_EQ(error.code, ErrorCode::kCorrupt);
  EXPECT_THAT(error.message, HasSubstr("another program"));
}

TEST_F(SqliteStore, SaysThatAFolderCannotBeWritten) {
  const auto store = open_sqlite_store("/proc/assay/results.db");
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(store.error().message, HasSubstr("writable"));
  EXPECT_THAT(store.error().message, HasSubstr("/proc/assay/results.db"));
}

TEST_F(SqliteStore, RefusesToMergeWithItself) {
  auto store = open();
  EXPECT_EQ(store->merge_from(file()).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(SqliteStore, RefusesToMergeAnEmptyFile) {
  std::ofstream(file("empty.db")) << "";
  EXPECT_EQ(open()->merge_from(file("empty.db")).error().code, ErrorCode::kCorrupt);
}

TEST_F(SqliteStore, MergesAFileWithAnOddName) {
  const std::string name = "a'b %3F?#.db";
  add_sample_run(*open(name));
  EXPECT_GT(open()->merge_from(file(name)).value(), 0);
}

TEST_F(SqliteStore, TakesBackAMergeThatFails) {
  {
    auto other = open("other.db");
    const auto records = add_sample_run(*other);
    // A launch without its attempt, as damage could leave it.
    ASSERT_TRUE(other->connection().run("PRAGMA foreign_keys = OFF").has_value());
    ASSERT_TRUE(other->connection().run("DELETE FROM attempt").has_value());
  }
  auto store = open();
  EXPECT_FALSE(store->merge_from(file("other.db")).has_value());
  EXPECT_THAT(store->list_runs({.limit = 10}).value(), SizeIs(0));
  const auto records = add_sample_run(*store);
  EXPECT_EQ(ids_of_launches(*store, records.attempt.id).size(), 1U) << "still writes";
}

TEST_F(SqliteStore, ReportsDamagedJsonInsteadOfThrowing) {
  auto store = open();
  const auto records = add_sample_run(*store);
  ASSERT_TRUE(store->connection().run("UPDATE launch SET measurement = '{\"first\": 3}'"));
  ASSERT_TRUE(sql::seal_launch(store->connection(), records.launch.id));
  const auto launches = store->launches_of_attempt(records.attempt.id);
  ASSERT_FALSE(launches.has_value());
  EXPECT_EQ(launches.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(launches.error().message, HasSubstr("measurement"));
}

TEST_F(SqliteStore, LooksARunUpByItsId) {
  auto connection = Connection::open(":memory:").value();
  ASSERT_TRUE(migrate(connection));
  const auto plan_of = [&connection](const RunFilter& filter) {
    const auto steps =
        sql::collect(connection.prepare("EXPLAIN QUERY PLAN " + sql::run_list_sql(filter)),
                     [](sql::Statement& row) { return Result<std::string>(row.text(3)); });
    return fmt::format("{}", fmt::join(steps.value(), "\n"));
  };
  EXPECT_THAT(plan_of({.id = "r"}), HasSubstr("SEARCH run USING INDEX"));
  EXPECT_THAT(plan_of({.id = "r"}), Not(HasSubstr("SCAN run")));
}

TEST_F(SqliteStore, MarksItsFileAndWritesAhead) {
  auto store = open();
  EXPECT_EQ(store->connection().get_integer("PRAGMA application_id").value(), kApplicationId);
  EXPECT_EQ(store->connection().get_integer("PRAGMA user_version").value(), sql::newest_schema());
  EXPECT_EQ(store->connection().get_integer("PRAGMA foreign_keys").value(), 1);
  EXPECT_EQ(store->connection().get_integer("PRAGMA synchronous").value(), 2);
  auto mode = store->connection().prepare("PRAGMA journal_mode").value();
  ASSERT_TRUE(mode.step().value());
  EXPECT_EQ(mode.text(0), "wal");
}

TEST_F(SqliteStore, KeepsARunThatAnotherProcessWorksOn) {
  auto writer = open();
  const auto records = add_sample_run(*writer);
  auto other = open();
  EXPECT_TRUE(other->list_runs({}).value().front().is_in_use);
  EXPECT_FALSE(writer->list_runs({}).value().front().is_in_use);
  const auto refused = other->remove_run(records.run.id);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("in use"));
  EXPECT_EQ(other->vacuum().error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(writer->finish_run(records.run.id, 5).has_value()) << "the writer goes on";

  writer.reset();
  EXPECT_FALSE(other->list_runs({}).value().front().is_in_use);
  EXPECT_TRUE(other->remove_run(records.run.id).has_value());
  EXPECT_TRUE(other->vacuum().has_value());
}

TEST_F(SqliteStore, RemovesARunWhoseProcessWasKilled) {
  const auto writer = start_child([this] {
    auto store = open();
    add_sample_run(*store);
    ::raise(SIGKILL);
  });
  ASSERT_EQ(::waitpid(writer, nullptr, 0), writer);
  const auto store = open();
  const auto listings = store->list_runs({}).value();
  ASSERT_THAT(listings, SizeIs(1));
  EXPECT_FALSE(listings.front().is_in_use);
  EXPECT_TRUE(store->remove_run(listings.front().run.id).has_value());
}

TEST_F(SqliteStore, KeepsARunThatAReaderClaims) {
  const auto id = add_sample_run(*open()).run.id;
  const auto reader = open_sqlite_store(file(), StoreAccess::kRead).value();
  ASSERT_TRUE(reader->claim_run(id).has_value());
  EXPECT_EQ(open()->remove_run(id).error().code, ErrorCode::kUnavailable);
}

TEST_F(SqliteStore, IsNotReadOnceANewerAssayBringsItUpToDate) {
  const auto writer = open();
  add_sample_run(*writer);
  const auto reader = open_sqlite_store(file(), StoreAccess::kRead).value();
  ASSERT_THAT(reader->list_runs({}).value(), SizeIs(1));
  ASSERT_TRUE(writer->connection().run_script(
      fmt::format("PRAGMA user_version = {}", sql::newest_schema() + 1)));
  const auto listed = reader->list_runs({});
  ASSERT_FALSE(listed.has_value());
  EXPECT_EQ(listed.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(listed.error().message, HasSubstr("start this command again"));
}

TEST_F(SqliteStore, OpensItsOwnFileAgain) {
  const auto records = add_sample_run(*open());
  EXPECT_EQ(nlohmann::json(open()->get_run("latest").value()), nlohmann::json(records.run));
}

}  // namespace
}  // namespace assay::sqlite
