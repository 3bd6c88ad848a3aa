#pragma once

#include <libpq-fe.h>

#include "assay/base/result.h"

namespace assay::postgres {

/// Functions of PostgreSQL's client library, loaded when a store in a server is named first, so
/// that Assay runs where the library is not installed.
struct Libpq {
  decltype(&::PQconnectdbParams) connect = nullptr;
  decltype(&::PQfinish) finish = nullptr;
  decltype(&::PQstatus) status = nullptr;
  decltype(&::PQerrorMessage) error_message = nullptr;
  decltype(&::PQexec) exec = nullptr;
  decltype(&::PQprepare) prepare = nullptr;
  decltype(&::PQexecPrepared) exec_prepared = nullptr;
  decltype(&::PQsendQueryParams) send_query = nullptr;
  decltype(&::PQsetSingleRowMode) set_single_row_mode = nullptr;
  decltype(&::PQgetResult) get_result = nullptr;
  decltype(&::PQresultStatus) result_status = nullptr;
  decltype(&::PQresultErrorField) result_error_field = nullptr;
  decltype(&::PQclear) clear = nullptr;
  decltype(&::PQntuples) row_count = nullptr;
  decltype(&::PQnfields) column_count = nullptr;
  decltype(&::PQfname) column_name = nullptr;
  decltype(&::PQftype) column_type = nullptr;
  decltype(&::PQgetisnull) is_null = nullptr;
  decltype(&::PQgetvalue) value = nullptr;
  decltype(&::PQgetlength) length = nullptr;
  decltype(&::PQcmdTuples) changed_rows = nullptr;
  decltype(&::PQputCopyData) put_copy_data = nullptr;
  decltype(&::PQputCopyEnd) put_copy_end = nullptr;
  decltype(&::PQconninfoParse) parse_conninfo = nullptr;
  decltype(&::PQconninfoFree) free_conninfo = nullptr;
  decltype(&::PQfreemem) free_memory = nullptr;
  decltype(&::PQsetNoticeProcessor) set_notice_processor = nullptr;
};

/// Errors: kUnavailable, saying how to install the library.
Result<const Libpq*> libpq();

}  // namespace assay::postgres
