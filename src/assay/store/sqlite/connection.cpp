#include "assay/store/sqlite/connection.h"

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <sqlite3.h>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/limits.h"
#include "assay/base/result.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/stored_text.h"
#include "assay/store/sqlite/file_state.h"
#include "assay/store/sqlite/functions.h"
#include "assay/store/sqlite/statement_pool.h"

namespace assay::sqlite {
namespace {

namespace stdfs = std::filesystem;

constexpr int kBusyTimeoutMs = 20'000;

// Empty for a store in memory, and while no file is open.
std::string_view file_of(sqlite3* database) {
  const char* file = sqlite3_db_filename(database, "main");
  return file == nullptr ? "" : file;
}

std::unexpected<Error> fail_from_database(sqlite3* database) {
  const int code = sqlite3_extended_errcode(database);
  const auto file = file_of(database);
  const auto what = file.empty() ? std::string(sqlite3_errmsg(database))
                                 : fmt::format("store '{}': {}", file, sqlite3_errmsg(database));
  const bool is_io = (code & 0xff) == SQLITE_IOERR;
  // After a write that stopped half way, the errno that SQLite keeps is another's.
  const bool is_too_large = is_io && is_limited(EFBIG);
  const int cause = is_too_large ? EFBIG : sqlite3_system_errno(database);
  if ((code & 0xff) == SQLITE_FULL || (is_io && cause == ENOSPC)) {
    return fail(ErrorCode::kExhausted,
                what +
                    "; free some disk space, for which assay cache prune removes what can be made "
                    "again: what was stored before is safe and readable");
  }
  if ((is_io || (code & 0xff) == SQLITE_CANTOPEN) &&
      code_from_errno(cause) == ErrorCode::kExhausted) {
    return fail(ErrorCode::kExhausted, fmt::format("{}: {}", what, text_from_errno(cause)));
  }
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return fail(ErrorCode::kCorrupt, what + "; move the file away or name another store");
    case SQLITE_CORRUPT:
      return fail(ErrorCode::kCorrupt,
                  what + "; save what is left with `sqlite3 FILE .recover`, or restore a copy");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fail(ErrorCode::kUnavailable,
                  what + "; another process has been writing for long, try again");
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return fail(ErrorCode::kUnavailable,
                  what + "; the file and its folder must be writable, or name another store");
    case SQLITE_IOERR:
      return fail(ErrorCode::kUnavailable, what);
    case SQLITE_NOMEM:
      return fail(ErrorCode::kExhausted, what);
    case SQLITE_TOOBIG:
      return fail(ErrorCode::kInvalidArgument, what + "; a record may hold up to 1 GB");
    case SQLITE_CONSTRAINT:
      // A row of the schema names a row that does not exist; everything else is our own bug.
      return code == SQLITE_CONSTRAINT_FOREIGNKEY
                 ? fail(ErrorCode::kNotFound, std::string(sql::kMissingRecord))
                 : fail(ErrorCode::kInvalidArgument, what);
    default:
      return fail(ErrorCode::kInternal, fmt::format("SQLite error {}: {}", code, what));
  }
}

// Pages from before and after the change may have been mixed.
std::unexpected<Error> fail_from_change(const stdfs::path& path) {
  return fail(ErrorCode::kUnavailable,
              fmt::format("store '{}' was written to while it was read; try again", path.string()));
}

// A path inside of a URI: what means something there is escaped.
std::string uri_path(std::string_view path) {
  std::string escaped;
  for (const char c : path) {
    const bool is_plain = c != '%' && c != '?' && c != '#';
    escaped += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned>(c));
  }
  return escaped;
}

class SqliteCursor final : public sql::Cursor {
 public:
  /// The statement goes to the pool in the end. `watched`: the file, if its
  /// changes matter.
  SqliteCursor(sqlite3_stmt* statement, StatementPool& pool, std::shared_ptr<WatchedFile> watched)
      : statement_(statement, GiveBack{&pool}), watched_(std::move(watched)) {
    if (watched_) {
      ++watched_->cursors;
    }
  }
  SqliteCursor(const SqliteCursor&) = delete;
  SqliteCursor& operator=(const SqliteCursor&) = delete;
  ~SqliteCursor() override {
    if (watched_) {
      --watched_->cursors;
    }
  }

