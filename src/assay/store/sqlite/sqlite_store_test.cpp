// What only a store in a file can suffer: death, a full disk, other writers, other versions.
#include "assay/store/sqlite/sqlite_store.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdlib.h>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/store/result_store.h"
#include "assay/store/testing/sample_records.h"
#include "assay/store/sqlite/migrations.h"

namespace assay::sqlite {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class SqliteStore : public testing::Test {
 protected:
  SqliteStore() : folder_(make_store_folder()) {}

  [[nodiscard]] std::filesystem::path file(std::string_view name = "results.db") const {
    return folder_.path() / name;
  }
  [[nodiscard]] std::unique_ptr<SqliteResultStore> open(
      std::string_view name = "results.db") const {
    return SqliteResultStore::open(file(name)).value();
  }
  [[nodiscard]] Error error_of_opening(std::string_view name) const {
    const auto store = open_sqlite_store(file(name));
    return store ? Error{.code = ErrorCode::kInternal, .message = "it opened"} : store.error();
  }

  TemporaryFolder folder_;
};

// Runs `work` in a child process, which never returns from here.
pid_t start_child(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  return child;
}

int exit_code_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

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
  ASSERT_TRUE(
      store->connection().run("UPDATE launch SET digest = NULL, measurement = '{\"first\": 3}'"));
  const auto launches = store->launches_of_attempt(records.attempt.id);
  ASSERT_FALSE(launches.has_value());
  EXPECT_EQ(launches.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(launches.error().message, HasSubstr("measurement"));
}

TEST_F(SqliteStore, MarksItsFileAndWritesAhead) {
  auto store = open();
  EXPECT_EQ(store->connection().get_integer("PRAGMA application_id").value(), kApplicationId);
  EXPECT_EQ(store->connection().get_integer("PRAGMA user_version").value(), schema_version());
  EXPECT_EQ(store->connection().get_integer("PRAGMA foreign_keys").value(), 1);
  EXPECT_EQ(store->connection().get_integer("PRAGMA synchronous").value(), 2);
  auto mode = store->connection().prepare("PRAGMA journal_mode").value();
  ASSERT_TRUE(mode.step().value());
  EXPECT_EQ(mode.text(0), "wal");
}

struct Cell {
  const char* table;
  const char* column;
  const char* type;
  const char* where;
};

// One bit after the other of what carries figures: none may give other numbers.
TEST_F(SqliteStore, TellsEveryFlippedBitOfALaunch) {
  auto store = open();
  const auto records = add_sample_run(*store);
  int flipped = 0;
  for (const auto& cell : std::to_array<Cell>(
           {{"sample_block", "bytes", "BLOB", "metric = 'execute_ns' AND phase = 'steady'"},
            {"sample_block", "bytes", "BLOB", "metric = 'bind_ns' AND phase = 'warmup'"},
            {"launch", "measurement", "TEXT", "true"},
            {"launch", "memory", "TEXT", "true"},
            {"launch", "process_end", "TEXT", "true"},
            {"op_event", "name", "TEXT", "position = 0"}})) {
    std::string intact;
    {
      auto row = store->connection()
                     .prepare(fmt::format("SELECT {} FROM {} WHERE {}", cell.column, cell.table,
                                          cell.where))
                     .value();
      ASSERT_TRUE(row.step().value());
      intact = row.text(0);
    }
    const auto put = [&](const std::string& bytes) {
      return store->connection().run(fmt::format("UPDATE {} SET {} = CAST(? AS {}) WHERE {}",
                                                 cell.table, cell.column, cell.type, cell.where),
                                     Blob{bytes});
    };
    for (std::size_t bit = 0; bit < intact.size() * 8; bit += 7) {
      auto damaged = intact;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      ASSERT_TRUE(put(damaged).has_value());
      const auto launches = store->launches_of_attempt(records.attempt.id);
      ASSERT_FALSE(launches.has_value()) << cell.table << "." << cell.column << " bit " << bit;
      EXPECT_EQ(launches.error().code, ErrorCode::kCorrupt);
      EXPECT_THAT(launches.error().message, HasSubstr(records.launch.id));
      ++flipped;
    }
    ASSERT_TRUE(put(intact).has_value());
  }
  EXPECT_GT(flipped, 500);
  EXPECT_TRUE(store->launches_of_attempt(records.attempt.id).has_value()) << "all is back";
}

TEST_F(SqliteStore, TellsADamagedAttachment) {
  auto store = open();
  ASSERT_TRUE(store->add_attachment({"owner", "log", "abc"}).has_value());
  ASSERT_TRUE(store->connection().run("UPDATE attachment SET bytes = ?", Blob{"abd"}).has_value());
  const auto found = store->attachments_of("owner");
  ASSERT_FALSE(found.has_value());
  EXPECT_THAT(found.error().message, HasSubstr("the log of 'owner' is damaged"));
}

/// A store of schema 3 with one run, whose artifact was known by its digest.
SampleRun make_store_of_schema_3(const std::filesystem::path& path) {
  SampleRun records;
  auto today = SqliteResultStore::open(":memory:").value();
  records = add_sample_run(*today);
  auto old = Connection::open(path).value();
  EXPECT_TRUE(migrate(old, 3).has_value());
  EXPECT_TRUE(old.run("INSERT INTO environment VALUES (?, 'linux', ?)", records.environment.id,
                      nlohmann::json(records.environment).dump())
                  .has_value());
  EXPECT_TRUE(old.run("INSERT INTO run VALUES (?, 'verify', 'night', '{}', 1, '[]', '', '{}', ?, "
                      "7, 9)",
                      records.run.id, records.environment.id)
                  .has_value());
  EXPECT_TRUE(
      old.run("INSERT INTO case_identity VALUES (?, 'case', '{}')", records.attempt.case_key)
          .has_value());
  EXPECT_TRUE(old.run("INSERT INTO subject VALUES (?, 'e', 'b', 't', ?)", records.attempt.subject,
                      records.artifact.digest())
                  .has_value());
  EXPECT_TRUE(old.run("INSERT INTO artifact VALUES (?, ?, ?, ?, ?, ?)", records.artifact.digest(),
                      records.artifact.key, records.artifact.folder, records.artifact.entry,
                      nlohmann::json(records.artifact.files).dump(),
                      records.artifact.manifest.dump())
                  .has_value());
  EXPECT_TRUE(old.run("INSERT INTO reference VALUES (?, ?, ?, ?)", records.reference.key,
                      records.reference.kind, records.reference.folder,
                      records.reference.document.dump())
                  .has_value());
  EXPECT_TRUE(old.run("INSERT INTO attempt VALUES (?, ?, ?, ?, 'local', 'timing', 'w', 0, 1, 1, "
                      "'completed', 'done', '', '')",
                      records.attempt.id, records.run.id, records.attempt.case_key,
                      records.attempt.subject)
                  .has_value());
  for (const auto* id : {"first", "second"}) {  // As two resumes at once could store them.
    EXPECT_TRUE(old.run("INSERT INTO launch (id, attempt, launch_index, run_order, is_fresh, "
                        "outcome, stage, reason_code, text, wall_ns, overhead_ns, "
                        "conditions_before, conditions_after, process_end) VALUES (?, ?, 0, 0, 1, "
                        "'completed', 'done', '', '', 5, 0, '{}', '{}', '{}')",
                        id, records.attempt.id)
                    .has_value());
  }
  return records;
}

TEST_F(SqliteStore, BringsAnOlderStoreUpToDateWithAllThatItHolds) {
  const auto records = make_store_of_schema_3(file());
  auto store = open();
  const auto attempts = store->attempts_of_run(records.run.id).value();
  ASSERT_THAT(attempts, SizeIs(1));
  EXPECT_EQ(attempts[0].artifact, records.artifact.id()) << "as a new row would have it";
  EXPECT_EQ(nlohmann::json(store->get_artifact(attempts[0].artifact).value()),
            nlohmann::json(records.artifact));
  EXPECT_EQ(nlohmann::json(store->get_reference(records.reference.id()).value()),
            nlohmann::json(records.reference));
  EXPECT_EQ(nlohmann::json(store->environment_of_run(records.run.id).value()),
            nlohmann::json(records.environment));
  EXPECT_EQ(store->get_run("latest").value().environment_key, environment_key(records.environment));
  EXPECT_THAT(store->launches_of_attempt(records.attempt.id).value(), SizeIs(2));
}

TEST_F(SqliteStore, ReadsAndMergesAnOlderStoreWithoutChangingIt) {
  const auto records = make_store_of_schema_3(file("old.db"));
  const auto before = sha256_hex_of_file(file("old.db")).value();
  {
    const auto reader = open_sqlite_store(file("old.db"), StoreAccess::kRead).value();
    EXPECT_THAT(reader->launches_of_attempt(records.attempt.id).value(), SizeIs(2));
  }
  EXPECT_GT(open()->merge_from(file("old.db")).value(), 0);
  EXPECT_EQ(sha256_hex_of_file(file("old.db")).value(), before);
}

TEST_F(SqliteStore, ReadsAStoreInAFolderThatMayNotBeWritten) {
  const auto records = add_sample_run(*open());
  const auto files = [this] {
    return std::ranges::distance(std::filesystem::directory_iterator(folder_.path()));
  };
  const auto before = files();
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0555));
  std::filesystem::permissions(file(), std::filesystem::perms(0444));
  const auto child = start_child([&] {
    if (::getuid() == 0 && ::setuid(65534) != 0) {
      ::_exit(9);
    }
    const auto store = open_sqlite_store(file(), StoreAccess::kRead);
    const bool is_read =
        store &&
        (*store)->launches_of_attempt(records.attempt.id).value_or(std::vector<Launch>{}).size() ==
            1;
    const auto written = store && !(*store)->finish_run(records.run.id, 1).has_value();
    ::_exit(is_read && written ? 0 : 1);
  });
  EXPECT_EQ(exit_code_of(child), 0);
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  EXPECT_EQ(files(), before) << "nothing was made beside it";
}

TEST_F(SqliteStore, MakesNoStoreToReadOne) {
  const auto store = open_sqlite_store(file("absent.db"), StoreAccess::kRead);
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(file("absent.db")));
}

TEST_F(SqliteStore, RefusesToWriteToADamagedFile) {
  add_sample_run(*open());
  std::fstream damaged(file(), std::ios::in | std::ios::out | std::ios::binary);
  const auto pages = std::filesystem::file_size(file()) / 4096;
  for (std::uintmax_t page = 2; page < pages; ++page) {
    damaged.seekp(static_cast<std::streamoff>(page * 4096));
    damaged << std::string(64, '\xee');
  }
  damaged.close();
  const auto error = error_of_opening("results.db");
  EXPECT_EQ(error.code, ErrorCode::kCorrupt);
  EXPECT_THAT(error.message, HasSubstr("restore a copy"));
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

TEST_F(SqliteStore, OpensItsOwnFileAgain) {
  const auto records = add_sample_run(*open());
  EXPECT_EQ(nlohmann::json(open()->get_run("latest").value()), nlohmann::json(records.run));
}

}  // namespace
}  // namespace assay::sqlite
