#pragma once

#include <string>

#include "assay/base/result.h"
#include "assay/record/conformance.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay {

/// A run by id, unique prefix of an id, or "latest": the newest of conformance, whatever ran since.
/// Errors: as ResultStore::get_run.
Result<Run> get_conform_run(ResultStore& store, const std::string& reference);

/// The report of a stored run. Errors: kNotFound when it is not a run of conformance.
Result<ConformReport> read_conform_report(ResultStore& store, const Run& run);

}  // namespace assay
