#pragma once

#include <exception>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/rows.h"

/// Rows of the index as JSON text in a column: what the run_index*.cpp share.
namespace assay::site {

template <class Row>
std::string document_text(const Row& row) {
  return text_from_json(Json(row));
}

/// Errors: kCorrupt.
template <class Row>
Result<Row> row_from_text(const std::string& text) {
  ASSAY_ASSIGN_OR_RETURN(const auto json, parse_json(text, "the index"));
  try {
    return json.get<Row>();
  } catch (const std::exception& error) {
    return fail(ErrorCode::kCorrupt, fmt::format("the index of the site: {}", error.what()));
  }
}

/// The first column of all rows.
template <class Row>
Result<std::vector<Row>> read_documents(Result<sql::Statement> prepared) {
  return sql::collect(std::move(prepared),
                      [](sql::Statement& row) { return row_from_text<Row>(row.text(0)); });
}

}  // namespace assay::site
