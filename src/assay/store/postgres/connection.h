#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/store/postgres/libpq.h"
#include "assay/store/sql/connection.h"

namespace assay::postgres {

/// Tables of Assay are in this schema of the database.
inline constexpr std::string_view kSchema = "assay";

enum class Purpose : std::uint8_t {
  kWrite,
  kRead,     ///< Writing fails.
  kCopyAll,  ///< As kRead; after begin_copy() rows arrive one by one, one statement at a time.
};

struct ClearResult {
  const Libpq* pq;
  void operator()(PGresult* result) const { pq->clear(result); }
};
using ResultSet = std::unique_ptr<PGresult, ClearResult>;

/// A statement with `$1` for its parameters, and their values.
struct Query {
  struct Value {
    Oid type;
    bool is_null;
    bool is_binary;
    std::string bytes;
  };
  std::string text;
  std::vector<Value> values;
};

/// A connection to a database server. One that is lost is made again, for up to a minute; what was
/// under way is done again where the server did not commit it.
class Connection final : public sql::Connection {
 public:
  /// `url`: postgresql://…, without a password. Errors: kInvalidArgument, kUnavailable, kNotFound
  /// (no such database).
  static Result<std::unique_ptr<Connection>> open(const std::string& url, Purpose purpose);

  Status run_script(const std::string& sql) override;
  Status in_transaction(const std::function<Status()>& work) override;
  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::string_view lock_words(sql::RowLock lock) const override;

  /// Ends what waits for a lock of somebody else for 20 s, unless the address, the user or the
  /// database has a lock_timeout of its own. A transaction, a query outside of one and what
  /// repeat_after_waits() does are then made again for ten minutes, and say so.
  Status limit_waiting();

  /// Does the work again while it ends with the timeout of a lock. It leaves no transaction open.
  Status repeat_after_waits(const std::function<Status()>& work);

  /// All rows of the tables from now on as they are now. Waits for those who change the tables
  /// themselves, so that no query does in the middle of a copy.
  Status begin_copy(const std::vector<std::string_view>& tables);

  /// Called after a lost connection was made again: locks of a session are lost with it.
  void set_after_reconnect(std::function<Status()> action) { after_reconnect_ = std::move(action); }

  /// Rows for `COPY … FROM STDIN (FORMAT binary)`: call `write` with parts until it has no more.
  Status copy_in(const std::string& sql,
                 const std::function<Status(const std::function<Status(std::string_view)>&)>& give);

 private:
  friend class PostgresCursor;
  struct Finish {
    const Libpq* pq;
    void operator()(PGconn* connection) const { pq->finish(connection); }
  };
  using Handle = std::unique_ptr<PGconn, Finish>;

  Connection(const Libpq& pq, std::string url, Purpose purpose)
      : pq_(pq), url_(std::move(url)), purpose_(purpose), handle_(nullptr, Finish{&pq}) {}

  Result<std::unique_ptr<sql::Cursor>> open_cursor(std::string_view sql) override;
  Status connect();
  Status set_up_session();
  Status reconnect();
  /// True if a lock took too long and a further try is due, which is logged.
  [[nodiscard]] bool waits_on(int& timeouts) const;
  [[nodiscard]] bool is_lost() const { return pq_.status(handle_.get()) != CONNECTION_OK; }

  /// In a transaction: once. A query that changes nothing: until it finds no lock in its way.
  /// Others in a transaction of their own.
  Result<ResultSet> execute(const Query& query);
  Result<ResultSet> execute_connected(const Query& query);
  Result<ResultSet> execute_once(const Query& query);
  Result<std::string> prepare_query(const Query& query);
  Result<ResultSet> checked(PGresult* result);
  /// Sends the query; its rows are taken with next_row().
  Status send(const Query& query);
  Result<ResultSet> next_row();

  Status try_transaction(const std::function<Status()>& work, std::string& transaction,
                         bool& is_commit_sent);
  Result<bool> was_committed(const std::string& transaction);

  const Libpq& pq_;
  std::string url_;
  Purpose purpose_;
  Handle handle_;
  std::map<std::string, std::string, std::less<>> prepared_;  ///< Names, by text and types.
  std::string last_state_;                                    ///< SQLSTATE of the newest failure.
  bool is_in_transaction_ = false;
  std::function<Status()> after_reconnect_;
};

}  // namespace assay::postgres
