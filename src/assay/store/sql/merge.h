#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/store/sql/connection.h"

/// Merging one store into another, in any pair of databases.
namespace assay::sql {

/// Schemas in which one connection sees the tables of both stores.
struct MergeSides {
  std::string_view own;
  std::string_view other;
};

/// Tables of a store, each behind those that it refers to.
std::vector<std::string_view> merged_tables();

/// Copies every row that `own` lacks, and the end of runs and attempts that were unfinished there;
/// returns how many rows. To be called in a transaction. Errors: kCorrupt, naming a row that has
/// one key and two contents.
Result<std::int64_t> copy_missing_rows(Connection& connection, const MergeSides& sides);

/// Takes rows of tables in bulk.
class RowTarget {
 public:
  virtual ~RowTarget() = default;
  /// `columns`: "\"id\", \"purpose\"", as `rows` has them.
  virtual Status add_rows(std::string_view table, std::string_view columns, Statement& rows) = 0;
};

/// Gives all rows of a store to `target`, table by table, in the order of merged_tables().
Status stage_rows(Connection& source, RowTarget& target);

/// Gives the rows of some runs, and those that they refer to. `runs`: their ids, a JSON array.
Status stage_rows_of_runs(Connection& source, RowTarget& target, const std::string& runs);

}  // namespace assay::sql
