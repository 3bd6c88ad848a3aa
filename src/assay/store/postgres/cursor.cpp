#include "assay/store/postgres/cursor.h"

#include <bit>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <postgres_ext.h>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/result.h"
#include "assay/store/postgres/connection.h"
#include "assay/store/postgres/libpq.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/stored_text.h"

namespace assay::postgres {
namespace {

// Types that the tables and queries of a store have: pg_type.dat of the server.
constexpr Oid kBool = 16;
constexpr Oid kBytea = 17;
constexpr Oid kInt8 = 20;
constexpr Oid kInt2 = 21;
constexpr Oid kInt4 = 23;
constexpr Oid kText = 25;
constexpr Oid kFloat8 = 701;
constexpr Oid kInferred = 0;

bool is_integer(Oid type) {
  return type == kBool || type == kInt2 || type == kInt4 || type == kInt8;
}

// Big-endian, of one to eight bytes.
std::uint64_t bits_from_bytes(std::string_view bytes) {
  std::uint64_t bits = 0;
  for (const char c : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
  }
  return bits;
}

std::int64_t integer_from_bytes(std::string_view bytes) {
  const auto unused_bits = static_cast<int>(64 - (8 * bytes.size()));
  return bytes.empty()
             ? 0
             : static_cast<std::int64_t>(bits_from_bytes(bytes) << unused_bits) >> unused_bits;
}

}  // namespace

std::string numbered_parameters(std::string_view sql) {
  std::string text;
  int next = 1;
  bool is_quoted = false;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    is_quoted = is_quoted != (sql[i] == '\'');
    if (sql[i] != '?' || is_quoted) {
      text += sql[i];
      continue;
    }
    const bool is_numbered = i + 1 < sql.size() && std::isdigit(sql[i + 1]) != 0;
    text += is_numbered ? "$" : fmt::format("${}", next++);
  }
  return text;
}

PostgresCursor::PostgresCursor(Connection& connection, const Libpq& pq, std::string_view sql,
                               bool streams)
    : connection_(connection),
      pq_(pq),
      streams_(streams),
      query_{.text = numbered_parameters(sql), .values = {}},
      rows_(nullptr, ClearResult{&pq}) {}

PostgresCursor::~PostgresCursor() {
  while (is_sent_) {  // Rows that nobody took would be in the way of the next query.
    const auto row = connection_.next_row();
    is_sent_ = row && *row != nullptr;
  }
}

void PostgresCursor::bind(std::int64_t value) {
  query_.values.push_back(
      {.type = kInt8, .is_null = false, .is_binary = false, .bytes = std::to_string(value)});
}

void PostgresCursor::bind(double value) {
  query_.values.push_back(
      {.type = kFloat8, .is_null = false, .is_binary = false, .bytes = fmt::format("{}", value)});
}

void PostgresCursor::bind(std::string_view value) {
  query_.values.push_back({.type = kText,
                           .is_null = false,
                           .is_binary = false,
                           .bytes = sql::mended_text(value).value_or(std::string(value))});
}

void PostgresCursor::bind(sql::Blob value) {
  query_.values.push_back(
      {.type = kBytea, .is_null = false, .is_binary = true, .bytes = std::string(value.bytes)});
}

void PostgresCursor::bind_null() {
  query_.values.push_back({.type = kInferred, .is_null = true, .is_binary = false, .bytes = {}});
}

Result<bool> PostgresCursor::step() {
  if (streams_) {
    return step_stream();
  }
  if (rows_ == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(rows_, connection_.execute(query_));
  }
  return ++row_ < pq_.row_count(rows_.get());
}

Result<bool> PostgresCursor::step_stream() {
  if (!is_sent_) {
    ASSAY_RETURN_IF_ERROR(connection_.send(query_));
    is_sent_ = true;
  }
  ASSAY_ASSIGN_OR_RETURN(auto next, connection_.next_row());
  is_sent_ = next != nullptr;
  if (!is_sent_) {
    return false;
  }
  rows_ = std::move(next);
  row_ = 0;
  // The last answer has the columns and no row.
  return pq_.row_count(rows_.get()) > 0;
}

void PostgresCursor::reset() {
  query_.values.clear();
  rows_.reset();
  row_ = -1;
}

std::int64_t PostgresCursor::changed_rows() const {
  const std::string_view text = rows_ == nullptr ? "" : pq_.changed_rows(rows_.get());
  std::int64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

sql::ValueKind PostgresCursor::kind(int column) const {
  if (pq_.is_null(rows_.get(), row_, column) != 0) {
    return sql::ValueKind::kNull;
  }
  const auto type = pq_.column_type(rows_.get(), column);
  if (is_integer(type)) {
    return sql::ValueKind::kInteger;
  }
  if (type == kFloat8) {
    return sql::ValueKind::kReal;
  }
  return type == kBytea ? sql::ValueKind::kBlob : sql::ValueKind::kText;
}

std::string_view PostgresCursor::bytes(int column) const {
  return {pq_.value(rows_.get(), row_, column),
          static_cast<std::size_t>(pq_.length(rows_.get(), row_, column))};
}

std::int64_t PostgresCursor::integer(int column) const {
  return kind(column) == sql::ValueKind::kReal ? static_cast<std::int64_t>(real(column))
                                               : integer_from_bytes(bytes(column));
}

double PostgresCursor::real(int column) const {
  return kind(column) == sql::ValueKind::kReal
             ? std::bit_cast<double>(bits_from_bytes(bytes(column)))
             : static_cast<double>(integer(column));
}

std::string PostgresCursor::text(int column) const {
  switch (kind(column)) {
    case sql::ValueKind::kNull:
      return {};
    case sql::ValueKind::kInteger:
      return std::to_string(integer(column));
    case sql::ValueKind::kReal:
      return fmt::format("{}", real(column));
    default:
      return std::string(bytes(column));
  }
}

int PostgresCursor::column_count() const {
  return rows_ == nullptr ? 0 : pq_.column_count(rows_.get());
}

std::string PostgresCursor::column_name(int column) const {
  return pq_.column_name(rows_.get(), column);
}

}  // namespace assay::postgres
