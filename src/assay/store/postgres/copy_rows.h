#pragma once

#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/store/postgres/connection.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/merge.h"

namespace assay::postgres {

/// Takes rows into temporary tables of a transaction, by COPY in its binary format: each table of a
/// store has one of its name in pg_temp.
class TemporaryTables final : public sql::RowTarget {
 public:
  explicit TemporaryTables(Connection& connection) : connection_(connection) {}

  Status add_rows(std::string_view table, std::string_view columns, sql::Statement& rows) override;

 private:
  Connection& connection_;
};

/// Appends a row as COPY takes it.
void append_copied_row(const sql::Statement& row, std::string& bytes);

}  // namespace assay::postgres