  void bind(std::int64_t value) override {
    ASSAY_CHECK(sqlite3_bind_int64(statement_.get(), next_parameter_++, value) == SQLITE_OK);
  }

  void bind(double value) override {
    ASSAY_CHECK(sqlite3_bind_double(statement_.get(), next_parameter_++, value) == SQLITE_OK);
  }

  // A text that is too big leaves NULL behind, which the schema's NOT NULL then refuses.
  void bind(std::string_view given) override {
    const auto mended = sql::mended_text(given);
    const std::string_view value(mended ? *mended : given);
    const int status = sqlite3_bind_text64(statement_.get(), next_parameter_++,
                                           value.data() == nullptr ? "" : value.data(),
                                           value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    ASSAY_CHECK(status == SQLITE_OK || status == SQLITE_TOOBIG || status == SQLITE_NOMEM);
  }

  void bind(sql::Blob value) override {
    const int status = sqlite3_bind_blob64(statement_.get(), next_parameter_++,
                                           value.bytes.data() == nullptr ? "" : value.bytes.data(),
                                           value.bytes.size(), SQLITE_TRANSIENT);
    ASSAY_CHECK(status == SQLITE_OK || status == SQLITE_TOOBIG || status == SQLITE_NOMEM);
  }

  void bind_null() override {
    ASSAY_CHECK(sqlite3_bind_null(statement_.get(), next_parameter_++) == SQLITE_OK);
  }

  Result<bool> step() override {
    const int status = sqlite3_step(statement_.get());
    if (watched_ && watched_->has_changed_below()) {
      return fail_from_change(watched_->path);
    }
    switch (status) {
      case SQLITE_ROW:
        return true;
      case SQLITE_DONE:
        return false;
      default:
        return fail_from_database(sqlite3_db_handle(statement_.get()));
    }
  }

  void reset() override {
    sqlite3_reset(statement_.get());
    sqlite3_clear_bindings(statement_.get());
    next_parameter_ = 1;
  }

  [[nodiscard]] std::int64_t changed_rows() const override {
    return sqlite3_changes64(sqlite3_db_handle(statement_.get()));
  }

  [[nodiscard]] sql::ValueKind kind(int column) const override {
    switch (sqlite3_column_type(statement_.get(), column)) {
      case SQLITE_INTEGER:
        return sql::ValueKind::kInteger;
      case SQLITE_FLOAT:
        return sql::ValueKind::kReal;
      case SQLITE_BLOB:
        return sql::ValueKind::kBlob;
      case SQLITE_NULL:
        return sql::ValueKind::kNull;
      default:
        return sql::ValueKind::kText;
    }
  }

  [[nodiscard]] std::int64_t integer(int column) const override {
    return sqlite3_column_int64(statement_.get(), column);
  }

  [[nodiscard]] double real(int column) const override {
    return sqlite3_column_double(statement_.get(), column);
  }

  [[nodiscard]] std::string text(int column) const override {
    const void* bytes = sqlite3_column_blob(statement_.get(), column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
    return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
  }

  [[nodiscard]] int column_count() const override { return sqlite3_column_count(statement_.get()); }

  [[nodiscard]] std::string column_name(int column) const override {
    return sqlite3_column_name(statement_.get(), column);
  }

 private:
  struct GiveBack {
    StatementPool* pool;
    void operator()(sqlite3_stmt* statement) const {
      sqlite3_reset(statement);
      sqlite3_clear_bindings(statement);
      pool->give_back(statement);
    }
  };

  std::unique_ptr<sqlite3_stmt, GiveBack> statement_;
  std::shared_ptr<WatchedFile> watched_;
  int next_parameter_ = 1;
};

}  // namespace

Connection::Connection(sqlite3* database) : database_(database, &sqlite3_close_v2) {}

Result<Connection> Connection::open_with(const std::string& name, int flags) {
  sqlite3* raw = nullptr;
  const int status = sqlite3_open_v2(name.c_str(), &raw, flags, nullptr);
  Connection connection(raw);
  if (status != SQLITE_OK) {
    return raw == nullptr ? fail(ErrorCode::kExhausted, "out of memory")
                          : fail_with_context(fail_from_database(raw).error(),
                                              fmt::format("store '{}'", name));
  }
  sqlite3_busy_timeout(raw, kBusyTimeoutMs);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  add_functions(raw);
  ASSAY_RETURN_IF_ERROR(
      connection.run_script("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; "
                            "PRAGMA cell_size_check = ON"));
  return connection;
}

Result<Connection> Connection::open(const stdfs::path& path) {
  const bool is_file = !path.empty() && path != ":memory:";
  if (is_file && path.has_parent_path()) {
    std::error_code ignored;  // Opening tells what is wrong.
    stdfs::create_directories(path.parent_path(), ignored);
  }
  ASSAY_ASSIGN_OR_RETURN(auto connection,
                         open_with(path.string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  if (is_file) {
    ASSAY_RETURN_IF_ERROR(connection.switch_to_wal());
    ASSAY_RETURN_IF_ERROR(connection.run_script("PRAGMA synchronous = FULL"));
  }
  return connection;
}

// A file in WAL mode wants its index next to it while it is read, and only one who may write clears
// that away again.
Result<Connection> Connection::open_to_read(const stdfs::path& path) {
  std::error_code error;
  if (!stdfs::exists(path, error)) {
    return fail(ErrorCode::kNotFound,
                fmt::format("no store '{}'; assay bench and assay run make one, --store names "
                            "another",
                            path.string()));
  }
  const auto folder = path.has_parent_path() ? path.parent_path() : stdfs::path(".");
  const bool is_writable = ::access(path.c_str(), W_OK) == 0 && ::access(folder.c_str(), W_OK) == 0;
  if (is_writable) {
    ASSAY_ASSIGN_OR_RETURN(auto connection, open_with(path.string(), SQLITE_OPEN_READWRITE));
    ASSAY_RETURN_IF_ERROR(connection.run_script("PRAGMA query_only = ON"));
    return connection;
  }
  // A writer that ends takes its log away in the meantime.
  constexpr int kTries = 3;
  auto opened = open_unwritable(path);
  for (int i = 1; i < kTries && !opened; ++i) {
    opened = open_unwritable(path);
  }
  return opened;
}

// A folder that may not be written takes no index. Where no log is there, nobody writes, and the
// file alone is all of the store: it is read without locks until somebody writes again. With a log
// there is an index, too, which readers share with the writer.
Result<Connection> Connection::open_unwritable(const stdfs::path& path) {
  const auto state = state_of_file(path);
  if (state.log_bytes > 0) {
    ASSAY_ASSIGN_OR_RETURN(auto connection, open_with(path.string(), SQLITE_OPEN_READONLY));
    ASSAY_RETURN_IF_ERROR(connection.run("PRAGMA schema_version"));
    return connection;
  }
  ASSAY_ASSIGN_OR_RETURN(
      auto connection,
      open_with("file:" + uri_path(stdfs::absolute(path).string()) + "?immutable=1",
                SQLITE_OPEN_READONLY | SQLITE_OPEN_URI));
  connection.watched_ = std::make_shared<WatchedFile>(stdfs::absolute(path), state);
  return connection;
}

void Connection::follow(const stdfs::path& path, const FileState& state, TemporaryFolder folder,
                        std::function<Result<Connection>()> open_anew) {
  watched_ = std::make_shared<WatchedFile>(stdfs::absolute(path), state, true);
  folder_ = std::make_shared<const TemporaryFolder>(std::move(folder));
  open_anew_ = std::move(open_anew);
}

// Statements that are under way go on to read the file as it was.
Status Connection::keep_up_with_file() {
  if (!watched_ || watched_->cursors > 0 || sqlite3_get_autocommit(database_.get()) == 0 ||
      state_of_file(watched_->path) == watched_->state) {
    return {};
  }
  const bool is_copy = watched_->is_copied;
  ASSAY_ASSIGN_OR_RETURN(auto fresh, is_copy ? open_anew_() : open_to_read(watched_->path));
  if (is_copy) {
    expected_schema_ = fresh.expected_schema_;
  }
  statements_ = std::move(fresh.statements_);
  database_ = std::move(fresh.database_);
  watched_ = std::move(fresh.watched_);
  folder_ = std::move(fresh.folder_);
  open_anew_ = std::move(fresh.open_anew_);
  return {};
}

Status Connection::check_schema() {
  if (!expected_schema_) {
    return {};
  }
  const auto expected = *expected_schema_;
  ASSAY_ASSIGN_OR_RETURN(const auto version, make_cursor("PRAGMA user_version"));
  ASSAY_RETURN_IF_ERROR(version->step());
  const auto found = version->integer(0);
  return found == expected
             ? Status()
             : fail(ErrorCode::kUnsupported,
                    fmt::format("{}: somebody changed it from schema {} to {} meanwhile; start "
                                "this command again, with the newest Assay that uses the store",
                                name(), expected, found));
}

Status Connection::check_pages() {
  ASSAY_ASSIGN_OR_RETURN(auto row, prepare("PRAGMA quick_check(1)"));
  ASSAY_ASSIGN_OR_RETURN(const bool has_row, row.step());
  if (!has_row || row.text(0) != "ok") {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{} is damaged: {}; save what is left with `sqlite3 FILE .recover`, or "
                            "restore a copy",
                            name(), has_row ? row.text(0) : "it cannot be checked"));
  }
  return {};
}

// SQLite does not call its busy handler while the journal mode changes, so two processes that make
// one store together need a loop of their own.
Status Connection::switch_to_wal() {
  constexpr int kTries = 200;
  Status status;
  for (int i = 0; i < kTries; ++i) {
    status = run("PRAGMA journal_mode = WAL");
    if (status || (sqlite3_errcode(database_.get()) & 0xff) != SQLITE_BUSY) {
      return status;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return status;
}

Result<std::unique_ptr<sql::Cursor>> Connection::open_cursor(std::string_view sql) {
  ASSAY_RETURN_IF_ERROR(keep_up_with_file());
  ASSAY_RETURN_IF_ERROR(check_schema());
  return make_cursor(sql);
}

Result<std::unique_ptr<sql::Cursor>> Connection::make_cursor(std::string_view sql) {
  sqlite3_stmt* statement = statements_->take(sql);
  if (statement == nullptr &&
      sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &statement,
                         nullptr) != SQLITE_OK) {
    return fail_from_database(database_.get());
  }
  return std::make_unique<SqliteCursor>(statement, *statements_, watched_);
}

Status Connection::run_script(const std::string& sql) {
  const auto lock = this->lock();
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return fail_from_database(database_.get());
  }
  return {};
}

std::string Connection::name() const {
  const auto file = file_of(database_.get());
  return file.empty() ? "store in memory" : fmt::format("store '{}'", file);
}

Status Connection::copy_to(Connection& target) {
  auto* backup = sqlite3_backup_init(target.database_.get(), "main", database_.get(), "main");
  if (backup == nullptr) {
    return fail_from_database(target.database_.get());
  }
  sqlite3_backup_step(backup, -1);
  if (sqlite3_backup_finish(backup) != SQLITE_OK) {
    return fail_from_database(target.database_.get());
  }
  return watched_ && watched_->has_changed_below() ? fail_from_change(watched_->path) : Status();
}

Status Connection::in_transaction(const std::function<Status()>& work) {
  const auto lock = this->lock();
  ASSAY_RETURN_IF_ERROR(run("BEGIN IMMEDIATE"));
  // A failed commit may have rolled back already; then there is nothing to undo.
  const auto roll_back = [this](bool* is_open) {
    if (*is_open) {
      [[maybe_unused]] const auto ignored = run("ROLLBACK");
    }
  };
  bool is_open = true;
  const std::unique_ptr<bool, decltype(roll_back)> guard(&is_open, roll_back);
  ASSAY_RETURN_IF_ERROR(work());
  ASSAY_RETURN_IF_ERROR(run("COMMIT"));
  is_open = false;
  return {};
}

}  // namespace assay::sqlite
