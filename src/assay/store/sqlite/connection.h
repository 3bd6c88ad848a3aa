#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace assay::sqlite {

/// Bytes bound as a BLOB; text is bound as TEXT.
struct Blob {
  std::string_view bytes;
};

/// A prepared statement. Parameters are bound in order; a row is read with the getters until the
/// next step. Must not outlive its connection. Keeps other threads from the connection until it is
/// gone.
class Statement {
 public:
  /// True: a row is there. False: done.
  Result<bool> step();

  /// Steps to the end, discarding rows.
  Status run();

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  /// TEXT or BLOB; a number as text; empty for NULL.
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] int column_count() const;
  [[nodiscard]] std::string_view column_name(int column) const;

 private:
  friend class Connection;
  friend class Transaction;
  using Lock = std::unique_lock<std::recursive_mutex>;
  Statement(sqlite3_stmt* statement, Lock lock);

  void bind_value(std::int64_t value);
  void bind_value(double value);
  void bind_value(std::string_view value);
  void bind_value(Blob value);
  void bind_value(std::nullptr_t);
  void bind_value(bool value) { bind_value(std::int64_t{value}); }
  void bind_value(int value) { bind_value(std::int64_t{value}); }
  void bind_value(std::uint64_t value) { bind_value(static_cast<std::int64_t>(value)); }
  void bind_value(const std::string& value) { bind_value(std::string_view(value)); }
  void bind_value(const char* value) { bind_value(std::string_view(value)); }
  template <class T>
  void bind_value(const std::optional<T>& value) {
    value ? bind_value(*value) : bind_value(nullptr);
  }

  Lock lock_;
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement_;
  int next_parameter_ = 1;
};

/// An open database. Threads may share it: a statement and a transaction belong to one thread, and
/// others wait until it is done with them.
class Connection {
 public:
  /// Opens or makes `path` (missing folders too), with foreign keys, a busy timeout and, on disk,
  /// WAL with a sync at each commit. ":memory:" and "" (a temporary file) are SQLite's own names.
  /// The schema of a file is not trusted: it can call no function that has side effects.
  /// Errors: kUnavailable, kCorrupt (not a database).
  static Result<Connection> open(const std::filesystem::path& path);

  /// Opens a file that stays as it is, also in a folder that may not be written.
  /// Errors: kNotFound, kUnavailable, kCorrupt (not a database).
  static Result<Connection> open_to_read(const std::filesystem::path& path);

  /// Reads every page and index. Errors: kCorrupt.
  Status check_pages();

  /// Text and numbers are copied when bound.
  template <class... Values>
  Result<Statement> prepare(std::string_view sql, const Values&... values) {
    auto statement = prepare_only(sql);
    if (statement) {
      (statement->bind_value(values), ...);
    }
    return statement;
  }

  /// One statement, to its end.
  template <class... Values>
  Status run(std::string_view sql, const Values&... values) {
    ASSAY_ASSIGN_OR_RETURN(auto statement, prepare(sql, values...));
    return statement.run();
  }

  /// Several statements separated by semicolons.
  Status run_script(const std::string& sql);

  /// The first column of the first row. Errors: also kNotFound when there is no row.
  Result<std::int64_t> get_integer(std::string_view sql);

  /// Rows changed since the connection was opened.
  [[nodiscard]] std::int64_t total_changes() const;

  /// "store 'results.db'", for messages.
  [[nodiscard]] std::string name() const;

  /// Copies the whole content into `target`, replacing its content.
  Status copy_to(Connection& target);

 private:
  friend class Transaction;
  explicit Connection(sqlite3* database);
  [[nodiscard]] Statement::Lock lock() const { return Statement::Lock(*mutex_); }
  static Result<Connection> open_with(const std::string& name, int flags);
  Result<Statement> prepare_only(std::string_view sql);
  Status switch_to_wal();

  std::unique_ptr<sqlite3, int (*)(sqlite3*)> database_;
  std::unique_ptr<std::recursive_mutex> mutex_ = std::make_unique<std::recursive_mutex>();
};

/// BEGIN IMMEDIATE, and ROLLBACK unless committed. Keeps other threads from the connection until it
/// is gone.
class Transaction {
 public:
  static Result<Transaction> begin(Connection& connection);
  Transaction(Transaction&& other) noexcept
      : lock_(std::move(other.lock_)), connection_(std::exchange(other.connection_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  Status commit();

 private:
  Transaction(Connection& connection, Statement::Lock lock)
      : lock_(std::move(lock)), connection_(&connection) {}

  Statement::Lock lock_;
  Connection* connection_;
};

/// Runs `work` in one transaction; its failure rolls back.
Status in_transaction(Connection& connection, const std::function<Status()>& work);

}  // namespace assay::sqlite
