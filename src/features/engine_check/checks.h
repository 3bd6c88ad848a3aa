#pragma once

#include "features/engine_check/conversation.h"
#include "features/engine_check/engine_check.h"

#include <span>
#include <string>

#include "assay/base/result.h"
#include "assay/engine/engine.h"
#include "assay/record/launch.h"

namespace assay {

/// Results of earlier checks that later ones need.
struct CheckContext {
  Interviewer interviewer;
  EngineDescription description;
  LoadReport report;
};

/// Verdict and text; the name is the check's.
struct Found {
  CheckVerdict verdict = CheckVerdict::kPass;
  std::string text;
};

/// Errors of a check are the agent's, which end the run; what the engine does is found.
struct Check {
  const char* name;
  Result<Found> (*run)(CheckContext& context);
};

/// Describing itself, loading, and refusing to load. The first two fill the context.
std::span<const Check> loading_checks();

/// Computing, refusing inputs, timing and profiling.
std::span<const Check> running_checks();

/// Threads, memory, streams, and being loaded again and again.
std::span<const Check> resource_checks();

inline Found passed(std::string text) { return {CheckVerdict::kPass, std::move(text)}; }
inline Found failed(std::string text) { return {CheckVerdict::kFail, std::move(text)}; }
inline Found skipped(std::string text) { return {CheckVerdict::kSkipped, std::move(text)}; }

}  // namespace assay
