#pragma once

#include <string_view>

namespace assay::sql {

/// A migration, as SQLite and PostgreSQL read it: offsets of rates, energy, power and instructions
/// become ln ratios, those of leaks differences. A point whose value or reference is not above 0
/// has no ratio and is taken out. Before, ln ratios were those of units "ns" and "bytes" alone.
inline constexpr std::string_view kPointScales = R"sql(
CREATE TEMPORARY TABLE to_ratio AS SELECT series_key FROM series
  WHERE json_extract(document, '$.unit') IN ('1/s', 'J', 'W')
    OR json_extract(document, '$.metric') = 'instructions_per_inference';
CREATE TEMPORARY TABLE to_difference AS SELECT series_key FROM series
  WHERE json_extract(document, '$.metric')
    IN ('unattributed_bytes', 'leak_bytes_per_load', 'leak_bytes_per_inference');
DELETE FROM point WHERE series IN (SELECT series_key FROM to_ratio)
  AND (value <= 0 OR (reference <> '' AND value - "offset" <= 0));
UPDATE point SET
  "offset" = ln(value) - CASE WHEN reference = '' THEN 0 ELSE ln(value - "offset") END,
  low = CASE WHEN reference = '' AND low > 0 THEN ln(low)
    WHEN reference <> '' AND value - "offset" + low > 0
      THEN ln(value - "offset" + low) - ln(value - "offset") END,
  high = CASE WHEN reference = '' AND low > 0 THEN ln(high)
    WHEN reference <> '' AND value - "offset" + low > 0
      THEN ln(value - "offset" + high) - ln(value - "offset") END
  WHERE series IN (SELECT series_key FROM to_ratio);
UPDATE point SET
  "offset" = CASE WHEN reference = '' THEN value ELSE value - value * exp(-"offset") END,
  low = CASE WHEN reference = '' THEN exp(low)
    ELSE value * exp(low - "offset") - value * exp(-"offset") END,
  high = CASE WHEN reference = '' THEN exp(high)
    ELSE value * exp(high - "offset") - value * exp(-"offset") END
  WHERE series IN (SELECT series_key FROM to_difference);
DROP TABLE to_ratio;
DROP TABLE to_difference;
)sql";

}  // namespace assay::sql
