#include "assay/store/sql/connection.h"

#include <cstdint>
#include <string_view>

#include "assay/base/result.h"

namespace assay::sql {

Status Statement::run() {
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, step());
    if (!has_row) {
      return {};
    }
  }
}

Result<std::int64_t> Statement::run_counted() {
  ASSAY_RETURN_IF_ERROR(run());
  return cursor_->changed_rows();
}

Status Statement::run_with(const Statement& row) {
  cursor_->reset();
  for (int i = 0; i < row.column_count(); ++i) {
    switch (row.kind(i)) {
      case ValueKind::kNull:
        cursor_->bind_null();
        break;
      case ValueKind::kInteger:
        cursor_->bind(row.integer(i));
        break;
      case ValueKind::kReal:
        cursor_->bind(row.real(i));
        break;
      case ValueKind::kText:
        cursor_->bind(std::string_view(row.text(i)));
        break;
      case ValueKind::kBlob:
        cursor_->bind(Blob{row.text(i)});
        break;
    }
  }
  return run();
}

Result<std::int64_t> Connection::get_integer(std::string_view sql) {
  ASSAY_ASSIGN_OR_RETURN(auto statement, prepare(sql));
  ASSAY_ASSIGN_OR_RETURN(const bool has_row, statement.step());
  if (!has_row) {
    return fail(ErrorCode::kNotFound, "no row");
  }
  return statement.integer(0);
}

}  // namespace assay::sql
