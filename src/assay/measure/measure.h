#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/measure/streams.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// Told before a stage begins, never inside the timed region; may be empty.
using StageListener = std::function<void(Stage)>;

/// Tells the listener, if there is one.
inline void notify(const StageListener& listener, Stage stage) {
  if (listener) {
    listener(stage);
  }
}

/// A duration that no launch reaches.
inline constexpr std::int64_t kEndlessNs = std::int64_t{100} * 365 * 24 * 3600 * 1'000'000'000;

/// Samples of a sustained launch: 12 MB in memory.
inline constexpr int kMostSustainedSamples = 500'000;

/// Times one program on one sample: the first inference, then warm-up, then steady iterations until
/// the count or the time budget is reached.
///
/// Each inference is timed as t0 | bind | t1 | execute | t2 | fetch | t3, with nothing else between
/// t0 and t3. Memory for the samples is taken and touched before the first inference; nothing is
/// allocated or logged in the loop. Warm-up gets the share of the budget that it has of the
/// iterations, so that a slow program still reaches its steady part. The budget is checked between
/// iterations: it is overrun by at most one inference, and by `min_iterations` of them when warm-up
/// used it up. A plan that detects warm-up takes warm-up and steady iterations as one series with
/// no warm-up done: where it becomes steady is seen afterwards (summary/steady_part.h).
///
/// A plan with a duration infers that long, however many times, and keeps each k-th sample: as many
/// as fit kMostSustainedSamples.
///
/// A plan with a duration of kEndlessNs or more infers until it fails, or the process is ended, and
/// keeps nothing: beside another program. Here a session may time itself.
///
/// `inputs`: one tensor for each input of the program, alive during the call.
/// `others`: streams that infer meanwhile, whose inferences are counted; null: none.
/// The listener hears kFirst, then kSteady right after the first inference.
/// Cost: four clock readings an inference, about 0.1 us.
/// Errors: kInvalidArgument for a plan that makes no sense, or what the session returns.
Result<Measurement> measure(Session& session, std::span<const TensorView> inputs,
                            const MeasurePlan& plan, const StageListener& listener,
                            const Streams* others = nullptr);

/// One untimed inference. The views live until the next execute.
Result<std::span<const TensorView>> infer_once(Session& session,
                                               std::span<const TensorView> inputs);

}  // namespace assay
