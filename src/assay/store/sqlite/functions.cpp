#include "assay/store/sqlite/functions.h"

#include <sqlite3.h>

#include "assay/base/result.h"

namespace assay::sqlite {
namespace {

// octet_length(X): bytes of a text or blob; NULL for NULL. SQLite has it from 3.43 on.
void octet_length_in_sql(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  if (sqlite3_value_type(values[0]) == SQLITE_NULL) {
    return sqlite3_result_null(context);
  }
  sqlite3_result_int64(context, sqlite3_value_bytes(values[0]));
}

}  // namespace

void add_functions(sqlite3* database) {
  ASSAY_CHECK(sqlite3_create_function_v2(database, "octet_length", 1,
                                         SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
                                         nullptr, &octet_length_in_sql, nullptr, nullptr,
                                         nullptr) == SQLITE_OK);
}

}  // namespace assay::sqlite
