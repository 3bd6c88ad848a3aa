#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <string_view>

struct sqlite3_stmt;

namespace assay::sqlite {

/// Prepared statements that are not in use, by their text: a store asks the same questions of each
/// launch, and parsing one takes longer than answering it. Not thread-safe.
class StatementPool {
 public:
  StatementPool() = default;
  StatementPool(const StatementPool&) = delete;
  StatementPool& operator=(const StatementPool&) = delete;
  ~StatementPool();

  /// A statement of this text, which the caller owns from now on; nullptr: none is left.
  sqlite3_stmt* take(std::string_view sql);

  /// Keeps a statement that was reset, or finalizes it: one that opens or closes databases or
  /// transactions, or whose columns may change, and the least recently used beyond the limit.
  void give_back(sqlite3_stmt* statement);

 private:
  struct Idle {
    std::string sql;
    sqlite3_stmt* statement;
  };

  std::list<Idle> idle_;  ///< The least recently used first.
  std::multimap<std::string, std::list<Idle>::iterator, std::less<>> by_sql_;
};

}  // namespace assay::sqlite
