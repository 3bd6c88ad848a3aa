#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/axes.h"
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

/// The attempts of one case that count: the newest of each pass. One without an end gives way to
/// one of the same subject and try that has one: two processes at one run may both have begun it.
std::map<Pass, Attempt> counting_attempts(const std::vector<Attempt>& attempts);

/// True if nothing that was asked for is left to do: each case of the run has attempts, and those
/// that count have their end. Errors: the store's.
Result<bool> is_run_complete(ResultStore& store, std::string_view run);

}  // namespace assay
