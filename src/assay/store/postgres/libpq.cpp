#include "assay/store/postgres/libpq.h"

#include <expected>
#include <fmt/format.h>

#include <dlfcn.h>

#include "assay/base/result.h"

namespace assay::postgres {
namespace {

constexpr const char* kLibrary = "libpq.so.5";

template <class Function>
bool load(void* library, const char* name, Function& target) {
  target = reinterpret_cast<Function>(::dlsym(library, name));
  return target != nullptr;
}

bool load_all(void* library, Libpq& all) {
  return load(library, "PQconnectdbParams", all.connect) && load(library, "PQfinish", all.finish) &&
         load(library, "PQstatus", all.status) &&
         load(library, "PQerrorMessage", all.error_message) && load(library, "PQexec", all.exec) &&
         load(library, "PQprepare", all.prepare) &&
         load(library, "PQexecPrepared", all.exec_prepared) &&
         load(library, "PQsendQueryParams", all.send_query) &&
         load(library, "PQsetSingleRowMode", all.set_single_row_mode) &&
         load(library, "PQgetResult", all.get_result) &&
         load(library, "PQresultStatus", all.result_status) &&
         load(library, "PQresultErrorField", all.result_error_field) &&
         load(library, "PQclear", all.clear) && load(library, "PQntuples", all.row_count) &&
         load(library, "PQnfields", all.column_count) &&
         load(library, "PQfname", all.column_name) && load(library, "PQftype", all.column_type) &&
         load(library, "PQgetisnull", all.is_null) && load(library, "PQgetvalue", all.value) &&
         load(library, "PQgetlength", all.length) &&
         load(library, "PQcmdTuples", all.changed_rows) &&
         load(library, "PQputCopyData", all.put_copy_data) &&
         load(library, "PQputCopyEnd", all.put_copy_end) &&
         load(library, "PQconninfoParse", all.parse_conninfo) &&
         load(library, "PQconninfoFree", all.free_conninfo) &&
         load(library, "PQfreemem", all.free_memory) &&
         load(library, "PQsetNoticeProcessor", all.set_notice_processor);
}

Result<Libpq> load_library() {
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  Libpq all;
  if (library == nullptr || !load_all(library, all)) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("a store in PostgreSQL needs its client library {}: apt install "
                            "libpq5, or dnf install libpq",
                            kLibrary));
  }
  return all;
}

}  // namespace

Result<const Libpq*> libpq() {
  static const auto loaded = load_library();
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  return &*loaded;
}

}  // namespace assay::postgres
