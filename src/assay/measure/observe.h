#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/measure/measure.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// Reads the memory of this process now; the stage name is the reading's name.
using MemoryReader = std::function<Result<MemoryStage>(std::string_view)>;

/// The memory pass: readings after the first inference, after `iterations` more, and after the
/// session is destroyed, behind the two that were taken before ("start") and after ("loaded") the
/// load. Nothing is timed but the reading itself.
///
/// `unattributed_bytes`: private memory at "steady" less that at "start", less what the engine
/// declares; negative when declared memory was not touched.
/// Errors: what the session or the reader returns. The session is destroyed in any case.
Result<MemoryReport> observe_memory(std::unique_ptr<Session> session,
                                    std::span<const TensorView> inputs, int iterations,
                                    const MemoryStage& start, const MemoryStage& loaded,
                                    const MemoryReader& reader, const StageListener& listener);

/// The profile pass: three inferences under the profiler that are thrown away, then `iterations`
/// that count. Errors: kUnsupported when the session has no profiler, or what it returns.
Result<ProfileReport> observe_profile(Session& session, std::span<const TensorView> inputs,
                                      int iterations, const StageListener& listener);

}  // namespace assay
