#include "assay/store/sqlite/statement_pool.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <sqlite3.h>
#include <string_view>

namespace assay::sqlite {
namespace {

constexpr std::size_t kMostIdle = 64;

bool is_reusable(std::string_view sql) {
  constexpr auto kVerbs =
      std::to_array<std::string_view>({"SELECT ", "INSERT ", "UPDATE ", "DELETE "});
  return std::ranges::any_of(kVerbs, [&](auto verb) { return sql.starts_with(verb); }) &&
         sql.find("SELECT *") == std::string_view::npos;
}

}  // namespace

StatementPool::~StatementPool() {
  for (const auto& one : idle_) {
    sqlite3_finalize(one.statement);
  }
}

sqlite3_stmt* StatementPool::take(std::string_view sql) {
  const auto found = by_sql_.find(sql);
  if (found == by_sql_.end()) {
    return nullptr;
  }
  auto* statement = found->second->statement;
  idle_.erase(found->second);
  by_sql_.erase(found);
  return statement;
}

void StatementPool::give_back(sqlite3_stmt* statement) {
  const char* const sql = sqlite3_sql(statement);
  if (sql == nullptr || !is_reusable(sql)) {
    sqlite3_finalize(statement);
    return;
  }
  idle_.push_back({.sql = sql, .statement = statement});
  by_sql_.emplace(sql, std::prev(idle_.end()));
  if (idle_.size() > kMostIdle) {
    sqlite3_finalize(take(idle_.front().sql));
  }
}

}  // namespace assay::sqlite
