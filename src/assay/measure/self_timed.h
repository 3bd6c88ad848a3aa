#pragma once

#include <span>

#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/measure/measure.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// Takes the times that a session tells of itself: all inferences of the plan in one go, the first
/// of which is the first inference. A session that warms up by itself tells the steady ones alone:
/// then there is neither a first inference nor a warm-up, and a session may tell nothing but
/// numbers of the whole row. They count as execute; bind and fetch are not told. There is no time
/// budget, as nobody but the session can end the row. Errors: kUnsupported for pauses and streams,
/// or what the session returns.
Result<Measurement> measure_self_timed(Session& session, SelfTimer& timer,
                                       std::span<const TensorView> inputs, const MeasurePlan& plan,
                                       const StageListener& listener);

}  // namespace assay
