#pragma once

struct sqlite3;

namespace assay::sqlite {

/// Adds the functions that the SQL of a store calls and SQLite does not have: sha256, octet_length
/// and mended_text, which sql/stored_text.h explains. The schema of a file cannot call them.
void add_functions(sqlite3* database);

}  // namespace assay::sqlite
