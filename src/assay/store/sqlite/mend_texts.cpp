#include "assay/store/sqlite/mend_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/launch_digest.h"
#include "assay/store/sql/rows.h"
#include "assay/store/sqlite/connection.h"

namespace assay::sqlite {
namespace {

/// Names of columns, quoted, by table.
using TextColumns = std::map<std::string, std::vector<std::string>>;

Result<TextColumns> text_columns(Connection& connection) {
  using Column = std::pair<std::string, std::string>;
  ASSAY_ASSIGN_OR_RETURN(
      const auto columns,
      sql::collect(connection.prepare("SELECT tables.name, columns.name FROM sqlite_schema AS "
                                      "tables JOIN pragma_table_info(tables.name) AS columns "
                                      "WHERE tables.type = 'table' AND columns.type = 'TEXT'"),
                   [](sql::Statement& row) -> Result<Column> {
                     return Column(row.text(0), fmt::format("\"{}\"", row.text(1)));
                   }));
  TextColumns by_table;
  for (const auto& [table, column] : columns) {
    by_table[table].push_back(column);
  }
  return by_table;
}

// "mended_text(a) <> a OR mended_text(b) <> b".
std::string is_to_mend(const std::vector<std::string>& columns) {
  std::vector<std::string> conditions;
  conditions.reserve(columns.size());
  for (const auto& column : columns) {
    conditions.push_back(fmt::format("mended_text({0}) <> {0}", column));
  }
  return fmt::format("{}", fmt::join(conditions, " OR "));
}

Status mend_table(Connection& connection, std::string_view table,
                  const std::vector<std::string>& columns) {
  std::vector<std::string> settings;
  settings.reserve(columns.size());
  for (const auto& column : columns) {
    settings.push_back(fmt::format("{0} = mended_text({0})", column));
  }
  // Two keys that would be one stay as they are.
  return connection.run(fmt::format("UPDATE OR IGNORE {} SET {} WHERE {}", table,
                                    fmt::join(settings, ", "), is_to_mend(columns)));
}

Result<std::set<std::string>> launches_to_seal(Connection& connection, const TextColumns& texts) {
  std::set<std::string> launches;
  for (const auto* const table : {"launch", "sample_block", "op_event", "trace"}) {
    const std::string_view id = std::string_view(table) == "launch" ? "id" : "launch";
    ASSAY_ASSIGN_OR_RETURN(
        const auto found,
        sql::collect(connection.prepare(fmt::format("SELECT {} FROM {} WHERE {}", id, table,
                                                    is_to_mend(texts.at(table)))),
                     [](sql::Statement& row) { return Result<std::string>(row.text(0)); }));
    for (const auto& launch : found) {
      ASSAY_ASSIGN_OR_RETURN(const auto seal, sql::seal_of_launch(connection, launch));
      if (seal == sql::Seal::kRight) {
        launches.insert(launch);
      }
    }
  }
  return launches;
}

}  // namespace

Status mend_texts(Connection& connection) {
  ASSAY_ASSIGN_OR_RETURN(const auto texts, text_columns(connection));
  ASSAY_ASSIGN_OR_RETURN(const auto launches, launches_to_seal(connection, texts));
  for (const auto& [table, columns] : texts) {
    ASSAY_RETURN_IF_ERROR(mend_table(connection, table, columns));
  }
  for (const auto& launch : launches) {
    ASSAY_RETURN_IF_ERROR(sql::seal_launch(connection, launch));
  }
  return {};
}

}  // namespace assay::sqlite
