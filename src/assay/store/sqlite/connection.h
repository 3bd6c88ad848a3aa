#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sqlite/file_state.h"
#include "assay/store/sqlite/statement_pool.h"

struct sqlite3;

namespace assay::sqlite {

/// An open file or memory of SQLite.
class Connection final : public sql::Connection {
 public:
  /// Opens or makes `path` (missing folders too), with foreign keys, a busy timeout and, on disk,
  /// WAL with a sync at each commit. ":memory:" and "" (a temporary file) are SQLite's own names.
  /// The schema of a file is not trusted: it can call no function that has side effects.
  /// Errors: kUnavailable, kCorrupt (not a database).
  static Result<Connection> open(const std::filesystem::path& path);

  /// Opens a file that stays as it is, also in a folder that may not be written. What others write
  /// is seen by the next statement. Errors of a statement there: also kUnavailable, where the file
  /// was written to while it read.
  /// Errors: kNotFound, kUnavailable, kCorrupt (not a database).
  static Result<Connection> open_to_read(const std::filesystem::path& path);

  /// Statements fail once the file has another schema (kUnsupported): somebody brought it up to
  /// date, and what is read would be misunderstood.
  void expect_schema(std::int64_t version) { expected_schema_ = version; }

  /// This is a copy of `path`, in `folder`. When the file is no longer in the state, the next
  /// statement reads what `open_anew` gives.
  void follow(const std::filesystem::path& path, const FileState& state, TemporaryFolder folder,
              std::function<Result<Connection>()> open_anew);

  /// Reads every page and index. Errors: kCorrupt.
  Status check_pages();

  Status run_script(const std::string& sql) override;
  /// BEGIN IMMEDIATE: the only writer, from the start.
  Status in_transaction(const std::function<Status()>& work) override;
  [[nodiscard]] std::string name() const override;

  /// Copies the whole content into `target`, replacing its content.
  Status copy_to(Connection& target);

 private:
  explicit Connection(sqlite3* database);
  static Result<Connection> open_with(const std::string& name, int flags);
  static Result<Connection> open_unwritable(const std::filesystem::path& path);
  Status keep_up_with_file();
  Status check_schema();
  Result<std::unique_ptr<sql::Cursor>> open_cursor(std::string_view sql) override;
  Result<std::unique_ptr<sql::Cursor>> make_cursor(std::string_view sql);
  Status switch_to_wal();

  std::shared_ptr<const TemporaryFolder> folder_;  ///< Holds a copy, longer than that is open.
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> database_;
  std::unique_ptr<StatementPool> statements_ = std::make_unique<StatementPool>();
  std::shared_ptr<WatchedFile> watched_;           ///< Null if the file itself is read with locks.
  std::function<Result<Connection>()> open_anew_;  ///< Makes another copy; empty for no copy.
  std::optional<std::int64_t> expected_schema_;
};

}  // namespace assay::sqlite
