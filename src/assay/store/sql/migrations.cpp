#include "assay/store/sql/migrations.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <string_view>

#include "assay/base/result.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/schema_12.h"

namespace assay::sql {
namespace {

// A released script is never edited: a change is a new entry at the end.
constexpr auto kMigrations = std::to_array<std::string_view>({kSchema12});

}  // namespace

Migrations migrations() { return kMigrations; }

std::int64_t newest_schema(Migrations all) {
  return kFirstSchema + static_cast<std::int64_t>(all.size()) - 1;
}

Status check_schema_is_known(const Connection& connection, std::int64_t found, Migrations all) {
  if (found > newest_schema(all)) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{}: a newer Assay made it (schema {}, this one reads up to {}); "
                            "update Assay or name another store",
                            connection.name(), found, newest_schema(all)));
  }
  if (found != 0 && found < kFirstSchema) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{}: a development version before 0.1 made it (schema {}, 0.1 begins "
                            "with {}); export its runs with that version (assay report RUN "
                            "--format json), and start a new store under another name",
                            connection.name(), found, kFirstSchema));
  }
  return {};
}

Status run_migrations(Connection& connection, const Dialect& dialect, std::int64_t found,
                      Migrations all) {
  const auto done = static_cast<std::size_t>(std::max<std::int64_t>(0, found - kFirstSchema + 1));
  for (const auto script : all.subspan(done)) {
    ASSAY_RETURN_IF_ERROR(connection.run_script(fmt::format(
        fmt::runtime(script), fmt::arg("text", dialect.text), fmt::arg("integer", dialect.integer),
        fmt::arg("real", dialect.real), fmt::arg("blob", dialect.blob),
        fmt::arg("rowid", dialect.rowid), fmt::arg("without_rowid", dialect.without_rowid))));
  }
  return {};
}

}  // namespace assay::sql
