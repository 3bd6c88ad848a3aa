#pragma once

#include <concepts>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/run.h"
#include "assay/store/sql/connection.h"

/// Helpers that the rows_*.cpp share: records to text columns and back.
namespace assay::sql {

/// JSON of a record for a text column. Bytes that are not UTF-8 are replaced: last words of a dead
/// process may hold anything.
template <class T>
std::string text_from_record(const T& record) {
  return Json(record).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Errors: kCorrupt, naming `what`.
template <class T>
Result<T> record_from_text(const std::string& text, std::string_view what) {
  try {
    auto json = parse_json(text, what, JsonComments::kRefused);
    if (!json) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("damaged record in the store: {}", json.error().message));
    }
    return json->template get<T>();
  } catch (const std::exception& error) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("damaged {} in the store: {}", what, error.what()));
  }
}

/// Errors: kCorrupt.
template <NamedEnum E>
Result<E> enum_from_text(const std::string& text) {
  const auto found = find_enum<E>(text);
  if (!found) {
    return fail(ErrorCode::kCorrupt, fmt::format("unknown word '{}' in the store", text));
  }
  return *found;
}

/// Condition on `comparison` for run ?1: all of a run that no fleet has executed, else those of the
/// executions that count. The comparison that a driver planned stands until one does.
inline constexpr std::string_view kComparisonsThatCount =
    "run = ?1 AND (NOT EXISTS (SELECT 1 FROM execution WHERE run = ?1) OR "
    "json_extract(document, '$.worker') IN (SELECT id FROM execution WHERE run = ?1 AND id NOT IN "
    "(SELECT id FROM late_execution WHERE run = ?1)))";

/// Columns of a run, as read_run wants them; what a query adds comes behind.
inline constexpr std::string_view kRunColumns =
    "run.id, run.purpose, run.name, run.labels, run.seed, run.argv, run.spec_digest, run.spec, "
    "run.environment, run.started_unix_ns, run.finished_unix_ns, run.environment_key";
inline constexpr int kRunColumnCount = 12;

/// The condition that a run was made by a verb or for a purpose, which `parameter` ("?2") names.
std::string made_by_sql(std::string_view parameter);

/// Errors: kCorrupt.
Result<Run> read_run(Statement& row);

/// A run that is finished takes no more records, and it does not end before the transaction does.
/// A run that is absent is left to the schema. Errors: kInvalidArgument.
Status check_unfinished(Connection& connection, std::string_view run);

/// An empty text refers to nothing: NULL.
inline std::optional<std::string> text_or_null(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// All rows, each made by `read(statement)`, a Result<T>.
template <class Read>
auto collect(Result<Statement> statement, Read read)
    -> Result<std::vector<typename std::invoke_result_t<Read, Statement&>::value_type>> {
  std::vector<typename std::invoke_result_t<Read, Statement&>::value_type> rows;
  if (!statement) {
    return std::unexpected(std::move(statement).error());
  }
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, statement->step());
    if (!has_row) {
      return rows;
    }
    ASSAY_ASSIGN_OR_RETURN(auto row, read(*statement));
    rows.push_back(std::move(row));
  }
}

/// The only row. Errors: kNotFound with `missing` as its message.
template <class Read>
auto get_one(Result<Statement> statement, Read read, std::string_view missing)
    -> std::invoke_result_t<Read, Statement&> {
  ASSAY_ASSIGN_OR_RETURN(auto rows, collect(std::move(statement), read));
  if (rows.empty()) {
    return fail(ErrorCode::kNotFound, std::string(missing));
  }
  return std::move(rows.front());
}

}  // namespace assay::sql
