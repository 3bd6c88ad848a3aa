#include "features/site/ingest.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/store/result_store.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/rows.h"
#include "assay/store/sqlite/connection.h"
#include "assay/store/sqlite/migrations.h"

namespace assay::site {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);

Status check_is_sqlite(const std::filesystem::path& part) {
  std::array<char, kMagic.size()> head{};
  std::ifstream file(part, std::ios::binary);
  file.read(head.data(), head.size());
  if (!file || std::string_view(head.data(), head.size()) != kMagic) {
    return fail(ErrorCode::kCorrupt,
                "the body is no SQLite file; send the file that --store part.db wrote");
  }
  return {};
}

/// Whatever of a schema could make a reader do more than read rows: views, triggers, virtual
/// tables. SQLite says what a table is; the text next to it is the sender's.
Result<std::vector<std::string>> active_parts_of(sqlite::Connection& connection) {
  return sql::collect(
      connection.prepare("SELECT type || ' ' || name FROM pragma_table_list WHERE schema = 'main' "
                         "AND type <> 'table' UNION ALL SELECT coalesce(sql, '') FROM "
                         "sqlite_schema WHERE type NOT IN ('table', 'index')"),
      [](sql::Statement& row) { return Result<std::string>(row.text(0)); });
}

/// Refuses a file with such a part that no store has.
Status check_is_passive(const std::filesystem::path& part) {
  ASSAY_ASSIGN_OR_RETURN(auto connection, sqlite::Connection::open_to_read(part));
  ASSAY_ASSIGN_OR_RETURN(auto ours, sqlite::Connection::open(":memory:"));
  ASSAY_RETURN_IF_ERROR(sqlite::migrate(ours));
  ASSAY_ASSIGN_OR_RETURN(const auto known, active_parts_of(ours));
  ASSAY_ASSIGN_OR_RETURN(const auto found, active_parts_of(connection));
  const bool is_passive = std::ranges::all_of(
      found, [&known](const auto& one) { return std::ranges::find(known, one) != known.end(); });
  return is_passive ? Status()
                    : fail(ErrorCode::kInvalidArgument,
                           "the file holds views, triggers or virtual tables, so Assay did not "
                           "make it; send the file that --store part.db wrote");
}

}  // namespace

Result<std::int64_t> merge_part(const OpenToAdd& open_store, const std::filesystem::path& part) {
  ASSAY_RETURN_IF_ERROR(check_is_sqlite(part));
  ASSAY_RETURN_IF_ERROR(check_is_passive(part));
  ASSAY_ASSIGN_OR_RETURN(const auto store, open_store());
  return store->merge_from(part);
}

}  // namespace assay::site
