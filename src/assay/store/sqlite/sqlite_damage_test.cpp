// Files of stores that are damaged or may not be written.
#include <array>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/store/result_store.h"
#include "assay/store/sql/migrations.h"
#include "assay/store/sqlite/connection.h"
#include "assay/store/sqlite/sqlite_store.h"
#include "assay/store/testing/sample_records.h"
#include "assay/store/testing/sqlite_store_fixture.h"

namespace assay::sqlite {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

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
            {"trace", "readings", "BLOB", "channel = 'temperature:cpu'"},
            {"trace", "times_ns", "BLOB", "channel = 'power:battery'"},
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
                                     sql::Blob{bytes});
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
  ASSERT_TRUE(
      store->connection().run("UPDATE attachment SET bytes = ?", sql::Blob{"abd"}).has_value());
  const auto found = store->attachments_of("owner");
  ASSERT_FALSE(found.has_value());
  EXPECT_THAT(found.error().message, HasSubstr("the log of 'owner' is damaged"));
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

/// Two processes that take turns.
class Turns {
 public:
  Turns() { EXPECT_TRUE(::pipe(to_reader_) == 0 && ::pipe(to_writer_) == 0); }
  /// Runs in the process that writes, which reports the end of the other one.
  void stay_writer() const { ::close(to_writer_[1]); }
  void give_to_reader() const { give(to_reader_[1]); }
  void give_to_writer() const { give(to_writer_[1]); }
  /// False where the other process has ended.
  [[nodiscard]] bool await_reader() const { return await(to_writer_[0]); }
  [[nodiscard]] bool await_writer() const { return await(to_reader_[0]); }

 private:
  static void give(int fd) { EXPECT_EQ(::write(fd, "x", 1), 1); }
  static bool await(int fd) {
    char turn = 0;
    return ::read(fd, &turn, 1) == 1;
  }
  int to_reader_[2] = {-1, -1};
  int to_writer_[2] = {-1, -1};
};

void become_another_user() {
  if (::getuid() == 0 && ::setuid(65534) != 0) {
    ::_exit(9);
  }
}

class UnwritableStore : public SqliteStore {
 protected:
  /// A child reads the store in a folder that it may not write; `write` is executed when it gives
  /// the turn.
  int exit_code_with(const std::function<void(const Turns&)>& read,
                     const std::vector<std::function<void()>>& writes) {
    allow(0555, 0444);
    const Turns turns;
    const auto child = start_child([&] {
      become_another_user();
      read(turns);
    });
    turns.stay_writer();
    for (const auto& write : writes) {
      if (!turns.await_reader()) {
        break;
      }
      allow(0755, 0644);
      write();
      turns.give_to_reader();
    }
    return exit_code_of(child);
  }

 private:
  void allow(unsigned folder, unsigned file_itself) {
    std::filesystem::permissions(folder_.path(), std::filesystem::perms(folder));
    std::filesystem::permissions(file(), std::filesystem::perms(file_itself));
  }
};

TEST_F(UnwritableStore, ShowsWhatIsWrittenLater) {
  add_sample_run(*open());
  std::unique_ptr<SqliteResultStore> writer;
  const auto read = [this](const Turns& turns) {
    const auto store = open_sqlite_store(file(), StoreAccess::kRead).value();
    for (const std::size_t runs : {1U, 2U, 3U, 4U}) {
      const auto listed = store->list_runs({});
      if (!listed || listed->size() != runs) {
        ::_exit(static_cast<int>(runs));
      }
      if (runs < 4) {
        turns.give_to_writer();
        if (!turns.await_writer()) {
          ::_exit(8);
        }
      }
    }
  };
  const auto begin = [&] {
    writer = open();
    add_sample_run(*writer);
  };
  const auto end = [&] {
    add_sample_run(*writer);
    writer.reset();
  };
  const auto write_at_once = [this] { add_sample_run(*open()); };
  EXPECT_EQ(exit_code_with(read, {begin, end, write_at_once}), 0)
      << "1 to 4: so many runs were not shown";
}

TEST_F(UnwritableStore, SaysThatItWasBroughtToANewerSchema) {
  add_sample_run(*open());
  const auto read = [this](const Turns& turns) {
    const auto store = open_sqlite_store(file(), StoreAccess::kRead).value();
    const bool was_read = store->list_runs({}).has_value();
    turns.give_to_writer();
    const bool has_turn = turns.await_writer();
    const auto listed = store->list_runs({});
    const bool is_refused = !listed && listed.error().code == ErrorCode::kUnsupported;
    ::_exit(was_read && has_turn && is_refused ? 0 : 1);
  };
  const auto update = [this] {
    ASSERT_TRUE(open()->connection().run_script(
        fmt::format("PRAGMA user_version = {}", sql::newest_schema() + 1)));
  };
  EXPECT_EQ(exit_code_with(read, {update}), 0);
}

TEST_F(UnwritableStore, SaysThatItWasWrittenToInTheMiddleOfAStatement) {
  const auto records = add_sample_run(*open());
  const auto read = [this](const Turns& turns) {
    auto connection = Connection::open_to_read(file()).value();
    auto rows = connection.prepare("SELECT id FROM launch UNION ALL SELECT id FROM run").value();
    if (!rows.step().value()) {
      ::_exit(1);
    }
    turns.give_to_writer();
    const bool has_turn = turns.await_writer();
    const auto next = rows.step();
    ::_exit(has_turn && !next && next.error().code == ErrorCode::kUnavailable ? 0 : 2);
  };
  const auto rewrite = [&] {
    auto store = open();
    ASSERT_TRUE(store->remove_run(records.run.id).has_value());
    ASSERT_TRUE(store->vacuum().has_value());
  };
  EXPECT_EQ(exit_code_with(read, {rewrite}), 0);
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

}  // namespace
}  // namespace assay::sqlite
