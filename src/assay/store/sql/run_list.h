#pragma once

#include <string>

#include "assay/store/result_store.h"

namespace assay::sql {

/// The query of ResultStore::list_runs(): columns of a run, its cases and its launches. Parameters:
/// ?1 purpose, ?2 labels as a JSON object, ?3 texts as a JSON array, ?4 limit, ?5 purpose or verb,
/// ?6 model, ?7 id, ?8 reference or id of an engine build, ?9 hash of a revision. A filter with an
/// id is a look-up, whose cost does not grow with the store.
std::string run_list_sql(const RunFilter& filter);

}  // namespace assay::sql
