#pragma once

#include <span>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/record/subject.h"

namespace assay {

/// Checks the options of every case against those that its engine build describes, before anything
/// is made or started. A build whose description lists no options is left to its runner. Errors:
/// kInvalidArgument, naming the engine, with did-you-mean or the engines that have the option.
Status check_engine_options(std::span<const Case> cases, std::span<const EngineBuild> builds);

/// Checks options against one build. Errors: as above.
Status check_engine_options(const Json& options, const EngineBuild& build);

}  // namespace assay
