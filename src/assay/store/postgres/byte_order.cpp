#include "assay/store/postgres/byte_order.h"

#include <fmt/format.h>
#include <string_view>

#include "assay/base/result.h"
#include "assay/store/postgres/connection.h"
#include "assay/store/sql/connection.h"

namespace assay::postgres {
namespace {

/// A view is told by its own name, and not by that of its rule.
constexpr std::string_view kUsersOfTexts = R"sql(
SELECT coalesce(string_agg(name, ', ' ORDER BY name COLLATE "C"), '') FROM (
  SELECT DISTINCT CASE WHEN rule.rulename = '_RETURN'
      THEN pg_describe_object('pg_class'::regclass, rule.ev_class, 0)
      ELSE pg_describe_object(classid, objid, objsubid) END AS name
    FROM pg_depend JOIN pg_class AS used ON refclassid = 'pg_class'::regclass AND
        used.oid = refobjid AND used.relnamespace = 'assay'::regnamespace
      LEFT JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
      LEFT JOIN pg_rewrite AS rule ON classid = 'pg_rewrite'::regclass AND rule.oid = objid
    WHERE classid IN ('pg_rewrite'::regclass, 'pg_proc'::regclass, 'pg_trigger'::regclass,
        'pg_policy'::regclass, 'pg_publication_rel'::regclass) AND
      (rule.oid IS NULL OR rule.ev_class <> 'assay.late_execution'::regclass) AND
      (used.relname = 'late_execution' OR (used.relkind = 'r' AND atttypid = 'text'::regtype))
  ) AS users
)sql";

}  // namespace

Status check_that_nothing_uses_texts(Connection& connection) {
  ASSAY_ASSIGN_OR_RETURN(auto row, connection.prepare(kUsersOfTexts));
  ASSAY_RETURN_IF_ERROR(row.step());
  const auto users = row.text(0);
  return users.empty()
             ? Status()
             : fail(ErrorCode::kUnsupported,
                    fmt::format("{}: the columns of its tables get another collation, which "
                                "PostgreSQL refuses while something of yours uses them: {}; keep "
                                "the definitions (pg_dump --schema-only prints them), drop these, "
                                "give the command again, and make them anew",
                                connection.name(), users));
}

}  // namespace assay::postgres
