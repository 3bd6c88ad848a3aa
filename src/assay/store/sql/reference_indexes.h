#pragma once

#include <string_view>

namespace assay::sql {

/// A migration, as SQLite and PostgreSQL read it: each column of a foreign key has an index.
/// Without one, the removal of a row that the column may refer to reads the whole table.
inline constexpr std::string_view kReferenceIndexes = R"sql(
CREATE INDEX launch_by_comparison ON launch (comparison) WHERE comparison IS NOT NULL;
CREATE INDEX run_by_environment ON run (environment);
CREATE INDEX run_by_environment_key ON run (environment_key);
CREATE INDEX environment_record_by_environment ON environment_record (environment);
CREATE INDEX run_case_by_input_set ON run_case (input_set);
CREATE INDEX run_case_by_calibration_set ON run_case (calibration_set);
)sql";

}  // namespace assay::sql
