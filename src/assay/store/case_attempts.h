#pragma once

#include <map>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/record/case_id.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay {

/// Attempts by the case that they are of, in order of making; a case without any has no entry.
using CaseAttempts = std::map<CaseId, std::vector<Attempt>>;

/// Attempts of other engine builds or devices than those of the `cases` are left out, except where
/// only one case of the key is on the device: its attempts are its own, whatever they say of the
/// build. `cases` and `attempts`: of one run. Errors: the store's.
Result<CaseAttempts> attempts_by_case(ResultStore& store, const std::vector<Case>& cases,
                                      const std::vector<Attempt>& attempts);

}  // namespace assay
