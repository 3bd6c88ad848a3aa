#include "assay/store/postgres/connection.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <expected>
#include <fmt/format.h>
#include <functional>
#include <libpq-fe.h>
#include <memory>
#include <postgres_ext.h>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/store/postgres/cursor.h"
#include "assay/store/postgres/errors.h"
#include "assay/store/postgres/libpq.h"
#include "assay/store/sql/connection.h"

namespace assay::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

/// A server that is started again takes less.
constexpr seconds kReconnectFor{60};
constexpr milliseconds kFirstPause{100};
constexpr milliseconds kLongestPause{2000};
constexpr int kTriesOfTransaction = 10;
/// Ten minutes of waits of 20 s: whoever merges or removes much holds rows for long.
constexpr int kMostLockTimeouts = 30;
constexpr int kBinaryResults = 1;

// A dead network is noticed within half a minute. What the address says comes later, and counts.
constexpr auto kDefaults = std::to_array<std::pair<const char*, const char*>>({
    {"application_name", "assay"},
    {"client_encoding", "UTF8"},
    {"connect_timeout", "10"},
    {"keepalives_idle", "5"},
    {"keepalives_interval", "5"},
    {"keepalives_count", "3"},
    {"tcp_user_timeout", "20000"},
});

void ignore_notice(void* /*unused*/, const char* /*message*/) {}

Status check_address(const Libpq& pq, const std::string& url) {
  char* problem = nullptr;
  PQconninfoOption* options = pq.parse_conninfo(url.c_str(), &problem);
  if (options == nullptr) {
    const std::string text = problem == nullptr ? "out of memory" : problem;
    pq.free_memory(problem);
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is no address of a database: {}; it looks like "
                            "postgresql://user@host:5432/database",
                            url, line_from_message(text)));
  }
  bool has_password = false;
  for (const auto* option = options; option->keyword != nullptr; ++option) {
    has_password |= std::string_view(option->keyword) == "password" && option->val != nullptr;
  }
  pq.free_conninfo(options);
  return has_password
             ? fail(ErrorCode::kInvalidArgument,
                    "every user of this machine can read a password in a command line: take it "
                    "out of the address and put it in ~/.pgpass, in PGPASSWORD or in a service "
                    "file")
             : Status();
}

bool changes_nothing(std::string_view sql) { return sql.starts_with("SELECT"); }

}  // namespace

Result<std::unique_ptr<Connection>> Connection::open(const std::string& url, Purpose purpose) {
  ASSAY_ASSIGN_OR_RETURN(const auto* pq, libpq());
  ASSAY_RETURN_IF_ERROR(check_address(*pq, url));
  std::unique_ptr<Connection> connection(new Connection(*pq, url, purpose));
  ASSAY_RETURN_IF_ERROR(connection->connect());
  return connection;
}

std::string Connection::name() const { return fmt::format("store '{}'", url_); }

Status Connection::connect() {
  std::vector<const char*> keys;
  std::vector<const char*> values;
  for (const auto& [key, value] : kDefaults) {
    keys.push_back(key);
    values.push_back(value);
  }
  keys.insert(keys.end(), {"dbname", nullptr});
  values.insert(values.end(), {url_.c_str(), nullptr});
  handle_.reset(pq_.connect(keys.data(), values.data(), 1));
  prepared_.clear();
  is_in_transaction_ = false;
  if (is_lost()) {
    last_state_.clear();
    return std::unexpected(
        error_from_server(name(), "", line_from_message(pq_.error_message(handle_.get()))));
  }
  pq_.set_notice_processor(handle_.get(), &ignore_notice, nullptr);
  return set_up_session();
}

Status Connection::set_up_session() {
  ASSAY_RETURN_IF_ERROR(run_script(fmt::format("SET search_path = {}", kSchema)));
  ASSAY_RETURN_IF_ERROR(limit_waiting());
  switch (purpose_) {
    case Purpose::kWrite:
      return {};
    case Purpose::kRead:
    case Purpose::kCopyAll:
      return run_script("SET default_transaction_read_only = on");
  }
  return {};
}

Status Connection::limit_waiting() {
  return run_script(
      "SELECT set_config('lock_timeout', '20s', false) "
      "WHERE current_setting('lock_timeout') = '0'");
}

bool Connection::waits_on(int& timeouts) const {
  if (!is_lock_timeout(last_state_) || ++timeouts >= kMostLockTimeouts) {
    return false;
  }
  log_line(LogLevel::kWarning,
           fmt::format("{}: waiting for another process that uses the same rows", name()));
  return true;
}

Status Connection::repeat_after_waits(const std::function<Status()>& work) {
  int timeouts = 0;
  while (true) {
    last_state_.clear();
    auto status = work();
    if (status || is_lost() || !waits_on(timeouts)) {
      return status;
    }
  }
}

