#include "assay/store/postgres/copy_rows.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/store/postgres/connection.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/stored_text.h"

namespace assay::postgres {
namespace {

using std::string_view_literals::operator""sv;

// https://www.postgresql.org/docs/15/sql-copy.html, "Binary Format"
constexpr auto kHeader = "PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0"sv;
constexpr auto kTrailer = "\xff\xff"sv;
constexpr std::size_t kPartBytes = std::size_t{1} << 20;

void append_bits(std::uint64_t bits, int bytes, std::string& target) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    target += static_cast<char>((bits >> shift) & 0xff);
  }
}

void append_field(std::string_view bytes, std::string& target) {
  append_bits(bytes.size(), 4, target);
  target += bytes;
}

void append_number(std::uint64_t bits, std::string& target) {
  append_bits(sizeof bits, 4, target);
  append_bits(bits, sizeof bits, target);
}

void append_value(const sql::Statement& row, int column, std::string& bytes) {
  switch (row.kind(column)) {
    case sql::ValueKind::kNull:
      append_bits(0xffffffff, 4, bytes);
      break;
    case sql::ValueKind::kInteger:
      append_number(static_cast<std::uint64_t>(row.integer(column)), bytes);
      break;
    case sql::ValueKind::kReal:
      append_number(std::bit_cast<std::uint64_t>(row.real(column)), bytes);
      break;
    case sql::ValueKind::kText: {
      const auto text = row.text(column);
      append_field(sql::mended_text(text).value_or(text), bytes);
      break;
    }
    case sql::ValueKind::kBlob:
      append_field(row.text(column), bytes);
      break;
  }
}

Status give_rows(sql::Statement& rows, const std::function<Status(std::string_view)>& write) {
  std::string part(kHeader);
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
    if (!has_row) {
      break;
    }
    append_copied_row(rows, part);
    if (part.size() >= kPartBytes) {
      ASSAY_RETURN_IF_ERROR(write(part));
      part.clear();
    }
  }
  part += kTrailer;
  return write(part);
}

}  // namespace

void append_copied_row(const sql::Statement& row, std::string& bytes) {
  const int columns = row.column_count();
  append_bits(static_cast<std::uint64_t>(columns), 2, bytes);
  for (int i = 0; i < columns; ++i) {
    append_value(row, i, bytes);
  }
}

Status TemporaryTables::add_rows(std::string_view table, std::string_view columns,
                                 sql::Statement& rows) {
  ASSAY_RETURN_IF_ERROR(connection_.run_script(
      fmt::format("CREATE TEMPORARY TABLE {} (LIKE {}.{} INCLUDING IDENTITY) ON COMMIT DROP", table,
                  kSchema, table)));
  return connection_.copy_in(
      fmt::format("COPY pg_temp.{} ({}) FROM STDIN (FORMAT binary)", table, columns),
      [&rows](const std::function<Status(std::string_view)>& write) {
        return give_rows(rows, write);
      });
}

}  // namespace assay::postgres
