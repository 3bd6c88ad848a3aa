#pragma once

#include "features/conform/conform.h"
#include "features/conform/plan.h"

#include <map>
#include <string>

#include "assay/base/result.h"
#include "assay/record/run.h"

namespace assay {

/// Keyed by recipe and engine build.
using JudgementBases = std::map<std::string, std::string>;

/// Where a run's spec has them.
inline constexpr auto* kBasesKey = "bases";

/// Digests, one for each setting, of inputs to a verdict that are in no identity of case, engine or
/// toolchain: the content of the user's libraries and the tolerance of the recipe. Errors: those of
/// reading a library.
Result<JudgementBases> bases_of(const ConformRequest& request);

/// Those that a run was started with; empty if it has none.
JudgementBases bases_of_run(const Run& run);

std::string basis_key(const std::string& recipe, const std::string& engine_build);

}  // namespace assay