// A query takes its view of the rows with the first read, which comes after the locks.
Status Connection::begin_copy(const std::vector<std::string_view>& tables) {
  const auto sql = fmt::format(
      "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; LOCK TABLE {} IN ACCESS SHARE MODE",
      fmt::join(tables, ", "));
  ASSAY_RETURN_IF_ERROR(repeat_after_waits([&]() -> Status {
    auto status = run_script(sql);
    if (!status && !is_lost()) {
      pq_.clear(pq_.exec(handle_.get(), "ROLLBACK"));
    }
    return status;
  }));
  is_in_transaction_ = true;
  return {};
}

std::string_view Connection::lock_words(sql::RowLock lock) const {
  return lock == sql::RowLock::kChanged ? " FOR UPDATE" : " FOR SHARE";
}

Status Connection::reconnect() {
  log_line(LogLevel::kWarning,
           fmt::format("{}: the connection is lost; trying again for up to {} s", name(),
                       kReconnectFor.count()));
  const auto deadline = steady_clock::now() + kReconnectFor;
  auto pause = kFirstPause;
  while (true) {
    const auto status = connect();
    if (status) {
      return after_reconnect_ ? after_reconnect_() : Status();
    }
    if (steady_clock::now() + pause >= deadline) {
      return status;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

Result<ResultSet> Connection::checked(PGresult* raw) {
  ResultSet result(raw, ClearResult{&pq_});
  switch (pq_.result_status(raw)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_SINGLE_TUPLE:
    case PGRES_COPY_IN:
      return result;
    default:
      break;
  }
  const char* state = raw == nullptr ? nullptr : pq_.result_error_field(raw, PG_DIAG_SQLSTATE);
  const char* text =
      raw == nullptr ? nullptr : pq_.result_error_field(raw, PG_DIAG_MESSAGE_PRIMARY);
  last_state_ = state == nullptr ? "" : state;
  return std::unexpected(error_from_server(
      name(), last_state_,
      text == nullptr ? line_from_message(pq_.error_message(handle_.get())) : text));
}

Status Connection::run_script(const std::string& sql) {
  const auto lock = this->lock();
  ASSAY_RETURN_IF_ERROR(checked(pq_.exec(handle_.get(), sql.c_str())));
  return {};
}

Result<std::unique_ptr<sql::Cursor>> Connection::open_cursor(std::string_view sql) {
  return std::make_unique<PostgresCursor>(*this, pq_, sql,
                                          purpose_ == Purpose::kCopyAll && is_in_transaction_);
}

Result<ResultSet> Connection::execute(const Query& query) {
  if (is_in_transaction_) {
    return execute_once(query);
  }
  if (changes_nothing(query.text)) {
    return execute_connected(query);
  }
  ResultSet result(nullptr, ClearResult{&pq_});
  const auto status = in_transaction([&]() -> Status {
    ASSAY_ASSIGN_OR_RETURN(result, execute_once(query));
    return {};
  });
  return status ? Result<ResultSet>(std::move(result)) : std::unexpected(status.error());
}

Result<ResultSet> Connection::execute_connected(const Query& query) {
  bool was_lost = false;
  int timeouts = 0;
  while (true) {
    last_state_.clear();
    auto result = execute_once(query);
    if (result || (is_lost() ? was_lost : !waits_on(timeouts))) {
      return result;
    }
    if (is_lost()) {
      was_lost = true;
      ASSAY_RETURN_IF_ERROR(reconnect());
    }
  }
}

Result<std::string> Connection::prepare_query(const Query& query) {
  std::string key = query.text;
  std::vector<Oid> types;
  for (const auto& value : query.values) {
    types.push_back(value.type);
    key += fmt::format(",{}", value.type);
  }
  if (const auto found = prepared_.find(key); found != prepared_.end()) {
    return found->second;
  }
  auto name = fmt::format("q{}", prepared_.size());
  ASSAY_RETURN_IF_ERROR(checked(pq_.prepare(handle_.get(), name.c_str(), query.text.c_str(),
                                            static_cast<int>(types.size()), types.data())));
  prepared_.emplace(std::move(key), name);
  return name;
}

namespace {

/// Parameters as libpq takes them; they refer to the query.
struct BoundValues {
  explicit BoundValues(const Query& query) {
    for (const auto& value : query.values) {
      types.push_back(value.type);
      bytes.push_back(value.is_null ? nullptr : value.bytes.c_str());
      lengths.push_back(static_cast<int>(value.bytes.size()));
      formats.push_back(value.is_binary ? 1 : 0);
    }
  }
  [[nodiscard]] int count() const { return static_cast<int>(bytes.size()); }

  std::vector<Oid> types;
  std::vector<const char*> bytes;
  std::vector<int> lengths;
  std::vector<int> formats;
};

}  // namespace

Result<ResultSet> Connection::execute_once(const Query& query) {
  ASSAY_ASSIGN_OR_RETURN(const auto name, prepare_query(query));
  const BoundValues bound(query);
  return checked(pq_.exec_prepared(handle_.get(), name.c_str(), bound.count(), bound.bytes.data(),
                                   bound.lengths.data(), bound.formats.data(), kBinaryResults));
}

Status Connection::send(const Query& query) {
  const BoundValues bound(query);
  if (pq_.send_query(handle_.get(), query.text.c_str(), bound.count(), bound.types.data(),
                     bound.bytes.data(), bound.lengths.data(), bound.formats.data(),
                     kBinaryResults) == 0 ||
      pq_.set_single_row_mode(handle_.get()) == 0) {
    return std::unexpected(
        error_from_server(name(), "", line_from_message(pq_.error_message(handle_.get()))));
  }
  return {};
}

Result<ResultSet> Connection::next_row() {
  PGresult* row = pq_.get_result(handle_.get());
  return row == nullptr ? ResultSet(nullptr, ClearResult{&pq_}) : checked(row);
}

Status Connection::copy_in(
    const std::string& sql,
    const std::function<Status(const std::function<Status(std::string_view)>&)>& give) {
  ASSAY_RETURN_IF_ERROR(checked(pq_.exec(handle_.get(), sql.c_str())));
  auto status = give([this](std::string_view part) -> Status {
    return pq_.put_copy_data(handle_.get(), part.data(), static_cast<int>(part.size())) == 1
               ? Status()
               : std::unexpected(error_from_server(
                     name(), "", line_from_message(pq_.error_message(handle_.get()))));
  });
  pq_.put_copy_end(handle_.get(), status ? nullptr : "the source failed");
  const auto end = checked(pq_.get_result(handle_.get()));
  while (PGresult* more = pq_.get_result(handle_.get())) {
    pq_.clear(more);
  }
  ASSAY_RETURN_IF_ERROR(status);
  return end ? Status() : std::unexpected(end.error());
}

Status Connection::try_transaction(const std::function<Status()>& work, std::string& transaction,
                                   bool& is_commit_sent) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto begun,
      checked(pq_.exec(handle_.get(), "BEGIN; SELECT pg_current_xact_id()::text")));
  const auto end = [this](bool* is_open) {
    is_in_transaction_ = false;
    if (*is_open && !is_lost()) {
      pq_.clear(pq_.exec(handle_.get(), "ROLLBACK"));
    }
  };
  bool is_open = true;
  const std::unique_ptr<bool, decltype(end)> guard(&is_open, end);
  transaction = pq_.value(begun.get(), 0, 0);
  is_in_transaction_ = true;
  ASSAY_RETURN_IF_ERROR(work());
  is_commit_sent = true;
  ASSAY_RETURN_IF_ERROR(run_script("COMMIT"));
  is_open = false;
  return {};
}

// Asked of a server that may still be at it, or be lost again.
Result<bool> Connection::was_committed(const std::string& transaction) {
  const auto sql = fmt::format("SELECT pg_xact_status('{}'::xid8)", transaction);
  const auto deadline = steady_clock::now() + kReconnectFor;
  while (true) {
    const auto rows = checked(pq_.exec(handle_.get(), sql.c_str()));
    if (!rows && !is_lost()) {
      return std::unexpected(rows.error());
    }
    if (!rows) {
      ASSAY_RETURN_IF_ERROR(reconnect());
      continue;
    }
    const std::string state = pq_.row_count(rows->get()) == 1 ? pq_.value(rows->get(), 0, 0) : "";
    if (state != "in progress" || steady_clock::now() >= deadline) {
      return was_committed_from_state(name(), state);
    }
    std::this_thread::sleep_for(kFirstPause);
  }
}

Status Connection::in_transaction(const std::function<Status()>& work) {
  const auto lock = this->lock();
  int lock_timeouts = 0;
  for (int i = 1;; ++i) {
    std::string transaction;
    bool is_commit_sent = false;
    last_state_.clear();
    auto status = try_transaction(work, transaction, is_commit_sent);
    if (status) {
      return status;
    }
    if (is_lost()) {
      ASSAY_RETURN_IF_ERROR(reconnect());
      ASSAY_ASSIGN_OR_RETURN(const bool is_done,
                             is_commit_sent ? was_committed(transaction) : Result<bool>(false));
      if (is_done) {
        return {};
      }
    } else if (waits_on(lock_timeouts)) {
      --i;
    } else if (!asks_for_retry(last_state_)) {
      return status;
    }
    if (i == kTriesOfTransaction) {
      return status;
    }
  }
}

}  // namespace assay::postgres
