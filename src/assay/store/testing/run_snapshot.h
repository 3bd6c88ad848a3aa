#pragma once

#include <string>

#include "assay/base/json.h"
#include "assay/store/result_store.h"

namespace assay {

/// All that a report of the run could read, as one document. Labels are none of it.
Json snapshot_of_run(ResultStore& store, const std::string& id);

}  // namespace assay
