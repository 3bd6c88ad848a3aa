#pragma once

#include <string_view>

#include "assay/base/result.h"
#include "assay/store/postgres/connection.h"

namespace assay::postgres {

/// Whether kByteOrder can change the columns. Errors: kUnsupported, naming the views, triggers and
/// so on of others that use them: PostgreSQL changes no type of a column in use.
Status check_that_nothing_uses_texts(Connection& connection);

/// A migration: texts are compared by their bytes, as in SQLite, whatever the collation of the
/// database, and JSON with an escaped NUL can be read (an even number of backslashes before it is
/// text, and no escape). Before, orders (and what was digested in
/// them) differed between stores, and an update of the server's libc could damage indexes. Only the
/// owner changes the number of the schema.
inline constexpr std::string_view kByteOrder = R"sql(
DO $migration$
DECLARE
  view_owner NAME := (SELECT pg_get_userbyid(relowner) FROM pg_class
    WHERE oid = 'late_execution'::regclass);
  view_grants TEXT;
  change RECORD;
BEGIN
  SELECT string_agg(format('GRANT %s ON late_execution TO %s%s', privilege_type,
      CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END,
      CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END), '; ')
    INTO view_grants FROM pg_class, aclexplode(relacl)
    WHERE pg_class.oid = 'late_execution'::regclass AND grantee <> relowner;
  DROP VIEW late_execution;
  FOR change IN
    SELECT format('ALTER TABLE %I %s', class.relname, string_agg(format(
        'ALTER COLUMN %I TYPE TEXT COLLATE "C"', attname), ', ' ORDER BY attnum)) AS statement
      FROM pg_attribute JOIN pg_class AS class ON class.oid = attrelid
      WHERE relnamespace = 'assay'::regnamespace AND relkind = 'r' AND attnum > 0 AND
        NOT attisdropped AND atttypid = 'text'::regtype
      GROUP BY class.relname
  LOOP
    EXECUTE change.statement;
  END LOOP;
  CREATE VIEW late_execution AS SELECT id, run FROM (SELECT id, run, row_number() OVER (
      PARTITION BY run, job ORDER BY CASE WHEN accepted_unix_ns = 0 THEN 1 ELSE 0 END,
      accepted_unix_ns, finished_unix_ns, id) AS place FROM execution) AS placed WHERE place > 1;
  EXECUTE format('ALTER VIEW late_execution OWNER TO %I', view_owner);
  IF view_grants IS NOT NULL THEN
    EXECUTE view_grants;
  END IF;
  FOR change IN
    SELECT DISTINCT format('REVOKE INSERT, UPDATE ON schema_version FROM %s',
        CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
        AS statement
      FROM pg_class, aclexplode(relacl)
      WHERE pg_class.oid = 'schema_version'::regclass AND grantee <> relowner
  LOOP
    EXECUTE change.statement;
  END LOOP;
END
$migration$;

CREATE OR REPLACE FUNCTION json_extract(document TEXT, path TEXT) RETURNS TEXT
LANGUAGE sql IMMUTABLE
AS $$
  SELECT regexp_replace(document, '(?<!\\)((\\\\)*)\\u0000', '\1\\ufffd', 'g')::json #>>
    string_to_array(btrim(translate(path, '$[]', '..'), '.'), '.')
$$;

CREATE OR REPLACE FUNCTION json_each(document TEXT) RETURNS TABLE (key TEXT, value TEXT)
LANGUAGE sql IMMUTABLE
AS $$
  WITH whole AS (SELECT
    regexp_replace(document, '(?<!\\)((\\\\)*)\\u0000', '\1\\ufffd', 'g')::json AS json)
  SELECT member.key, member.value FROM whole, json_each_text(
    CASE json_typeof(json) WHEN 'object' THEN json ELSE '{}' END) AS member
  UNION ALL
  SELECT (element.position - 1)::text, element.value FROM whole, json_array_elements_text(
    CASE json_typeof(json) WHEN 'array' THEN json ELSE '[]' END)
    WITH ORDINALITY AS element (value, position)
$$;
)sql";

}  // namespace assay::postgres
