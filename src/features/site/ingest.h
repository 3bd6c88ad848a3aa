#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "assay/base/result.h"
#include "assay/store/result_store.h"

namespace assay::site {

/// Opens the store that parts are merged into, to write.
using OpenToAdd = std::function<Result<std::unique_ptr<ResultStore>>()>;

/// Checks a store part (a file of `--store part.db`) and merges it as `assay merge` does: all of it
/// or nothing. A part holds tables of a store and nothing else: no view, no trigger, no virtual
/// table. Returns how many rows were copied; a part that is there already gives 0.
/// Errors: kCorrupt (no store, damaged, or a row that differs from the store's own), kUnsupported
/// (of a newer Assay), kInvalidArgument (other things than tables), those of the store.
Result<std::int64_t> merge_part(const OpenToAdd& open_store, const std::filesystem::path& part);

}  // namespace assay::site
