#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/measure/measure.h"
#include "assay/measure/memory_probe.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// Plan of the memory pass, and the two readings that were taken before it.
struct MemoryPass {
  int iterations = 10;
  MemoryStage start;
  MemoryStage loaded;
  std::vector<std::string> program_files;  ///< Keyed by absolute path.
};

/// The memory pass: readings after the first inference, after `iterations` more, and after the
/// session is destroyed, behind those at "start" and "loaded". While the session lives, what the
/// engine declares is split off in the parts. Nothing is timed but the reading itself.
/// Errors: what the session or the probe returns. The session is destroyed in any case.
Result<MemoryReport> observe_memory(std::unique_ptr<Session> session,
                                    std::span<const TensorView> inputs, const MemoryPass& pass,
                                    const MemoryProbe& probe, const StageListener& listener);

}  // namespace assay
