#include "assay/store/sqlite/functions.h"

#include <cstddef>
#include <sqlite3.h>
#include <string_view>

#include "assay/base/digest.h"
#include "assay/base/result.h"
#include "assay/store/sql/stored_text.h"

namespace assay::sqlite {
namespace {

std::string_view bytes_of_value(sqlite3_value* value) {
  const void* bytes = sqlite3_value_blob(value);
  const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value));
  return bytes == nullptr ? std::string_view()
                          : std::string_view(static_cast<const char*>(bytes), size);
}

void return_text(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

// sha256(X): SHA-256 of a text or blob in hexadecimal; NULL for NULL.
void sha256_in_sql(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  if (sqlite3_value_type(values[0]) == SQLITE_NULL) {
    return sqlite3_result_null(context);
  }
  return_text(context, sha256_hex(bytes_of_value(values[0])));
}

// octet_length(X): bytes of a text or blob; NULL for NULL. SQLite has it from 3.43 on.
void octet_length_in_sql(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  if (sqlite3_value_type(values[0]) == SQLITE_NULL) {
    return sqlite3_result_null(context);
  }
  sqlite3_result_int64(context, sqlite3_value_bytes(values[0]));
}

// mended_text(X): a text as a store keeps it; what is no text stays.
void mended_text_in_sql(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  if (sqlite3_value_type(values[0]) != SQLITE_TEXT) {
    return sqlite3_result_value(context, values[0]);
  }
  const auto mended = sql::mended_text(bytes_of_value(values[0]));
  mended ? return_text(context, *mended) : sqlite3_result_value(context, values[0]);
}

void add_function(sqlite3* database, const char* name,
                  void (*function)(sqlite3_context*, int, sqlite3_value**)) {
  ASSAY_CHECK(sqlite3_create_function_v2(
                  database, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
                  nullptr, function, nullptr, nullptr, nullptr) == SQLITE_OK);
}

}  // namespace

void add_functions(sqlite3* database) {
  add_function(database, "sha256", &sha256_in_sql);
  add_function(database, "octet_length", &octet_length_in_sql);
  add_function(database, "mended_text", &mended_text_in_sql);
}

}  // namespace assay::sqlite
