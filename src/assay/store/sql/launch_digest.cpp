#include "assay/store/sql/launch_digest.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/base/sha256.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/rows.h"

namespace assay::sql {
namespace {

constexpr auto kSealedRows = std::to_array<std::string_view>({
    "SELECT * FROM launch WHERE id = ?",
    "SELECT * FROM sample_block WHERE launch = ? ORDER BY metric, step, phase",
    "SELECT * FROM op_event WHERE launch = ? ORDER BY position",
    "SELECT * FROM trace WHERE launch = ? ORDER BY channel",
});

// Columns that say nothing of the launch: its seal, and its row number in PostgreSQL.
constexpr auto kUnsealedColumns = std::to_array<std::string_view>({"digest", "rowid"});

// "name:length:value;" of each column: no two rows give one text.
std::string text_of_row(const Statement& row) {
  std::string text;
  for (int i = 0; i < row.column_count(); ++i) {
    if (row.is_null(i) ||
        std::ranges::find(kUnsealedColumns, row.column_name(i)) != kUnsealedColumns.end()) {
      continue;
    }
    const auto value = row.text(i);
    text += fmt::format("{}:{}:", row.column_name(i), value.size());
    text += value;
    text += ';';
  }
  return text + '\n';
}

}  // namespace

Result<std::string> digest_from_rows_of_launch(Connection& connection, const std::string& launch) {
  Sha256 hash;
  for (const auto sql : kSealedRows) {
    ASSAY_ASSIGN_OR_RETURN(auto rows, connection.prepare(sql, launch));
    while (true) {
      ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
      if (!has_row) {
        break;
      }
      hash.add(text_of_row(rows));
    }
    hash.add("\n");
  }
  return hash.hex();
}

Status seal_launch(Connection& connection, const std::string& launch) {
  ASSAY_ASSIGN_OR_RETURN(const auto digest, digest_from_rows_of_launch(connection, launch));
  return connection.run("UPDATE launch SET digest = ? WHERE id = ?", digest, launch);
}

Status check_seal(Connection& connection, const std::string& launch) {
  ASSAY_ASSIGN_OR_RETURN(const auto sealed,
                         get_one(
                             connection.prepare("SELECT digest FROM launch WHERE id = ?", launch),
                             [](Statement& row) { return Result<std::string>(row.text(0)); },
                             fmt::format("no launch '{}' in the store", launch)));
  ASSAY_ASSIGN_OR_RETURN(const auto digest, digest_from_rows_of_launch(connection, launch));
  return sealed == digest
             ? Status()
             : fail(ErrorCode::kCorrupt,
                    fmt::format("launch '{}' is damaged: its rows do not have the digest that they "
                                "were stored with; restore a copy of {}, or remove its run",
                                launch, connection.name()));
}

}  // namespace assay::sql
