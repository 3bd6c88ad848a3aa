#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/result.h"

/// SQL that SQLite and PostgreSQL share. Parameters are written as in SQLite: `?` in order, or
/// `?2`.
namespace assay::sql {

/// Told when a foreign key fails.
inline constexpr std::string_view kMissingRecord =
    "the record refers to a run, case, subject, environment or attempt that the store does not "
    "hold; add that one first";

/// Bytes bound as a BLOB; text is bound as TEXT.
struct Blob {
  std::string_view bytes;
};

/// Use that a transaction makes of a row that it has read.
enum class RowLock : std::uint8_t {
  kRelied,   ///< It writes other rows, which are right while this one stays.
  kChanged,  ///< It changes this one.
};

/// The type of a value in a row.
enum class ValueKind : std::uint8_t { kNull, kInteger, kReal, kText, kBlob };

/// A prepared statement of one database: bind in order, then step, then read the row.
class Cursor {
 public:
  virtual ~Cursor() = default;

  virtual void bind(std::int64_t value) = 0;
  virtual void bind(double value) = 0;
  /// A NUL and bytes that are not UTF-8 are replaced by U+FFFD.
  virtual void bind(std::string_view value) = 0;
  virtual void bind(Blob value) = 0;
  virtual void bind_null() = 0;

  virtual Result<bool> step() = 0;
  /// Forgets the parameters and the rows, to be bound anew.
  virtual void reset() = 0;
  /// Rows that the statement added, changed or removed, once it is done.
  [[nodiscard]] virtual std::int64_t changed_rows() const = 0;

  [[nodiscard]] virtual ValueKind kind(int column) const = 0;
  [[nodiscard]] virtual std::int64_t integer(int column) const = 0;
  [[nodiscard]] virtual double real(int column) const = 0;
  [[nodiscard]] virtual std::string text(int column) const = 0;
  [[nodiscard]] virtual int column_count() const = 0;
  [[nodiscard]] virtual std::string column_name(int column) const = 0;
};

/// A statement with its parameters; a row is read with the getters until the next step. Must not
/// outlive its connection. Keeps other threads from the connection until it is gone.
class Statement {
 public:
  /// True: a row is there. False: done.
  Result<bool> step() { return cursor_->step(); }

  /// Steps to the end, discarding rows.
  Status run();

  /// Like run(), but returns how many rows were added, changed or removed.
  Result<std::int64_t> run_counted();

  /// Runs the statement again with the columns of a row as its parameters.
  Status run_with(const Statement& row);

  [[nodiscard]] ValueKind kind(int column) const { return cursor_->kind(column); }
  [[nodiscard]] bool is_null(int column) const { return kind(column) == ValueKind::kNull; }
  [[nodiscard]] std::int64_t integer(int column) const { return cursor_->integer(column); }
  [[nodiscard]] double real(int column) const { return cursor_->real(column); }
  /// TEXT or BLOB; a number as text; empty for NULL.
  [[nodiscard]] std::string text(int column) const { return cursor_->text(column); }
  [[nodiscard]] int column_count() const { return cursor_->column_count(); }
  /// Known before the first step, too.
  [[nodiscard]] std::string column_name(int column) const { return cursor_->column_name(column); }

 private:
  friend class Connection;
  using Lock = std::unique_lock<std::recursive_mutex>;
  Statement(std::unique_ptr<Cursor> cursor, Lock lock)
      : lock_(std::move(lock)), cursor_(std::move(cursor)) {}

  void bind_value(std::int64_t value) { cursor_->bind(value); }
  void bind_value(double value) { cursor_->bind(value); }
  void bind_value(std::string_view value) { cursor_->bind(value); }
  void bind_value(Blob value) { cursor_->bind(value); }
  void bind_value(std::nullptr_t) { cursor_->bind_null(); }
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
  std::unique_ptr<Cursor> cursor_;
};

/// An open database. Threads may share it: a statement and a transaction belong to one thread, and
/// others wait until it is done with them.
class Connection {
 public:
  virtual ~Connection() = default;

  /// Text and numbers are copied when bound.
  template <class... Values>
  Result<Statement> prepare(std::string_view sql, const Values&... values) {
    auto lock = this->lock();
    ASSAY_ASSIGN_OR_RETURN(auto cursor, open_cursor(sql));
    Statement statement(std::move(cursor), std::move(lock));
    (statement.bind_value(values), ...);
    return statement;
  }

  /// One statement, to its end.
  template <class... Values>
  Status run(std::string_view sql, const Values&... values) {
    ASSAY_ASSIGN_OR_RETURN(auto statement, prepare(sql, values...));
    return statement.run();
  }

  /// Several statements separated by semicolons.
  virtual Status run_script(const std::string& sql) = 0;

  /// The first column of the first row. Errors: also kNotFound when there is no row.
  Result<std::int64_t> get_integer(std::string_view sql);

  /// Runs `work` in one transaction; its failure rolls back. The work may run again where the
  /// database asks for that, so it changes nothing but rows.
  virtual Status in_transaction(const std::function<Status()>& work) = 0;

  /// Last words of a SELECT whose rows nobody else may change before the transaction ends;
  /// empty if a transaction is the only one that writes.
  [[nodiscard]] virtual std::string_view lock_words(RowLock /*lock*/) const { return {}; }

  /// "store 'results.db'", for messages.
  [[nodiscard]] virtual std::string name() const = 0;

 protected:
  using Lock = Statement::Lock;

  Connection() = default;
  Connection(Connection&&) noexcept = default;
  Connection& operator=(Connection&&) noexcept = default;
  [[nodiscard]] Lock lock() const { return Lock(*mutex_); }

 private:
  virtual Result<std::unique_ptr<Cursor>> open_cursor(std::string_view sql) = 0;

  std::unique_ptr<std::recursive_mutex> mutex_ = std::make_unique<std::recursive_mutex>();
};

}  // namespace assay::sql
